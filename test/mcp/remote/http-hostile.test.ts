import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RemoteServerConfig } from '../../../src/engine/mcp/remote/connect.js';
import { createServerFetch } from '../../../src/engine/mcp/remote/server-fetch.js';
import { secretsOf } from '../../../src/engine/mcp/secrets.js';
import { createFakeClock } from '../../../src/testing/fake-clock.js';
import { until } from '../../workspace/running.js';
import { type Bench, calmly, createBench, failureOf, textOf } from './kit.js';

let bench: Bench;
const open: Server[] = [];

beforeEach(() => {
  bench = createBench();
});

afterEach(async () => {
  await bench.close();
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  /** Undefined for what is no POST. */
  message?: { id?: number; method: string; params?: Record<string, unknown> };
}

type Handler = (asked: Asked) => void;

async function serve(handler: Handler): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      handler({ request, response, ...(text !== '' && { message: JSON.parse(text) as Asked['message'] }) });
    });
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

const reply = (response: ServerResponse, id: unknown, result: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
};

const RESULTS: Record<string, (params: Record<string, unknown>) => unknown> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'http', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
};

/** Does what every server does; what `special` has answered is left alone. */
const polite =
  (special: (asked: Asked) => boolean, headers: Record<string, string> = {}): Handler =>
  (asked) => {
    const { response, message } = asked;
    if (special(asked)) return;
    if (message === undefined) return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    reply(response, message.id, RESULTS[message.method]?.(message.params ?? {}) ?? {}, headers);
  };

const http = (url: string, more: object = {}): RemoteServerConfig => ({ type: 'http', url, ...more });
const isCall = ({ message }: Asked): boolean => message?.method === 'tools/call';
const events = { 'content-type': 'text/event-stream' };

describe('streamable HTTP', () => {
  it('sends the headers of the server with every request, and the session after the first', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const url = await serve(
      polite(
        ({ request }) => {
          seen.push(request.headers);
          return false;
        },
        { 'mcp-session-id': 'one' },
      ),
    );
    const link = await bench.connect(http(url, { headers: { 'x-key': 'secret-1', Authorization: 'Bearer t' } }));
    expect(textOf(await link.call('echo', {}, calmly))).toBe('done');
    await link.close();
    expect(seen.length).toBeGreaterThan(4);
    expect(new Set(seen.map((headers) => headers['x-key']))).toEqual(new Set(['secret-1']));
    expect(new Set(seen.map((headers) => headers.authorization))).toEqual(new Set(['Bearer t']));
    expect(seen[0]?.['mcp-session-id']).toBeUndefined();
    expect(seen.at(-2)?.['mcp-session-id']).toBe('one');
    expect(seen.at(-2)?.['mcp-protocol-version']).toBe('2025-11-25');
  });

  it.each([
    ['result', { result: null }],
    ['result', { result: 'text' }],
    ['id', { id: { no: 'id' }, result: {} }],
  ])('an answer whose %s is none is told in words: %j', async (_, odd) => {
    const url = await serve(
      polite((asked) => {
        if (!isCall(asked)) return false;
        asked.response.writeHead(200, { 'content-type': 'application/json' });
        asked.response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.message?.id, ...odd }));
        return true;
      }),
    );
    const link = await bench.connect(http(url));
    const { message } = await failureOf(link.call('echo', {}, calmly));
    expect(message).toBe('MCP server box failed in call of echo: its answer is no message of the protocol.');
  });

  it('no key is read in an error: neither of its entry nor of a login', async () => {
    const url = await serve(
      polite((asked) => {
        if (!isCall(asked)) return false;
        const { authorization, 'x-key': key } = asked.request.headers;
        asked.response.writeHead(500).end(`you are ${authorization} ${String(key)} ${asked.request.url}`);
        return true;
      }),
    );
    const auth = { token: async () => 'oauth-token-77' };
    const config = http(`${url}?api_key=SUPERSECRET`, { headers: { 'x-key': 'KEY-12345' } });
    const link = await bench.connect(config, { auth });
    const { message } = await failureOf(link.call('echo', {}, calmly));
    expect(message).toContain('you are *** *** /mcp?api_key=***');
    expect(message).not.toMatch(/oauth-token-77|KEY-12345|SUPERSECRET/);
  });

  it('an address with a password in it is refused without it', async () => {
    const { message } = await failureOf(bench.connect(http('http://user:PASSW0RDX@127.0.0.1:9/mcp')));
    expect(message).toBe(
      'MCP server box failed in start: its url holds a user or a password. Name them in `headers`: { "Authorization": "Basic ..." }.',
    );
  });

  it('says that it wants to know who asks', async () => {
    const url = await serve(({ response }) => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end());
    expect(await failureOf(bench.connect(http(url)))).toMatchObject({
      code: 'request_failed',
      data: { server: 'box', phase: 'initialize', needsAuth: true },
      message:
        'MCP server box failed in initialize: it wants to know who asks (HTTP 401). To log in: heddle mcp auth box. Or give it a valid key in its headers.',
    });
  });

  it('wants to know again later: the call says so, and the link is lost', async () => {
    const url = await serve(
      polite((asked) => {
        if (isCall(asked)) asked.response.writeHead(401).end();
        return isCall(asked);
      }),
    );
    const link = await bench.connect(http(url));
    const lost = new Promise<Error>((resolve) => link.onLost(resolve));
    expect(await failureOf(link.call('echo', {}, calmly))).toMatchObject({ data: { needsAuth: true } });
    expect(await lost).toMatchObject({ data: { needsAuth: true } });
  });

  it('E4: redirects to another origin are not followed, and it gets no header', async () => {
    const stolen: IncomingMessage['headers'][] = [];
    const thief = await serve(({ request, response }) => {
      stolen.push(request.headers);
      response.writeHead(200).end();
    });
    const url = await serve(({ response }) => void response.writeHead(307, { location: thief }).end());
    const error = await failureOf(bench.connect(http(url, { headers: { 'x-key': 'secret-1' } })));
    expect(error).toMatchObject({ data: { phase: 'initialize', status: 307 } });
    expect(stolen).toEqual([]);
  });

  it('E4: has helpers at other origins (OAuth), which get none of its headers', async () => {
    const seen: unknown[] = [];
    const handler: Handler = ({ request, response }) => {
      seen.push(request.headers['x-key']);
      response.writeHead(200).end('{}');
    };
    const [own, other] = [await serve(handler), await serve(handler)];
    const headers = { 'x-key': 'secret-1' };
    const net = await createServerFetch({
      url: new URL(own),
      headers,
      env: {},
      onFlood: () => undefined,
      secrets: secretsOf({ type: 'http', url: 'https://x' }),
    });
    for (const url of [own, other]) await (await net.fetch(url)).text();
    net.close();
    expect(seen).toEqual(['secret-1', undefined]);
  });

  it('is not there', async () => {
    const url = await serve(() => undefined);
    const [server] = open.splice(0);
    await new Promise((resolve) => server?.close(resolve));
    const error = await failureOf(bench.connect(http(url)));
    expect(error).toMatchObject({ data: { phase: 'start' }, retryable: true });
    expect(error.message).toMatch(/^MCP server box failed in start: it could not be reached: .*ECONNREFUSED/);
  });

  it('has an address that is none', async () => {
    expect(await failureOf(bench.connect(http('ftp://x')))).toMatchObject({ code: 'invalid_config' });
  });

  it('answers with an error that repeats a key', async () => {
    const url = await serve(({ response }) => void response.writeHead(500).end('bad key secret-1'));
    const error = await failureOf(bench.connect(http(url, { headers: { 'x-key': 'secret-1' } })));
    expect(error).toMatchObject({ data: { status: 500 }, retryable: true });
    expect(error.message).toContain('bad key ***');
  });

  it.each([
    ['a message', 'application/json'],
    ['an event', 'text/event-stream'],
  ])('sends 100 MB in %s: the connection ends', async (_, type) => {
    const url = await serve(
      polite((asked) => {
        if (!isCall(asked)) return false;
        const { response, message } = asked;
        response.writeHead(200, { 'content-type': type });
        response.on('error', () => undefined);
        response.write(
          `${type === 'text/event-stream' ? 'data: ' : ''}{"jsonrpc":"2.0","id":${message?.id},"result":"`,
        );
        const block = 'x'.repeat(1 << 20);
        const more = (left: number): void => {
          if (left > 0 && !response.destroyed) response.write(block, () => more(left - 1));
        };
        more(100);
        return true;
      }),
    );
    const link = await bench.connect(http(url));
    const lost = new Promise<Error>((resolve) => link.onLost(resolve));
    const error = await failureOf(link.call('echo', {}, calmly));
    expect(error).toMatchObject({ code: 'frame_too_large', data: { phase: 'call' } });
    expect((await lost).message).toContain('more than 16 MB');
  });

  it('sends many events that are large together', async () => {
    const url = await serve(
      polite((asked) => {
        if (!isCall(asked)) return false;
        const { response, message } = asked;
        response.writeHead(200, events);
        const data = JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/x',
          params: { text: 'x'.repeat(1 << 20) },
        });
        for (let at = 0; at < 20; at += 1) response.write(`data: ${data}\n\n`);
        const result = { content: [{ type: 'text', text: 'done' }] };
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message?.id, result })}\n\n`);
        return true;
      }),
    );
    const link = await bench.connect(http(url));
    expect(textOf(await link.call('echo', {}, calmly))).toBe('done');
  });

  it('ends the stream of an answer without it', async () => {
    const url = await serve(
      polite((asked) => {
        if (isCall(asked)) asked.response.writeHead(200, events).end(': nothing\n\n');
        return isCall(asked);
      }),
    );
    const link = await bench.connect(http(url));
    const error = await failureOf(link.call('echo', {}, calmly));
    expect(error).toMatchObject({ code: 'invalid_answer', message: expect.stringContaining('ended without it') });
  });

  it('resumes a stream that broke, where it was', async () => {
    const resumed: unknown[] = [];
    let asking: number | undefined;
    const url = await serve(
      polite((asked) => {
        const { request, response, message } = asked;
        const last = request.headers['last-event-id'];
        if (isCall(asked)) {
          asking = message?.id;
          response.writeHead(200, events).end('id: e7\nretry: 1\ndata: \n\n');
          return true;
        }
        if (last === undefined) return false;
        resumed.push(last);
        const result = { content: [{ type: 'text', text: 'resumed' }] };
        response.writeHead(200, events).end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: asking, result })}\n\n`);
        return true;
      }),
    );
    const link = await bench.connect(http(url));
    expect(textOf(await link.call('echo', {}, calmly))).toBe('resumed');
    expect(resumed).toEqual(['e7']);
  });

  it('ends its stream again and again: it is asked for it less and less often', async () => {
    const clock = createFakeClock();
    let opened = 0;
    const url = await serve(
      polite(({ request, response }) => {
        if (request.method !== 'GET') return false;
        opened += 1;
        response.writeHead(200, events).end('retry: 0\n\n');
        return true;
      }),
    );
    const link = await bench.connect(http(url), { clock });
    const waits: number[] = [];
    for (let round = 1; round <= 13; round += 1) {
      await until(() => opened === round && clock.pending.length > 0);
      waits.push(...clock.pending);
      clock.advance(clock.pending[0] ?? 0);
    }
    expect(waits.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 1));
    expect(waits.slice(10)).toEqual([3_000, 6_000, 9_000]);
    expect(textOf(await link.call('echo', {}, calmly))).toBe('done');
  });

  it('goes away for good: the link is lost', async () => {
    const clock = createFakeClock();
    let streams = 0;
    const url = await serve(
      polite(({ request, response }) => {
        if (request.method !== 'GET') return false;
        streams += 1;
        if (streams === 1) response.writeHead(200, events).end(': hello\n\n');
        else response.writeHead(503).end();
        return true;
      }),
    );
    const link = await bench.connect(http(url), { clock });
    const lost: Error[] = [];
    link.onLost((reason) => lost.push(reason));
    for (let round = 0; lost.length === 0; round += 1) {
      await until(() => clock.pending.length > 0 || lost.length > 0);
      clock.advance(clock.pending[0] ?? 0);
    }
    expect(lost[0]?.message).toContain('its stream broke and could not be resumed');
    expect(streams).toBe(6);
  });

  it.each([
    [404, ''],
    [400, 'Bad Request: No valid session ID provided'],
  ])('has forgotten the session (%i): the link is lost', async (status, text) => {
    const url = await serve(
      polite(
        (asked) => {
          if (isCall(asked)) asked.response.writeHead(status).end(text);
          return isCall(asked);
        },
        { 'mcp-session-id': 'one' },
      ),
    );
    const link = await bench.connect(http(url));
    const lost = new Promise<Error>((resolve) => link.onLost(resolve));
    const error = await failureOf(link.call('echo', {}, calmly));
    expect(error).toMatchObject({ code: 'channel_closed', retryable: true });
    expect((await lost).message).toContain('it has forgotten the session');
  });

  it('frees the connection of a call that was cancelled', async () => {
    const ended = Promise.withResolvers<void>();
    const hears = Promise.withResolvers<unknown>();
    const stop = new AbortController();
    const url = await serve(
      polite((asked) => {
        const { response, message } = asked;
        if (message?.method === 'notifications/cancelled') hears.resolve(message.params?.reason);
        if (!isCall(asked)) return false;
        response.writeHead(200, events).write(': wait\n\n');
        response.on('close', ended.resolve);
        stop.abort();
        return true;
      }),
    );
    const link = await bench.connect(http(url));
    const call = failureOf(link.call('echo', {}, { toolUseId: 'toolu_1', signal: stop.signal }));
    expect(await call).toMatchObject({ code: 'aborted' });
    expect(await hears.promise).toBe('The call was cancelled.');
    await ended.promise;
  });

  it('answers slowly to the farewell: nobody waits for it', async () => {
    const clock = createFakeClock();
    const deleted = Promise.withResolvers<void>();
    const url = await serve(
      polite(
        ({ request }) => {
          if (request.method === 'DELETE') deleted.resolve();
          return request.method === 'DELETE';
        },
        { 'mcp-session-id': 'one' },
      ),
    );
    const link = await bench.connect(http(url), { clock });
    const closing = link.close();
    await deleted.promise;
    clock.advance(1_000);
    await closing;
  });
});

describe('SSE', () => {
  /** An SSE server that answers on its stream; `special` may answer instead. */
  const serveSse = (special: (asked: Asked, stream: ServerResponse) => boolean): Promise<string> => {
    let stream: ServerResponse | undefined;
    return serve((asked) => {
      const { request, response, message } = asked;
      if (request.method === 'GET') {
        stream = response;
        response.writeHead(200, events).write('event: endpoint\ndata: /mcp?session=1\n\n');
        return;
      }
      if (stream === undefined || special(asked, stream)) return;
      response.writeHead(202).end();
      if (message?.id === undefined) return;
      const result = RESULTS[message.method]?.(message.params ?? {}) ?? {};
      stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n\n`);
    });
  };
  const sse = (url: string, more: object = {}): RemoteServerConfig => ({ type: 'sse', url, ...more });

  it('sends the headers with both kinds of requests', async () => {
    const seen: unknown[] = [];
    const url = await serveSse(({ request }) => {
      seen.push(request.headers['x-key']);
      return false;
    });
    const link = await bench.connect(sse(url, { headers: { 'x-key': 'secret-1' } }));
    expect(textOf(await link.call('echo', {}, calmly))).toBe('done');
    expect(new Set(seen)).toEqual(new Set(['secret-1']));
  });

  it('wants to know who asks', async () => {
    const url = await serve(({ response }) => void response.writeHead(401).end());
    expect(await failureOf(bench.connect(sse(url)))).toMatchObject({ data: { needsAuth: true } });
  });

  it('loses its stream in a call', async () => {
    const url = await serveSse((asked, stream) => {
      if (isCall(asked)) {
        asked.response.writeHead(202).end();
        stream.destroy();
      }
      return isCall(asked);
    });
    const link = await bench.connect(sse(url));
    const lost = new Promise<Error>((resolve) => link.onLost(resolve));
    const error = await failureOf(link.call('echo', {}, calmly));
    expect(error).toMatchObject({ code: 'channel_closed', data: { phase: 'call' } });
    expect(error.message).toContain('its stream broke');
    expect((await lost).message).toContain('its stream broke');
  });

  it('never says where to send to', async () => {
    const clock = createFakeClock();
    const url = await serve(({ response }) => void response.writeHead(200, events).write(': hello\n\n'));
    const connecting = failureOf(bench.connect(sse(url), { clock }));
    await clock.armed();
    clock.advance(30_000);
    expect((await connecting).message).toMatch(/did not answer within 30 s/);
  });

  it('E4: wants its messages at another origin', async () => {
    const url = await serve(
      ({ response }) => void response.writeHead(200, events).write('event: endpoint\ndata: http://127.0.0.2:1/x\n\n'),
    );
    expect((await failureOf(bench.connect(sse(url)))).message).toMatch(/origin/i);
  });

  it('sends 100 MB', async () => {
    const url = await serveSse((asked, stream) => {
      if (!isCall(asked)) return false;
      asked.response.writeHead(202).end();
      stream.on('error', () => undefined);
      const block = 'x'.repeat(1 << 20);
      const more = (left: number): void => {
        if (left > 0 && !stream.destroyed) stream.write(left === 100 ? `data: ${block}` : block, () => more(left - 1));
      };
      more(100);
      return true;
    });
    const link = await bench.connect(sse(url));
    const error = await failureOf(link.call('echo', {}, calmly));
    expect(error).toMatchObject({ code: 'frame_too_large', data: { phase: 'call' } });
  });
});
