/** A share of the 1,000 swaps that `npm run soak` does. */
import { describe, expect, it } from 'vitest';
import { ATTACKS, runSwaps } from '../soak/swap-runs.js';

describe('Write and Edit while links to the outside come and go write nothing there and tell nothing of it', () => {
  it.each(Object.entries(ATTACKS))('40 swaps of %s', async (_, attack) => {
    expect(await runSwaps(40, attack)).toEqual([]);
  });
});
