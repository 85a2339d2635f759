/** What was used of one budget. It outlives the budget where the agent that it belongs to is gone on with. */
import { type Amount, NOTHING } from './call.js';

export interface Account {
  spent: Amount;
  held: Amount;
  calls: number;
  /** Those who work on it now, and since when somebody has. */
  workers: number;
  since: number;
  workedMs: number;
}

export const createAccount = ({ workedMs = 0, ...spent }: Partial<Amount> & { workedMs?: number } = {}): Account => ({
  spent: { ...NOTHING, ...spent },
  held: NOTHING,
  calls: 0,
  workers: 0,
  since: 0,
  workedMs,
});
