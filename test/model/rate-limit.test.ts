import { describe, expect, it, onTestFinished } from 'vitest';
import { readRateLimit } from '../../src/engine/model/rate-limit-headers.js';
import { createMemoryStore } from '../../src/engine/index.js';
import type { Message } from '../../src/protocol/index.js';
import { type Options, query } from '../../src/sdk/index.js';
import { collect, startFakeApi } from '../../src/testing/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';

const headersOf = (fields: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`anthropic-ratelimit-unified-${name}`, value]));

const read = (fields: Record<string, string>) => readRateLimit(new Headers(headersOf(fields)));

const near = (used: string) =>
  headersOf({ status: 'allowed_warning', reset: '9000', 'representative-claim': 'five_hour', '5h-utilization': used });

const limitsIn = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.type === 'rate_limit_event' ? [message.rate_limit_info] : []));

/** A run against an API that sends these headers. */
async function run(script: Parameters<typeof startFakeApi>[0], options: Options = {}): Promise<Message[]> {
  const api = await startFakeApi(script);
  onTestFinished(() => api.close());
  const env = { ...PATH_ENV, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: api.url, CLAUDE_CODE_MAX_RETRIES: '0' };
  const messages = await collect(
    query({ prompt: 'go', options: { cwd: scratch(), env, heddle: { store: createMemoryStore() }, ...options } }),
  );
  api.assertDone();
  return messages;
}

describe('the headers of the rate limit', () => {
  it('are read as far as they are there', () => {
    expect(read({})).toBeUndefined();
    expect(read({ reset: '1' })).toBeUndefined();
    expect(read({ status: 'allowed' })).toEqual({ status: 'allowed' });
    const fields = { status: 'allowed', reset: 'soon', 'representative-claim': 'seven_day', '7d-utilization': '' };
    expect(read(fields)).toEqual({ status: 'allowed', rateLimitType: 'seven_day' });
    expect(
      read({
        status: 'rejected',
        reset: '1700000000',
        'representative-claim': 'seven_day_opus',
        '5h-utilization': '0.2',
        '7d_opus-utilization': '1.01',
        'overage-status': 'rejected',
        'overage-reset': '1700000001',
        'overage-disabled-reason': 'out_of_credits',
      }),
    ).toEqual({
      status: 'rejected',
      resetsAt: 1_700_000_000,
      rateLimitType: 'seven_day_opus',
      utilization: 1.01,
      overageStatus: 'rejected',
      overageResetsAt: 1_700_000_001,
      overageDisabledReason: 'out_of_credits',
    });
  });
});

describe('rate_limit_event', () => {
  const call = { toolUse: { name: 'Glob', input: { pattern: '*' } } };

  it('is told when something has changed, before the answer, and not for less than a hundredth', async () => {
    const messages = await run([
      { ...call, headers: near('0.901') },
      { ...call, headers: near('0.909') },
      { ...call, headers: {} },
      { ...call, headers: near('0.92') },
      { text: 'done', headers: headersOf({ status: 'allowed' }) },
    ]);
    const info = { status: 'allowed_warning', resetsAt: 9000, rateLimitType: 'five_hour' };
    expect(limitsIn(messages)).toEqual([
      { ...info, utilization: 0.901 },
      { ...info, utilization: 0.92 },
      { status: 'allowed' },
    ]);
    const types = messages.map(({ type }) => type);
    expect(types.indexOf('rate_limit_event')).toBeLessThan(types.indexOf('assistant'));
    const ids = messages.map((message) => ('session_id' in message ? message.session_id : ''));
    expect(new Set(ids).size).toBe(1);
  });

  it('is told of a request that was refused', async () => {
    const messages = await run([{ status: 429, headers: headersOf({ status: 'rejected', reset: '9000' }) }]);
    expect(limitsIn(messages)).toEqual([{ status: 'rejected', resetsAt: 9000 }]);
    expect(messages.at(-1)).toMatchObject({ type: 'result', is_error: true });
  });

  it('is told once for a session and its agents', async () => {
    const task = { name: 'Task', input: { description: 'd', prompt: 'p', subagent_type: 'general-purpose' } };
    const messages = await run([
      { toolUse: task, headers: near('0.9') },
      { text: 'found', headers: near('0.9') },
      { text: 'done', headers: near('0.95') },
    ]);
    expect(limitsIn(messages).map(({ utilization }) => utilization)).toEqual([0.9, 0.95]);
  });

  it('is not told where the API says nothing', async () => {
    expect(limitsIn(await run(['hi']))).toEqual([]);
  });
});

describe('accountInfo()', () => {
  const never: AsyncIterable<never> = {
    [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }),
  };

  const sourceIn = async (options: Options) => {
    const open = query({ prompt: never, options: { cwd: scratch(), ...options } });
    const { apiKeySource } = await open.accountInfo();
    open.close();
    return apiKeySource;
  };

  it('says where the key comes from before there is a session', async () => {
    const env = { ...PATH_ENV, ANTHROPIC_API_KEY: 'k' };
    expect(await sourceIn({ env })).toBe('ANTHROPIC_API_KEY');
    expect(await sourceIn({ env: { ...env, ANTHROPIC_AUTH_TOKEN: 't' } })).toBe('ANTHROPIC_AUTH_TOKEN');
    expect(await sourceIn({ env, model: 'embedded' })).toBe('none');
    expect(await sourceIn({ env: PATH_ENV })).toBe('none');
    expect(await sourceIn({ env: PATH_ENV, settings: { apiKeyHelper: 'print-key' } })).toBe('apiKeyHelper');
  });
});
