import { describe, expect, it } from 'vitest';
import { decideRetry, type RetryDecision, type RetryState } from '../../src/engine/model/retry.js';
import { type ErrorCode, HeddleError } from '../../src/protocol/plain.js';

const fail = (code: ErrorCode, facts: { retryable?: boolean; retryAfterMs?: number } = {}): HeddleError =>
  new HeddleError(code, 'failed', { retryable: facts.retryable ?? true, data: { retryAfterMs: facts.retryAfterMs } });

const state = (changes: Partial<RetryState> = {}): RetryState => ({
  attempt: 1,
  overloads: 1,
  random: 0,
  hasFallback: false,
  ...changes,
});

const FAIL: RetryDecision = { do: 'fail' };
const FALLBACK: RetryDecision = { do: 'fallback', trigger: 'overloaded' };
const retry = (delayMs: number): RetryDecision => ({ do: 'retry', delayMs });

describe('the retry policy (G4)', () => {
  const TABLE: [string, HeddleError, Partial<RetryState>, RetryDecision][] = [
    ['the first retry waits half a second', fail('model_server'), {}, retry(500)],
    ['each next one twice as long', fail('model_stream'), { attempt: 4 }, retry(4000)],
    ['with up to a quarter of jitter', fail('model_connection'), { attempt: 2, random: 1 }, retry(1250)],
    ['up to 40 s', fail('model_stalled'), { attempt: 10, random: 1 }, retry(40_000)],
    ['ten retries, then no more', fail('model_rate_limited'), { attempt: 11 }, FAIL],
    ['the limit can be set', fail('model_server'), { attempt: 2, maxRetries: 1 }, FAIL],
    ['also to none', fail('model_server'), { maxRetries: 0 }, FAIL],
    ['what is final stays final', fail('model_bad_request', { retryable: false }), {}, FAIL],
    ['Retry-After is kept exactly', fail('model_rate_limited', { retryAfterMs: 1000 }), { random: 1 }, retry(1000)],
    ['also when it is zero', fail('model_rate_limited', { retryAfterMs: 0 }), {}, retry(0)],
    ['also when it is long', fail('model_rate_limited', { retryAfterMs: 3_600_000 }), {}, retry(3_600_000)],
    ['two overloads are tried again', fail('model_overloaded'), { overloads: 2, hasFallback: true }, retry(500)],
    ['the third goes to the fallback', fail('model_overloaded'), { overloads: 3, hasFallback: true }, FALLBACK],
    ['where there is one', fail('model_overloaded'), { overloads: 3, attempt: 3 }, retry(2000)],
    ['other errors never do', fail('model_server'), { overloads: 3, hasFallback: true }, retry(500)],
    ['the fallback comes before giving up', fail('model_overloaded'), { maxRetries: 0, hasFallback: true }, FALLBACK],
  ];
  for (const [name, error, changes, decision] of TABLE) {
    it(name, () => expect(decideRetry(error, state(changes))).toEqual(decision));
  }
});
