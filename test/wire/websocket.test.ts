import { afterEach, describe, expect, it } from 'vitest';
import type { Channel, Frame, HeddleError } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { connectWebSocket, Peer } from '../../src/wire/index.js';
import { startChaosProxy, type ChaosOptions } from './chaos-proxy.js';
import { createRandom, createSink, rejectionOf, textDelta, userMessage } from './doubles.js';
import { createCountingClock, startStreamServer, type StreamServer, until } from './websocket-kit.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

async function startServer(options: Parameters<typeof startStreamServer>[0] = {}) {
  const server = await startStreamServer(options);
  cleanups.push(() => server.close());
  return server;
}

async function startProxy(options: ChaosOptions) {
  const proxy = await startChaosProxy(options);
  cleanups.push(() => proxy.close());
  return proxy;
}

function connect(url: string, options: Partial<Parameters<typeof connectWebSocket>[0]> = {}): Channel {
  const channel = connectWebSocket({ url, clock: systemClock, ...options });
  cleanups.push(() => channel.close());
  return channel;
}

const frame = (n: number): Frame => ({ type: 'x', n });
/** After this frame the client knows that the server knows its stream. */
const greet = async (server: StreamServer, index = 0): Promise<void> => (await server.stream(index)).send(frame(0));
const framesOf = (calls: unknown[][]): unknown[] =>
  calls.filter(([kind]) => kind === 'frame').map(([, value]) => value);
const tcpSockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

describe('a WebSocket channel', () => {
  it('carries frames both ways in order, is untrusted and not final', async () => {
    const server = await startServer();
    const client = connect(server.url);
    expect([client.trusted, client.final]).toEqual([false, false]);
    const [toClient, toServer] = [createSink(), createSink()];
    client.send(frame(0));
    client.receive(toClient);
    const engine = await server.stream();
    engine.send({ type: 'y', text: 'a\u2028b\n漢😀' });
    await until(() => engine.buffered === 0);
    engine.receive(toServer);
    for (let n = 1; n < 300; n += 1) client.send(frame(n));
    await until(() => framesOf(toServer.calls).length === 300);
    expect(framesOf(toServer.calls)).toEqual(Array.from({ length: 300 }, (_, n) => frame(n)));
    expect(framesOf(toClient.calls)).toEqual([{ type: 'y', text: 'a\u2028b\n漢😀' }]);
  });

  it('a half-close is not a close: the other side may still send', async () => {
    const server = await startServer();
    const client = connect(server.url);
    const [toClient, toServer] = [createSink(), createSink()];
    client.receive(toClient);
    client.send(frame(1));
    client.end();
    client.send(frame(2));
    const engine = await server.stream();
    engine.receive(toServer);
    expect(await toServer.until('end')).toBeUndefined();
    expect(toServer.calls).toEqual([
      ['frame', frame(1)],
      ['end', undefined],
    ]);
    engine.send(frame(3));
    expect(await toClient.until('frame')).toEqual(frame(3));
  });

  it('B1: what was sent before a close arrives, both sides are told, and nothing is left', async () => {
    const clock = createCountingClock();
    const before = tcpSockets();
    const server = await startStreamServer({ clock });
    const client = connectWebSocket({ url: server.url, clock });
    const [toClient, toServer] = [createSink(), createSink()];
    client.receive(toClient);
    const engine = await server.stream();
    engine.receive(toServer);
    for (let n = 0; n < 100; n += 1) engine.send(frame(n));
    engine.close();
    engine.send(frame(100));
    await toClient.until('closed');
    expect(toClient.calls).toEqual([
      ...Array.from({ length: 100 }, (_, n) => ['frame', frame(n)]),
      ['end', undefined],
      ['closed', undefined],
    ]);
    expect(toServer.calls).toEqual([
      ['end', undefined],
      ['closed', undefined],
    ]);
    await until(() => server.streams === 0 && clock.timers === 0);
    await server.close();
    await until(() => tcpSockets() <= before);
  });

  it('H1: a close with an error tells the other side its code and words', async () => {
    const server = await startServer();
    const client = connect(server.url);
    const toServer = createSink();
    (await server.stream()).receive(toServer);
    const { HeddleError } = await import('../../src/protocol/plain.js');
    client.close(new HeddleError('invalid_answer', 'field: wrong'));
    expect(await toServer.until('closed')).toMatchObject({ code: 'invalid_answer', message: 'field: wrong' });
  });

  it('a frame that JSON cannot hold fails where it was sent, and the channel lives', async () => {
    const server = await startServer();
    const client = connect(server.url);
    const loop: Frame = { type: 'x' };
    (loop as { self?: unknown }).self = loop;
    expect(() => client.send(loop)).toThrow(expect.objectContaining({ code: 'invalid_frame' }));
    client.send(frame(1));
    const sink = createSink();
    (await server.stream()).receive(sink);
    expect(await sink.until('frame')).toEqual(frame(1));
  });
});

describe('a socket that is lost', () => {
  it.each([1, 2])(
    'cuts at random bytes lose and double nothing: 200 frames each way, once and in order (seed %i)',
    async (seed) => {
      const random = createRandom(seed);
      const server = await startServer();
      const proxy = await startProxy({ target: server.url, cutAfter: () => 200 + random(9_000) });
      const clock = createCountingClock(20);
      const client = connect(proxy.url, { clock });
      const [toClient, toServer] = [createSink(), createSink()];
      client.receive(toClient);
      const sizes = Array.from({ length: 200 }, () => random(400));
      const made = (n: number): Frame => ({ type: 'x', n, pad: 'é'.repeat(sizes[n] ?? 0) });
      const send = async (channel: Channel): Promise<void> => {
        for (let n = 0; n < 200; n += 1) {
          channel.send(made(n));
          if (random(8) === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        channel.end();
      };
      const sending = send(client);
      const engine = await server.stream();
      engine.receive(toServer);
      await Promise.all([sending, send(engine), toClient.until('end'), toServer.until('end')]);
      const expected = [...Array.from({ length: 200 }, (_, n) => ['frame', made(n)]), ['end', undefined]];
      expect(toServer.calls).toEqual(expected);
      expect(toClient.calls).toEqual(expected);
      expect(proxy.accepted).toBeGreaterThan(10);
      expect(server.channels).toHaveLength(1);
    },
  );

  it('a request that is pending is answered after the reconnect, and handled once', async () => {
    const server = await startServer();
    const proxy = await startProxy({ target: server.url });
    const host = new Peer(connect(proxy.url), { side: 'host', clock: systemClock });
    let answer: (result: { model: string }) => void = () => {};
    let calls = 0;
    const asked = server.stream().then((channel) => {
      const engine = new Peer(channel, { side: 'engine', clock: systemClock });
      return new Promise<void>((resolve) => {
        engine.handle('set_model', () => {
          calls += 1;
          resolve();
          return new Promise((settle) => {
            answer = settle;
          });
        });
      });
    });
    const pending = host.request('set_model', { model: 'm' });
    await asked;
    const again = proxy.nextSocket();
    proxy.cut();
    answer({ model: 'resolved' });
    await again;
    expect(await pending).toEqual({ model: 'resolved' });
    expect(calls).toBe(1);
  });

  it('C5: questions that are pending survive a cut, are put once, and are answered in any order', async () => {
    const server = await startServer();
    const proxy = await startProxy({ target: server.url });
    const host = new Peer(connect(proxy.url), { side: 'host', clock: systemClock });
    const seen: string[] = [];
    const answers = new Map<string, () => void>();
    host.handle('can_use_tool', ({ tool_use_id: id }) => {
      seen.push(id);
      return new Promise((resolve) => answers.set(id, () => resolve({ behavior: 'deny', message: `no ${id}` })));
    });
    const engine = new Peer(await server.stream(), { side: 'engine', clock: systemClock });
    const ask = (id: string) => engine.request('can_use_tool', { tool_name: 'Bash', input: {}, tool_use_id: id });
    const first = ask('a');
    await until(() => seen.length === 1);
    proxy.cut();
    // Asked while there is no socket.
    const second = ask('b');
    await until(() => seen.length === 2);
    proxy.cut();
    answers.get('b')?.();
    answers.get('a')?.();
    expect(await Promise.all([first, second])).toEqual([
      { behavior: 'deny', message: 'no a' },
      { behavior: 'deny', message: 'no b' },
    ]);
    expect(seen).toEqual(['a', 'b']);
  });

  it('a close while the client is away reaches it when it comes back, with all that came before', async () => {
    const server = await startServer();
    const proxy = await startProxy({ target: server.url });
    const client = connect(proxy.url);
    const sink = createSink();
    client.receive(sink);
    const engine = await server.stream();
    engine.send(frame(0));
    await sink.until('frame');
    proxy.refuse(true);
    proxy.cut();
    await proxy.nextSocket();
    engine.send(frame(1));
    engine.close();
    proxy.refuse(false);
    await sink.until('closed');
    expect(sink.calls).toEqual([
      ['frame', frame(0)],
      ['frame', frame(1)],
      ['end', undefined],
      ['closed', undefined],
    ]);
    await until(() => server.streams === 0);
  });

  it('B4: a server that stays away closes the channel after the limit, with a typed error', async () => {
    const clock = createCountingClock();
    const server = await startServer();
    const proxy = await startProxy({ target: server.url });
    const client = connect(proxy.url, { clock, reconnectMs: 300 });
    const host = new Peer(client, { side: 'host', clock });
    await greet(server);
    await host.messages.next();
    const pending = host.request('initialize', {});
    proxy.refuse(true);
    proxy.cut();
    await expect(pending).rejects.toMatchObject({
      code: 'channel_closed',
      retryable: true,
      message: expect.stringContaining('could not be opened again within 0.3 s'),
    });
    expect(clock.timers).toBe(0);
  });

  it('B4: a client that stays away is given up after the grace, and nothing is left of it', async () => {
    const clock = createCountingClock();
    const server = await startServer({ clock, graceMs: 20 });
    const proxy = await startProxy({ target: server.url });
    connect(proxy.url);
    const sink = createSink();
    (await server.stream()).receive(sink);
    proxy.refuse(true);
    proxy.cut();
    expect(await sink.until('closed')).toMatchObject({
      code: 'channel_closed',
      message: 'The client went away and did not come back within 0.02 s.',
    });
    await until(() => server.streams === 0 && clock.timers === 0);
  });

  it('a server that was restarted does not start over with half a stream: typed error, no hang', async () => {
    const server = await startStreamServer();
    const { port } = server;
    const host = new Peer(connect(server.url), { side: 'host', clock: systemClock });
    await server.stream();
    const refused = rejectionOf(host.request('initialize', {}));
    const proxy = await startProxy({ target: server.url });
    const other = connect(proxy.url);
    const otherSink = createSink();
    other.receive(otherSink);
    await greet(server, 1);
    await otherSink.until('frame');
    proxy.refuse(true);
    proxy.cut();
    await server.close();
    expect(await refused).toMatchObject({ code: 'channel_closed', message: 'The server was closed.' });
    const restarted = await startServer({ port });
    proxy.refuse(false);
    expect(await otherSink.until('closed')).toMatchObject({
      code: 'channel_closed',
      message: expect.stringContaining('no longer knows this stream'),
      hint: expect.stringContaining('resume the session'),
    });
    expect(restarted.channels).toHaveLength(0);
  });

  it('a socket that is silent is dropped by both sides, and the stream goes on over another', async () => {
    const server = await startServer({ silenceMs: 90 });
    const proxy = await startProxy({ target: server.url });
    const client = connect(proxy.url, { silenceMs: 90 });
    const [toClient, toServer] = [createSink(), createSink()];
    client.receive(toClient);
    const engine = await server.stream();
    engine.receive(toServer);
    engine.send(frame(1));
    await toClient.until('frame');
    const again = proxy.nextSocket();
    proxy.freeze();
    engine.send(frame(2));
    client.send(frame(3));
    await again;
    expect(await toServer.until('frame')).toEqual(frame(3));
    await until(() => framesOf(toClient.calls).length === 2);
    expect(framesOf(toClient.calls)).toEqual([frame(1), frame(2)]);
  });

  it('B1: a close while the socket is away ends at once and leaves no timer', async () => {
    const clock = createCountingClock();
    const server = await startServer();
    const proxy = await startProxy({ target: server.url });
    const client = connect(proxy.url, { clock });
    const sink = createSink();
    client.receive(sink);
    await server.stream();
    proxy.refuse(true);
    proxy.cut();
    await proxy.nextSocket();
    client.close();
    expect(sink.calls).toEqual([
      ['end', undefined],
      ['closed', undefined],
    ]);
    await until(() => clock.timers === 0 && proxy.open === 0);
  });

  it('deltas that wait for a socket merge past 1 MB; durable frames stay as they are', async () => {
    const server = await startServer();
    const proxy = await startProxy({ target: server.url });
    const client = connect(proxy.url);
    const sink = createSink();
    client.receive(sink);
    const engine = await server.stream();
    engine.send(frame(0));
    await sink.until('frame');
    proxy.refuse(true);
    proxy.cut();
    await proxy.nextSocket();
    const text = 'd'.repeat(1_000);
    for (let n = 0; n < 3_000; n += 1) engine.send(textDelta(text));
    engine.send(userMessage('durable'));
    expect(engine.buffered).toBeGreaterThan(3_000_000);
    proxy.refuse(false);
    await engine.drained(0);
    const frames = framesOf(sink.calls).slice(1) as { type: string; event: { delta: { text: string } } }[];
    const deltas = frames.filter(({ type }) => type === 'stream_event');
    expect(deltas.map(({ event }) => event.delta.text).join('')).toBe(text.repeat(3_000));
    expect(deltas.length).toBeLessThan(1_500);
    expect(frames.at(-1)).toEqual(userMessage('durable'));
  });

  it('past 64 MB that nobody takes, the channel ends with a typed error', async () => {
    const server = await startServer();
    const proxy = await startProxy({ target: server.url });
    const client = connect(proxy.url);
    const engine = await server.stream();
    const sink = createSink();
    engine.receive(sink);
    await until(() => client.buffered === 0);
    proxy.refuse(true);
    proxy.cut();
    await proxy.nextSocket();
    const big = 'b'.repeat(5_000_000);
    for (let n = 0; n < 14; n += 1) engine.send(userMessage(big));
    const error = (await sink.until('closed')) as HeddleError;
    expect(error).toMatchObject({ code: 'channel_closed', message: expect.stringContaining('64 MB') });
    expect([engine.buffered, server.streams]).toEqual([0, 0]);
  });
});
