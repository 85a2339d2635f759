import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { HeddleError } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { connectWebSocket, type WebSocketOptions } from '../../src/wire/index.js';
import { createSink } from './doubles.js';
import { createCountingClock, startStreamServer, type StreamServer, until } from './websocket-kit.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

async function startServer(options: Parameters<typeof startStreamServer>[0] = {}): Promise<StreamServer> {
  const server = await startStreamServer(options);
  cleanups.push(() => server.close());
  return server;
}

/** A client that says what it wants. */
async function openRaw(url: string) {
  const socket = new WebSocket(url);
  cleanups.push(() => socket.terminate());
  const texts: unknown[] = [];
  socket.on('message', (data) => texts.push(JSON.parse((data as Buffer).toString())));
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: Number(code), reason: String(reason) }));
  await once(socket, 'open');
  return { socket, texts, closed, send: (value: unknown) => socket.send(JSON.stringify(value)) };
}

const hello = (stream: string, fields: object = {}) => ({ type: 'heddle_hello', stream, cursor: 0, ...fields });

/** Shows that others are still served. */
async function expectAlive(server: StreamServer): Promise<void> {
  const client = await openRaw(server.url);
  const stream = `still-alive-${server.channels.length}`;
  client.send(hello(stream));
  await until(() => client.texts.length > 0);
  expect(client.texts[0]).toEqual({ type: 'heddle_hello', stream, cursor: 0 });
}

describe('what a server refuses', () => {
  it.each([
    ['no JSON', 'hello?', 4400, 'not JSON'],
    ['another message first', JSON.stringify({ type: 'user' }), 4400, 'heddle_hello first'],
    ['no object', '7', 4400, 'heddle_hello first'],
    ['a stream that is no id', JSON.stringify(hello('../../x')), 4400, 'stream: expected'],
    ['no stream', JSON.stringify({ type: 'heddle_hello', cursor: 0 }), 4400, 'stream: expected'],
    ['a cursor that is no count', JSON.stringify(hello('stream-1', { cursor: -1 })), 4400, 'cursor: expected'],
    ['a cursor that is no number', JSON.stringify(hello('stream-1', { cursor: '0' })), 4400, 'cursor: expected'],
    ['an unknown stream', JSON.stringify(hello('stream-1', { cursor: 3 })), 4404, 'no stream stream-1'],
    ['an unknown stream, resumed', JSON.stringify(hello('stream-1', { resume: true })), 4404, 'no stream stream-1'],
  ])('a hello with %s: typed close, and the server lives', async (_, text, code, reason) => {
    const server = await startServer();
    const client = await openRaw(server.url);
    client.socket.send(text);
    client.socket.send(JSON.stringify(hello('too-late')));
    expect(await client.closed).toEqual({ code, reason: expect.stringContaining(reason) });
    expect([server.streams, server.channels.length]).toEqual([0, 0]);
    await expectAlive(server);
  });

  it('B4: a client that says nothing', async () => {
    const server = await startServer({ clock: createCountingClock(200) });
    const client = await openRaw(server.url);
    expect(await client.closed).toEqual({ code: 4408, reason: 'No hello came.' });
  });

  it.each<[string, string | Buffer, number, string]>([
    ['a binary message', Buffer.from('{"type":"x"}'), 1003, 'invalid_frame'],
    ['text that is not JSON', '{"type":', 4400, 'invalid_frame'],
    ['a message over the cap', JSON.stringify({ type: 'x', pad: 'p'.repeat(5_000) }), 1009, 'frame_too_large'],
    ['an ack of what was never sent', '{"type":"heddle_ack","cursor":9}', 4400, 'invalid_frame'],
  ])('%s in a stream: typed close, the stream ends, and the server lives', async (_, message, closeCode, code) => {
    const server = await startServer({ maxFrameBytes: 2_000 });
    const client = await openRaw(server.url);
    client.send(hello('stream-1'));
    const sink = createSink();
    (await server.stream()).receive(sink);
    client.socket.send(message);
    expect(await sink.until('closed')).toMatchObject({ code });
    expect((await client.closed).code).toBe(closeCode);
    expect(server.streams).toBe(0);
    await expectAlive(server);
  });

  it('a cursor that the stream has left behind: only that socket is refused', async () => {
    const server = await startServer();
    const first = await openRaw(server.url);
    first.send(hello('stream-1'));
    const engine = await server.stream();
    engine.send({ type: 'x', n: 1 });
    engine.send({ type: 'x', n: 2 });
    await until(() => first.texts.length === 3);
    first.send({ type: 'heddle_ack', cursor: 2 });
    await until(() => engine.buffered === 0);
    for (const cursor of [1, 3]) {
      const other = await openRaw(server.url);
      other.send(hello('stream-1', { cursor, resume: true }));
      expect(await other.closed).toMatchObject({ code: 4400 });
    }
    engine.send({ type: 'x', n: 3 });
    await until(() => first.texts.length === 4);
  });

  it('a newer socket of a stream takes over; the older one is told', async () => {
    const server = await startServer();
    const first = await openRaw(server.url);
    first.send(hello('stream-1'));
    const sink = createSink();
    const engine = await server.stream();
    engine.receive(sink);
    engine.send({ type: 'y', n: 1 });
    engine.send({ type: 'y', n: 2 });
    first.send({ type: 'x', n: 1 });
    await sink.until('frame');
    const second = await openRaw(server.url);
    second.send(hello('stream-1', { resume: true, cursor: 1 }));
    expect((await first.closed).code).toBe(4409);
    await until(() => second.texts.length === 2);
    expect(second.texts).toEqual([
      { type: 'heddle_hello', stream: 'stream-1', cursor: 1 },
      { type: 'y', n: 2 },
    ]);
    expect(engine.buffered).toBe('{"type":"y","n":2}'.length);
    expect(server.channels).toHaveLength(1);
  });

  it('keeps a socket alive that only answers pings', async () => {
    const server = await startServer({ silenceMs: 30 });
    const client = await openRaw(server.url);
    client.send(hello('stream-1'));
    for (let pings = 0; pings < 8; pings += 1) await once(client.socket, 'ping');
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });
});

describe('what a client is refused', () => {
  async function listen(server: Server): Promise<string> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`;
  }

  const connect = async (url: string, options: Partial<WebSocketOptions> = {}): Promise<HeddleError> => {
    const clock = createCountingClock(10);
    const sink = createSink();
    const channel = connectWebSocket({ url, clock, ...options });
    channel.send({ type: 'x' });
    channel.receive(sink);
    const error = (await sink.until('closed')) as HeddleError;
    await until(() => clock.timers === 0);
    return error;
  };

  it.each(['not a url', 'ftp://127.0.0.1/ws', '/ws'])('%s is no URL of a WebSocket', (url) => {
    expect(() => connectWebSocket({ url, clock: systemClock })).toThrow(
      expect.objectContaining({ code: 'invalid_config' }),
    );
  });

  it('nobody listens: at once, with the address and without the token in it', async () => {
    const server = createServer();
    const url = await listen(server);
    server.close();
    const error = await connect(`${url}?token=secret`, { reconnectMs: 3_600_000 });
    expect(error).toMatchObject({
      code: 'channel_closed',
      message: expect.stringMatching(/^No WebSocket to ws:\/\/127\.0\.0\.1:\d+\/ws could be opened \(.*ECONNREFUSED/),
    });
    expect(JSON.stringify(error) + error.message).not.toContain('secret');
  });

  it('H1: a refusal by status says which, and in the words of the server', async () => {
    const url = await listen(
      createServer().on('upgrade', (_, socket) => {
        socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 16\r\n\r\nWrong, so wrong.');
      }),
    );
    expect(await connect(url)).toMatchObject({
      code: 'invalid_config',
      message: `${url} refused the WebSocket with status 401: Wrong, so wrong.`,
      hint: 'Give the token of this server.',
      data: { status: 401 },
    });
  });

  it('a status that may pass is tried again, up to the limit', async () => {
    let tries = 0;
    const busy: RequestListener = (_, response) => void response.writeHead(503).end('busy');
    const server = createServer(busy);
    server.on('request', () => {
      tries += 1;
    });
    const url = await listen(server);
    expect(await connect(url, { reconnectMs: 100 })).toMatchObject({ code: 'channel_closed', retryable: true });
    expect(tries).toBeGreaterThan(1);
  });

  it('a WebSocket server that is none of ours', async () => {
    const server = createServer();
    const url = await listen(server);
    new WebSocketServer({ server }).on('connection', (socket) => socket.send('Welcome to the chat!'));
    expect(await connect(url)).toMatchObject({ code: 'invalid_frame', message: expect.stringContaining('Welcome') });
  });

  /** A server that greets every stream with this cursor, then does something. */
  async function listenAndGreet(cursor: number, then: (socket: WebSocket, hello: unknown) => void): Promise<string> {
    const server = createServer();
    new WebSocketServer({ server }).on('connection', (socket) => {
      socket.once('message', (data) => {
        const said = JSON.parse((data as Buffer).toString()) as { stream: string };
        socket.send(JSON.stringify(hello(said.stream, { cursor })));
        then(socket, said);
      });
    });
    return listen(server);
  }

  it.each([
    [4404, 'channel_closed'],
    [4409, 'channel_closed'],
    [4400, 'invalid_frame'],
    [1003, 'invalid_frame'],
    [1007, 'invalid_frame'],
    [1009, 'frame_too_large'],
  ])('a close with code %i is not tried again: %s', async (closeCode, code) => {
    let sockets = 0;
    const url = await listenAndGreet(0, (socket) => {
      sockets += 1;
      socket.close(closeCode, 'the reason');
    });
    expect(await connect(url)).toMatchObject({
      code,
      data: { closeCode },
      message: expect.stringMatching(/: the reason$/),
    });
    expect(sockets).toBe(1);
  });

  it('a stream that a server has greeted is resumed, never begun again', async () => {
    const hellos: unknown[] = [];
    const url = await listenAndGreet(0, (socket, said) => {
      hellos.push(said);
      socket.close(hellos.length < 3 ? 1001 : 4404);
    });
    await connect(url);
    const stream = (hellos[0] as { stream: string }).stream;
    expect(hellos).toEqual([hello(stream), hello(stream, { resume: true }), hello(stream, { resume: true })]);
  });

  it('a server that claims to have more than was sent', async () => {
    const url = await listenAndGreet(5, () => {});
    expect(await connect(url)).toMatchObject({
      code: 'channel_closed',
      message: expect.stringContaining('no longer has'),
    });
  });

  it('B4: a server that accepts and says nothing', async () => {
    const server = createServer();
    const url = await listen(server);
    const sockets = new WebSocketServer({ server });
    const clock = createCountingClock(1_000);
    expect(await connect(url, { clock, reconnectMs: 20 })).toMatchObject({ code: 'channel_closed' });
    expect(sockets.clients.size).toBeLessThanOrEqual(1);
  });

  it('a header that cannot be sent', async () => {
    const error = await connect('ws://127.0.0.1:1/ws', { token: 'line\nbreak' });
    expect(error).toMatchObject({ code: 'invalid_config' });
    expect(error.message).not.toContain('break');
  });

  it('a frame that the server finds too large ends the channel instead of coming back for ever', async () => {
    const server = await startServer({ maxFrameBytes: 2_000 });
    const sink = createSink();
    const channel = connectWebSocket({ url: server.url, clock: systemClock });
    channel.receive(sink);
    channel.send({ type: 'x', pad: 'p'.repeat(5_000) });
    expect(await sink.until('closed')).toMatchObject({ code: 'frame_too_large' });
  });
});
