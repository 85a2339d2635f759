import { execFile } from 'node:child_process';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { createAnthropicProvider, type AnthropicOptions } from '../../src/engine/model/anthropic.js';
import { systemClock } from '../../src/protocol/plain.js';
import { hasCredentials } from '../../src/engine/model/credentials.js';
import { proxyFor } from '../../src/engine/model/proxy.js';
import { type FakeApi, startFakeApi } from '../../src/testing/fake-api.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { collect, makeRequest, textOf } from './provider-kit.js';

const KEY = 'sk-test-0123456789';
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function start(steps: Parameters<typeof startFakeApi>[0]): Promise<FakeApi> {
  const api = await startFakeApi(steps);
  closers.push(() => api.close());
  return api;
}

async function setUp(steps: Parameters<typeof startFakeApi>[0], options: Partial<AnthropicOptions> = {}) {
  const api = await start(steps);
  const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: api.url, ...options.env };
  return { api, provider: createAnthropicProvider({ clock: systemClock, ...options, env }) };
}

describe('silence (B4)', () => {
  for (const malformed of ['silent', 'no_answer'] as const) {
    it(`${malformed}: 60 s without a byte are a retryable stall, and the socket is released`, async () => {
      const clock = createFakeClock();
      const { api, provider } = await setUp([{ text: 'half an answer', deltas: 2, malformed }], { clock });
      let isOver = false;
      const outcome = collect(provider, { onBatch: () => clock.advance(59_000) }).finally(() => {
        isOver = true;
      });
      await api.received(1);
      await clock.armed();
      // Each batch above moved the clock on by 59 s: time between reads is never silence.
      while (!isOver) {
        await new Promise((resolve) => setImmediate(resolve));
        if (clock.pending.length > 0) clock.advance(1_000);
      }
      const { error } = await outcome;
      expect(error).toMatchObject({ code: 'model_stalled', retryable: true });
      expect(error?.message).toContain('60 s');
      expect(clock.pending).toEqual([]);
      await api.disconnected();
    });
  }

  it('a clock that jumps 90 s while data lies in the socket is no stall', async () => {
    const clock = createFakeClock();
    const sse = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
    const headers = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
    const opened = Promise.withResolvers<Socket>();
    const server = createTcpServer((socket) => {
      socket.once('data', () => {
        socket.write(`${headers}${sse({ type: 'message_start' })}`);
        opened.resolve(socket);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    const env = {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    };
    const began = Promise.withResolvers<void>();
    const outcome = collect(createAnthropicProvider({ env, clock }), { onBatch: () => began.resolve() });
    const [socket] = await Promise.all([opened.promise, began.promise]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pending).toEqual([60_000]);
    // As in a process that was suspended: the timer is due before the loop has looked at the socket.
    socket.end(sse({ type: 'message_stop' }));
    clock.advance(90_000);
    expect(await outcome).toMatchObject({ events: [{ type: 'message_start' }, { type: 'message_stop' }] });
    expect((await outcome).error).toBeUndefined();
  });

  it('a consumer that sleeps between batches never looks like a stalled model', async () => {
    const clock = createFakeClock();
    const { provider } = await setUp([{ text: 'a b c d', deltas: 4, delayMs: 1 }], { clock });
    const { error, events } = await collect(provider, { onBatch: () => clock.advance(600_000) });
    expect(error).toBeUndefined();
    expect(textOf(events)).toBe('a b c d');
  });
});

describe('abort (B1, G1)', () => {
  it('in the middle of a stream: AbortError, and the socket is gone', async () => {
    const { api, provider } = await setUp([{ text: 'never complete', deltas: 3, malformed: 'silent' }]);
    const controller = new AbortController();
    const { error, events } = await collect(provider, {
      signal: controller.signal,
      onBatch: (batch) => {
        if (batch.some((event) => event.type === 'content_block_delta')) setImmediate(() => controller.abort());
      },
    });
    expect(error?.name).toBe('AbortError');
    expect(events.length).toBeGreaterThan(0);
    await api.disconnected();
  });

  it('before the headers, and before the call', async () => {
    const { api, provider } = await setUp([{ malformed: 'no_answer' }]);
    const controller = new AbortController();
    const outcome = collect(provider, { signal: controller.signal });
    await api.received(1);
    controller.abort();
    expect((await outcome).error?.code).toBe('aborted');
    await api.disconnected();
    expect((await collect(provider, { signal: controller.signal })).error?.code).toBe('aborted');
    expect(api.requests).toHaveLength(1);
  });

  it('also where fetch and its body do not follow the signal', async () => {
    const controller = new AbortController();
    const body = {
      getReader() {
        let end = (_: { done: boolean }): void => {};
        return {
          read: () => new Promise<{ done: boolean }>((resolve) => (end = resolve)),
          cancel: () => Promise.resolve(end({ done: true })),
        };
      },
    };
    const response = { ok: true, status: 200, headers: new Headers(), body };
    const deaf = { env: { ANTHROPIC_API_KEY: KEY }, clock: systemClock };
    const opened = createAnthropicProvider({ ...deaf, fetch: () => Promise.resolve(response) });
    const unopened = createAnthropicProvider({ ...deaf, fetch: () => new Promise(() => {}) });
    const outcomes = [opened, unopened].map((provider) => collect(provider, { signal: controller.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await Promise.all(outcomes)).map(({ error }) => error?.code)).toEqual(['aborted', 'aborted']);
  });

  it('a consumer that breaks out releases the socket', async () => {
    const { api, provider } = await setUp([{ text: 'a b c', deltas: 3, malformed: 'silent' }]);
    for await (const _ of provider.stream(makeRequest(), { signal: new AbortController().signal })) break;
    await api.disconnected();
    expect(api.requests).toHaveLength(1);
  });
});

describe('keys', () => {
  it('says where the key comes from', () => {
    const sourceOf = (options: Partial<AnthropicOptions>): string =>
      createAnthropicProvider({ env: {}, clock: systemClock, ...options }).keySource;
    expect(sourceOf({})).toBe('none');
    expect(sourceOf({ env: { ANTHROPIC_API_KEY: ' ' } })).toBe('none');
    expect(sourceOf({ env: { ANTHROPIC_API_KEY: KEY } })).toBe('ANTHROPIC_API_KEY');
    expect(sourceOf({ apiKeyHelper: 'print-key' })).toBe('apiKeyHelper');
    expect(sourceOf({ apiKey: KEY, env: { ANTHROPIC_API_KEY: 'other' } })).toBe('config');
    expect(hasCredentials({ env: {} })).toBe(false);
    expect(hasCredentials({ env: { ANTHROPIC_AUTH_TOKEN: 't' } })).toBe(true);
    expect(hasCredentials({ env: {}, apiKeyHelper: 'print-key' })).toBe(true);
    expect(hasCredentials({ env: { ANTHROPIC_CUSTOM_HEADERS: 'Authorization: Bearer x' } })).toBe(true);
  });

  it('without any key the call is no_provider', async () => {
    const { error } = await collect(createAnthropicProvider({ env: {}, clock: systemClock }));
    expect(error?.code).toBe('no_provider');
  });

  it('a helper is run once in five minutes, and again after a 401', async () => {
    const clock = createFakeClock();
    let runs = 0;
    const runHelper = async (command: string): Promise<string> => {
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { RUN: String(++runs) } });
      return stdout;
    };
    const { api, provider } = await setUp(['one', 'two', { status: 401 }, 'three', 'four'], {
      clock,
      env: { ANTHROPIC_API_KEY: '' },
      apiKeyHelper: 'echo "key-number-$RUN"',
      runHelper,
    });
    await Promise.all([collect(provider), collect(provider)]);
    expect((await collect(provider)).error).toMatchObject({ code: 'model_auth', retryable: true });
    await collect(provider);
    clock.advance(5 * 60_000);
    await collect(provider);
    const keys = api.requests.map((request) => request.headers['x-api-key']);
    expect(keys).toEqual(['key-number-1', 'key-number-1', 'key-number-1', 'key-number-2', 'key-number-3']);
  });

  it('a helper with nothing better to offer makes the second 401 final', async () => {
    const { provider } = await setUp([{ status: 401 }, { status: 401 }], {
      env: { ANTHROPIC_API_KEY: '' },
      apiKeyHelper: 'print-key',
      runHelper: async () => 'same-key\n',
    });
    expect((await collect(provider)).error).toMatchObject({ code: 'model_auth', retryable: true });
    expect((await collect(provider)).error).toMatchObject({ code: 'model_auth', retryable: false });
  });

  it('a helper that fails, or prints nonsense, is model_auth and is asked again next time', async () => {
    const answers: (() => Promise<string>)[] = [
      () => Promise.reject(new Error('exited with 3: vault is sealed')),
      () => Promise.resolve('  \n'),
      () => Promise.resolve('two words'),
      () => Promise.resolve('good-key'),
    ];
    const { provider } = await setUp(['ok'], {
      env: { ANTHROPIC_API_KEY: '' },
      apiKeyHelper: 'print-key',
      runHelper: () => (answers.shift() ?? (() => Promise.reject(new Error('too often'))))(),
    });
    const first = (await collect(provider)).error;
    expect(first).toMatchObject({ code: 'model_auth', retryable: false });
    expect(first?.message).toContain('vault is sealed');
    expect((await collect(provider)).error?.message).toContain('nothing');
    expect((await collect(provider)).error?.message).toContain('more than one word');
    expect(textOf((await collect(provider)).events)).toBe('ok');
  });

  it('no secret is in an error or in what is logged (E4)', async () => {
    const logged: unknown[] = [];
    const secret = 'custom-secret-4711';
    const [gate, beta] = ['hdr-CUSTOM-777', 'some-beta-2026'];
    const { provider } = await setUp(
      [
        { status: 401, message: `the key ${KEY} and the headers ${secret} ${gate} ${beta} are wrong` },
        { text: 'x', malformed: 'sse_error', streamError: { type: 'api_error', message: `leaked ${KEY}` } },
      ],
      {
        env: { ANTHROPIC_CUSTOM_HEADERS: `X-Gate-Token: ${secret}\nX-Gate: Bearer ${gate}\nanthropic-beta: ${beta}` },
        logger: (...entry) => logged.push(entry),
      },
    );
    const errors = [(await collect(provider)).error, (await collect(provider)).error];
    for (const line of ['bad\nkey-0123', 'bad\u2603key-0123']) {
      const broken = createAnthropicProvider({ env: { ANTHROPIC_API_KEY: line }, clock: systemClock });
      const { error } = await collect(broken);
      expect(error?.code).toBe('invalid_config');
      errors.push(error);
    }
    const shown = errors.map((error) => `${error?.stack}${JSON.stringify(error?.data)}${String(error?.cause)}`).join();
    expect(shown).toContain('[secret]');
    expect(shown).toContain(beta);
    expect(logged.length).toBeGreaterThan(0);
    for (const hidden of [KEY, secret, gate, 'key-0123']) expect(shown + JSON.stringify(logged)).not.toContain(hidden);
  });

  it('refuses settings it cannot use', () => {
    const make = (env: Record<string, string>) => () => createAnthropicProvider({ env, clock: systemClock });
    expect(make({ ANTHROPIC_BASE_URL: 'not a url' })).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(make({ ANTHROPIC_BASE_URL: 'http://user:pw@host' })).toThrow(/without a user/);
    expect(make({ ANTHROPIC_CUSTOM_HEADERS: 'A: b\nnonsense' })).toThrow(/Line 2/);
    expect(make({ HTTPS_PROXY: 'socks5://host:1' })).toThrow(/proxy/);
  });
});

describe('proxies', () => {
  /** Takes both ways to use a proxy: CONNECT, and absolute addresses. */
  async function startProxy(): Promise<{ url: string; seen: string[] }> {
    const seen: string[] = [];
    const open = new Set<Socket>();
    const server = createHttpServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`);
      const { method, headers } = incoming;
      const forward = httpRequest(incoming.url ?? '', { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      forward.on('error', () => response.destroy());
      incoming.pipe(forward);
    });
    server.on('connect', (incoming, client: Socket) => {
      seen.push(`CONNECT ${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`);
      const [host, port] = (incoming.url ?? '').split(':');
      const upstream = connect(Number(port), host, () => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        upstream.pipe(client);
        client.pipe(upstream);
      });
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    server.on('connection', (socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    return { url: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
  }

  it('goes through the proxy of the given environment, with its user and password', async () => {
    const proxy = await startProxy();
    const { api, provider } = await setUp(['through', { malformed: 'reset' }], {
      env: { http_proxy: `http://me:pass%21word@${proxy.url}` },
    });
    expect(textOf((await collect(provider)).events)).toBe('through');
    const [line] = proxy.seen;
    expect(line).toContain(new URL(api.url).host);
    expect(line).toContain(`Basic ${Buffer.from('me:pass!word').toString('base64')}`);
    const { error } = await collect(provider);
    expect(error).toBeDefined();
    expect(`${error?.message}${JSON.stringify(error?.data)}`).not.toMatch(/pass(!|%21)word/);
  });

  it('goes direct when NO_PROXY says so, and names a proxy that is not there', async () => {
    const proxy = await startProxy();
    const { provider } = await setUp(['direct'], { env: { HTTP_PROXY: proxy.url, NO_PROXY: 'localhost, 127.0.0.1' } });
    expect(textOf((await collect(provider)).events)).toBe('direct');
    expect(proxy.seen).toEqual([]);

    const gone = await setUp(['never'], { env: { HTTP_PROXY: 'http://127.0.0.1:1' } });
    const { error } = await collect(gone.provider);
    expect(error).toMatchObject({ code: 'model_connection', retryable: true });
    expect(error?.message).toContain('proxy 127.0.0.1:1');
  });

  it('chooses by scheme, host, port and case', () => {
    const choose = (url: string, env: Record<string, string>): string | undefined => proxyFor(new URL(url), env);
    const all = { HTTPS_PROXY: 'http://s:1', HTTP_PROXY: 'http://h:2' };
    expect(choose('https://api.test', all)).toBe('http://s:1');
    expect(choose('http://api.test', all)).toBe('http://h:2');
    expect(choose('https://api.test', { http_proxy: 'h:2' })).toBe('http://h:2');
    expect(choose('http://api.test', { https_proxy: 's:1' })).toBeUndefined();
    expect(choose('https://api.test', {})).toBeUndefined();
    const exempt = (list: string, url = 'https://api.test'): boolean =>
      choose(url, { ...all, no_proxy: list }) === undefined;
    expect(exempt('*')).toBe(true);
    expect(exempt('api.test')).toBe(true);
    expect(exempt('.test')).toBe(true);
    expect(exempt('*.test')).toBe(true);
    expect(exempt('pi.test')).toBe(false);
    expect(exempt('API.TEST:443')).toBe(true);
    expect(exempt('api.test:8443')).toBe(false);
    expect(exempt('other, [::1]', 'http://[::1]:80')).toBe(true);
  });
});
