/** The full count of what `npm test` tries with 500 programs. */
import { expect, it } from 'vitest';
import { fuzzPrograms } from '../permissions/shell-fuzz.js';

const COUNT = 20_000;
const SEED = 20_260_102;

it('D1: 20,000 programs that bash really ran hold nothing that was not seen', async () => {
  const report = await fuzzPrograms({ count: COUNT, seed: SEED });
  expect(report.misses).toEqual([]);
  expect(report.ran).toBeGreaterThanOrEqual(COUNT);
  expect(report.certain).toBeGreaterThan(COUNT / 5);
}, 1_800_000);
