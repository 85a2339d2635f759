import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toOrders } from '../src/orders.ts';

void test('fills up what runs low, in whole spools', () => {
  const stock = [
    { colour: 'madder', fibre: 'wool', metres: 180, minimum: 400 },
    { colour: 'indigo', fibre: 'wool', metres: 1200, minimum: 500 },
  ];
  assert.deepEqual(toOrders(stock), [{ colour: 'madder', fibre: 'wool', spools: 3 }]);
});
