import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicProvider, type AnthropicOptions } from '../../src/engine/model/anthropic.js';
import { systemClock } from '../../src/protocol/plain.js';
import { HEDDLE_VERSION } from '../../src/engine/version.js';
import { explainModelError } from '../../src/engine/model/explain.js';
import { type FakeAnswer, type FakeApi, startFakeApi } from '../../src/testing/fake-api.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { collect, makeRequest, textOf } from './provider-kit.js';

const KEY = 'sk-test-0123456789';
const apis: FakeApi[] = [];

afterEach(async () => {
  await Promise.all(apis.splice(0).map((api) => api.close()));
});

async function setUp(steps: Parameters<typeof startFakeApi>[0], options: Partial<AnthropicOptions> = {}) {
  const api = await startFakeApi(steps);
  apis.push(api);
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: api.url, ...options.env };
  return { api, provider: createAnthropicProvider({ clock: systemClock, ...options, env }) };
}

describe('the Anthropic provider: a good answer', () => {
  it('streams the events up to message_stop, without pings, and tells the request id', async () => {
    const { api, provider } = await setUp([{ text: 'Hello there, weaver.', deltas: 4 }]);
    const { events, requestId, error } = await collect(provider);
    expect(error).toBeUndefined();
    expect(requestId).toBe('req_1');
    expect(textOf(events)).toBe('Hello there, weaver.');
    expect(events[0]?.type).toBe('message_start');
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
    api.assertDone();
  });

  it('drops pings and passes unknown events on', async () => {
    const events = [{ type: 'ping' }, { type: 'weather', sky: 'blue' }, { type: 'ping' }, { type: 'message_stop' }];
    const { provider } = await setUp([{ events: events as FakeAnswer['events'], eventsPerWrite: 4 }]);
    expect((await collect(provider)).events).toEqual([{ type: 'weather', sky: 'blue' }, { type: 'message_stop' }]);
  });

  it('survives a stream cut at every third byte', async () => {
    const text = 'thread \u{1F9F5} 織る é';
    const { provider } = await setUp([{ text, deltas: 3, bytesPerWrite: 3 }]);
    expect(textOf((await collect(provider)).events)).toBe(text);
  });

  it('sends the body as given with the headers of the API', async () => {
    const { api, provider } = await setUp(['ok'], {
      appName: 'loom',
      env: { ANTHROPIC_CUSTOM_HEADERS: 'X-Team: blue\nX-Trace:  a:b \n' },
      headers: { 'X-Extra': 'yes' },
    });
    const request = makeRequest('Hi', ['beta-a', 'beta-b']);
    await collect(provider, { request });
    const [sent] = api.requests;
    expect(sent?.path).toBe('/v1/messages');
    expect(sent?.body).toEqual(request.body);
    expect(sent?.headers).toMatchObject({
      'x-api-key': KEY,
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'beta-a,beta-b',
      'content-type': 'application/json',
      'user-agent': `heddle/${HEDDLE_VERSION} (loom)`,
      'x-team': 'blue',
      'x-trace': 'a:b',
      'x-extra': 'yes',
    });
    expect(sent?.headers).not.toHaveProperty('authorization');
  });

  it('keeps a path prefix and a trailing slash of the base URL, and prefers a token', async () => {
    const { api } = await setUp(['one', 'two']);
    const env = {
      ANTHROPIC_AUTH_TOKEN: 'tok-123456',
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: `${api.url}/gate/way//`,
    };
    const provider = createAnthropicProvider({ env, clock: systemClock });
    expect(provider.keySource).toBe('ANTHROPIC_AUTH_TOKEN');
    await collect(provider);
    expect(api.requests[0]?.path).toBe('/gate/way/v1/messages');
    expect(api.requests[0]?.headers).toMatchObject({ authorization: 'Bearer tok-123456' });
    expect(api.requests[0]?.headers).not.toHaveProperty('x-api-key');
    expect(api.requests[0]?.headers).not.toHaveProperty('anthropic-beta');
  });

  it('uses sockets again: the end of a body is taken in the background while the next call begins', async () => {
    const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
    const { api, provider } = await setUp(texts);
    for (const text of texts) expect(textOf((await collect(provider)).events)).toBe(text);
    expect(api.sockets).toBeLessThanOrEqual(2);
  });
});

describe('the Anthropic provider: answers that refuse (G10)', () => {
  const TABLE: {
    step: FakeAnswer;
    code: string;
    retryable: boolean;
    text: RegExp;
    assistantError: string;
    data?: Record<string, unknown>;
  }[] = [
    {
      step: { status: 400, message: 'messages: bad thing' },
      code: 'model_bad_request',
      retryable: false,
      text: /^API Error: 400 messages: bad thing$/,
      assistantError: 'unknown',
    },
    {
      step: { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      code: 'model_prompt_too_long',
      retryable: false,
      text: /^Prompt is too long/,
      assistantError: 'invalid_request',
    },
    {
      step: { status: 400, message: 'Your credit balance is too low to access the API.' },
      code: 'model_bad_request',
      retryable: false,
      text: /credit balance/,
      assistantError: 'billing_error',
    },
    {
      step: { status: 401, message: 'invalid x-api-key' },
      code: 'model_auth',
      retryable: false,
      text: /^Invalid API key · /,
      assistantError: 'authentication_failed',
    },
    {
      step: { status: 403, message: 'forbidden' },
      code: 'model_auth',
      retryable: false,
      text: /^Failed to authenticate\. API Error: 403 forbidden$/,
      assistantError: 'authentication_failed',
    },
    {
      step: { status: 404, message: 'model: nope' },
      code: 'model_not_found',
      retryable: false,
      text: /selected model \(claude-test\)/,
      assistantError: 'model_not_found',
    },
    {
      step: { status: 413, message: 'too big' },
      code: 'model_request_too_large',
      retryable: false,
      text: /^Request too large/,
      assistantError: 'invalid_request',
    },
    {
      step: { status: 429, message: 'limit', headers: { 'retry-after': '1' } },
      code: 'model_rate_limited',
      retryable: true,
      text: /^API Error: Request rejected \(429\) · limit$/,
      assistantError: 'rate_limit',
      data: { retryAfterMs: 1000 },
    },
    {
      step: { status: 500, message: 'Internal server error' },
      code: 'model_server',
      retryable: true,
      text: /^API Error: 500 Internal server error\. .*temporary.*127\.0\.0\.1:\d+/,
      assistantError: 'server_error',
    },
    {
      step: { status: 503, body: '<html>bad gateway</html>', headers: { 'content-type': 'text/html' } },
      code: 'model_server',
      retryable: true,
      text: /^API Error: 503 /,
      assistantError: 'server_error',
      data: { message: 'no message' },
    },
    {
      step: { status: 529, message: 'Overloaded' },
      code: 'model_overloaded',
      retryable: true,
      text: /^API Error: 529 Overloaded\. .*temporary/,
      assistantError: 'server_error',
      data: { type: 'overloaded_error' },
    },
    {
      step: { status: 418, body: 'short and stout' },
      code: 'model_bad_request',
      retryable: false,
      text: /^API Error: 418 short and stout$/,
      assistantError: 'unknown',
    },
    {
      step: { status: 500, message: 'no', headers: { 'x-should-retry': 'false' } },
      code: 'model_server',
      retryable: false,
      text: /500/,
      assistantError: 'server_error',
    },
    {
      step: { status: 400, message: 'yes', headers: { 'x-should-retry': 'true' } },
      code: 'model_bad_request',
      retryable: true,
      text: /400/,
      assistantError: 'unknown',
    },
  ];

  for (const { step, code, retryable, text, assistantError, data } of TABLE) {
    it(`${step.status} ${step.message ?? JSON.stringify(step.body)} is ${code}, ${retryable ? 'retryable' : 'final'}`, async () => {
      const { provider, api } = await setUp([step, 'usable again']);
      const { error, events } = await collect(provider);
      expect(events).toEqual([]);
      expect(error).toMatchObject({ code, retryable, data: { status: step.status, requestId: 'req_1', ...data } });
      if (error === undefined) return;
      const explained = explainModelError(error, { model: 'claude-test' });
      expect(explained.text).toMatch(text);
      expect(explained).toMatchObject({
        assistantError,
        apiErrorStatus: step.status,
        terminalReason: code === 'model_prompt_too_long' ? 'prompt_too_long' : 'api_error',
      });
      expect(textOf((await collect(provider)).events)).toBe('usable again');
      api.assertDone();
    });
  }

  it('reads every form of Retry-After (G4)', async () => {
    const clock = createFakeClock(Date.UTC(2026, 0, 1, 12, 0, 0));
    const forms: [Record<string, string>, number | undefined][] = [
      [{ 'retry-after': '2.5' }, 2500],
      [{ 'retry-after': '3600' }, 3_600_000],
      [{ 'retry-after': 'Thu, 01 Jan 2026 12:00:30 GMT' }, 30_000],
      [{ 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }, 0],
      [{ 'retry-after-ms': '120', 'retry-after': '7' }, 120],
      [{ 'retry-after': 'soon' }, undefined],
      [{}, undefined],
    ];
    const { provider } = await setUp(
      forms.map(([headers]) => ({ status: 429, headers })),
      { clock },
    );
    for (const [, expected] of forms) {
      expect((await collect(provider)).error?.data['retryAfterMs']).toBe(expected);
    }
  });

  it('does not follow a redirect with the key', async () => {
    const { api: target } = await setUp(['stolen']);
    const { provider } = await setUp([{ status: 307, headers: { location: `${target.url}/v1/messages` } }]);
    expect((await collect(provider)).error).toMatchObject({ code: 'model_connection', retryable: false });
    expect(target.requests).toHaveLength(0);
  });
});

describe('the Anthropic provider: streams that break (G10)', () => {
  const TABLE: [NonNullable<FakeAnswer['malformed']>, string, RegExp, number][] = [
    ['badjson', 'model_stream', /not JSON/, 3],
    ['truncate', 'model_stream', /broke off/, 3],
    ['no_stop', 'model_stream', /ended before the answer was complete/, 5],
    ['garbage', 'model_stream', /was empty/, 0],
    ['empty', 'model_stream', /was empty/, 0],
    ['sse_error', 'model_overloaded', /Overloaded/, 3],
    ['reset', 'model_connection', /127\.0\.0\.1:\d+/, 0],
  ];
  for (const [malformed, code, message, events] of TABLE) {
    it(`${malformed} is ${code}, retryable, and the next call works`, async () => {
      const { provider } = await setUp([{ text: 'partial answer', deltas: 2, malformed }, 'fine']);
      const broken = await collect(provider);
      expect(broken.error).toMatchObject({ code, retryable: true });
      expect(broken.error?.message).toMatch(message);
      expect(broken.events).toHaveLength(events);
      expect(textOf((await collect(provider)).events)).toBe('fine');
      if (broken.error === undefined) return;
      const explained = explainModelError(broken.error, { model: 'm' });
      expect(explained).toMatchObject({ assistantError: 'server_error', terminalReason: 'api_error' });
      expect(explained.text).toMatch(/^API Error: /);
    });
  }

  it('an error event of another type gets the code of that type', async () => {
    const types = {
      rate_limit_error: 'model_rate_limited',
      api_error: 'model_server',
      invalid_request_error: 'model_bad_request',
    };
    const steps = Object.keys(types).map(
      (type): FakeAnswer => ({ text: 'x', malformed: 'sse_error', streamError: { type, message: 'm' } }),
    );
    const { provider } = await setUp(steps);
    for (const code of Object.values(types)) expect((await collect(provider)).error?.code).toBe(code);
  });

  it('a page instead of a stream is model_stream', async () => {
    const { provider } = await setUp([{ text: 'x', headers: { 'content-type': 'text/html; charset=utf-8' } }]);
    const { error } = await collect(provider);
    expect(error).toMatchObject({ code: 'model_stream', retryable: true });
    expect(error?.message).toContain('text/html');
  });

  it('a refused connection names host and port', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    await new Promise((resolve) => server.close(resolve));
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` };
    const { error } = await collect(createAnthropicProvider({ env, clock: systemClock }));
    expect(error).toMatchObject({ code: 'model_connection', retryable: true, data: { type: 'ECONNREFUSED' } });
    expect(error?.message).toContain(`127.0.0.1:${port}`);
    expect(error && explainModelError(error, { model: 'm' }).text).toMatch(/^API Error: .*refused/);
  });
});
