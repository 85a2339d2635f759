import { expect, it } from 'vitest';
import { fuzzReads } from './read-fuzz.js';

it.each([
  ['and nothing that is denied', 'here'],
  ['and nothing that is denied and only in commits', 'past'],
] as const)(
  'E2 what runs unasked prints nothing from outside, %s',
  async (_, where) => {
    const { ran, bad } = await fuzzReads({ count: 500, seed: 20_260_103, where });
    expect(bad).toEqual([]);
    // Were nothing allowed, nothing would be shown.
    expect(ran).toBeGreaterThan(80);
  },
  120_000,
);
