/** Whether and when a failed model call is tried again. Pure: the caller waits, tells, and counts. */
import type { HeddleError } from '../../protocol/plain.js';

export const DEFAULT_MAX_RETRIES = 10;

const FIRST_DELAY_MS = 500;
/** With jitter on top this comes to at most 40 s. */
const LAST_DELAY_MS = 32_000;
const JITTER = 0.25;
const OVERLOADS_BEFORE_FALLBACK = 3;

export interface RetryState {
  /** Which retry is being decided, as `api_retry` reports it: 1 when the first try has failed. */
  attempt: number;
  /** 10 when absent. */
  maxRetries?: number;
  /** Overloads in a row on this model, this one included. */
  overloads: number;
  /** A number in [0, 1), from the Clock. */
  random: number;
  hasFallback: boolean;
}

export type RetryDecision =
  /** A wait the API asked for is returned as it is, however long: the caller says so at once. */
  { do: 'retry'; delayMs: number } | { do: 'fallback'; trigger: 'overloaded' } | { do: 'fail' };

export function decideRetry(error: HeddleError, state: RetryState): RetryDecision {
  const { attempt, maxRetries = DEFAULT_MAX_RETRIES, overloads, random, hasFallback } = state;
  const mayRetry = error.retryable && attempt <= maxRetries;
  if (error.code === 'model_overloaded' && hasFallback && (overloads >= OVERLOADS_BEFORE_FALLBACK || !mayRetry)) {
    return { do: 'fallback', trigger: 'overloaded' };
  }
  if (!mayRetry) return { do: 'fail' };
  const asked = error.data['retryAfterMs'];
  return { do: 'retry', delayMs: typeof asked === 'number' ? asked : backoff(attempt, random) };
}

function backoff(attempt: number, random: number): number {
  const base = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LAST_DELAY_MS);
  return Math.round(base * (1 + JITTER * random));
}
