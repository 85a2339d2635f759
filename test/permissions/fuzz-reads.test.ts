import { expect, it } from 'vitest';
import { fuzzReads } from './read-fuzz.js';

it('E2 what runs unasked prints nothing from outside, and nothing that is denied', async () => {
  const { ran, bad } = await fuzzReads({ count: 500, seed: 20_260_103 });
  expect(bad).toEqual([]);
  // Were nothing allowed, nothing would be shown.
  expect(ran).toBeGreaterThan(80);
}, 120_000);
