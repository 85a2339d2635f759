import type { Usage } from '../../src/protocol/index.js';
import { Budget, type Reservation } from '../../src/engine/budget/budget.js';
import type { CallEstimate } from '../../src/engine/budget/call.js';
import type { BudgetLimits, Limit } from '../../src/engine/budget/limit.js';
import { createCatalog } from '../../src/engine/model/catalog.js';
import { createFakeClock, type FakeClock } from '../../src/testing/index.js';

export const catalog = createCatalog();
export const SONNET = catalog.resolveModel('sonnet').model;

/** 3 USD in, 3.75 USD into the cache and 15 USD out per million tokens. */
export const price = (usage: Usage): number | undefined => catalog.microCentsOf(SONNET, usage);

export const estimate = (fields: Partial<CallEstimate> = {}): CallEstimate => ({
  inputTokens: 1_000,
  maxOutputTokens: 1_000,
  price,
  ...fields,
});

export function create(limits: BudgetLimits, clock: FakeClock = createFakeClock()): Budget {
  return new Budget(limits, { clock });
}

/** The reservation, or a failed test. */
export function granted(outcome: Reservation | Limit): Reservation {
  if ('subtype' in outcome) throw new Error(`refused: ${outcome.text}`);
  return outcome;
}

export const refused = (outcome: Reservation | Limit): Limit | undefined =>
  'subtype' in outcome ? outcome : undefined;

/** The same numbers for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
