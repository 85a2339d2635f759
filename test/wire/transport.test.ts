import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/protocol/index.js';
import { FrameQueue, fromTransport, Peer, parseLine, type Transport } from '../../src/wire/index.js';
import { createManualClock, createSink, textDelta } from './doubles.js';

/** A transport as a user may write one. */
function createTransport(overrides: Partial<Transport> = {}) {
  const lines: string[] = [];
  const calls: string[] = [];
  const incoming = new FrameQueue();
  const transport: Transport = {
    write: (line) => void lines.push(line),
    close: () => {
      calls.push('close');
      incoming.end();
    },
    isReady: () => true,
    async *readMessages() {
      yield* incoming;
    },
    endInput: () => void calls.push('endInput'),
    ...overrides,
  };
  return { transport, lines, calls, incoming, frames: () => lines.map((line) => parseLine(line)) };
}

const frame = (n: number): Frame => ({ type: 'x', n });
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a Transport of the user as a Channel', () => {
  it('writes lines, reads frames, and tells the two ends apart', async () => {
    const { transport, lines, calls, incoming } = createTransport();
    const channel = fromTransport(transport);
    expect([channel.trusted, channel.final]).toEqual([false, true]);
    const sink = createSink();
    channel.receive(sink);
    channel.send(frame(1));
    channel.send(textDelta('d'));
    channel.end();
    channel.send(frame(2));
    expect(lines.map((line) => line.endsWith('\n'))).toEqual([true, true]);
    expect(lines[0]).toBe('{"type":"x","n":1}\n');
    expect(calls).toEqual(['endInput']);
    incoming.push(frame(3));
    incoming.end();
    expect(await sink.until('end')).toBeUndefined();
    expect(sink.calls).toEqual([
      ['frame', frame(3)],
      ['end', undefined],
    ]);
    channel.close();
    expect(calls).toEqual(['endInput', 'close']);
    expect(sink.calls.at(-1)).toEqual(['closed', undefined]);
  });

  it('carries a Peer', async () => {
    const { transport, incoming, frames } = createTransport();
    const clock = createManualClock();
    const peer = new Peer(fromTransport(transport, { clock }), { side: 'host', clock });
    const pending = peer.request('set_model', { model: 'm' });
    const [sent] = frames() as [{ request_id: string }];
    const response = { subtype: 'success', request_id: sent.request_id, response: { model: 'resolved' } };
    incoming.push({ type: 'control_response', response });
    expect(await pending).toEqual({ model: 'resolved' });
    peer.close();
    expect(await peer.closed).toBeUndefined();
  });

  it('a write that takes a while holds back the next line and the end', async () => {
    const releases: (() => void)[] = [];
    const lines: string[] = [];
    const { transport, calls } = createTransport({
      write: (line) => {
        lines.push(line);
        return new Promise((resolve) => releases.push(resolve));
      },
    });
    const channel = fromTransport(transport);
    for (let n = 0; n < 3; n += 1) channel.send(frame(n));
    channel.end();
    expect(lines).toHaveLength(1);
    expect(channel.buffered).toBeGreaterThan(0);
    const drained = channel.drained(0);
    for (let n = 0; n < 3; n += 1) {
      releases[n]?.();
      await tick();
    }
    await drained;
    expect(lines.map((line) => parseLine(line))).toEqual([frame(0), frame(1), frame(2)]);
    expect([calls, channel.buffered]).toEqual([['endInput'], 0]);
  });

  it('waits for a transport to be ready, and not for ever (B4)', async () => {
    const clock = createManualClock();
    let isReady = false;
    const { transport, frames } = createTransport({ isReady: () => isReady });
    const channel = fromTransport(transport, { clock });
    channel.send(frame(1));
    clock.advance(100);
    expect(frames()).toEqual([]);
    isReady = true;
    channel.send(frame(2));
    clock.advance(10);
    expect(frames()).toEqual([frame(1), frame(2)]);

    const never = fromTransport(createTransport({ isReady: () => false }).transport, { clock });
    const sink = createSink();
    never.receive(sink);
    never.send(frame(1));
    clock.advance(30_010);
    expect(await sink.until('closed')).toMatchObject({
      code: 'channel_closed',
      message: 'The transport was not ready within 30 s.',
    });
    expect(clock.timers).toBe(0);
  });

  it.each<[string, Partial<Transport>]>([
    [
      'write throws',
      {
        write: () => {
          throw new Error('no line');
        },
      },
    ],
    ['write rejects', { write: () => Promise.reject(new Error('no line')) }],
    [
      'readMessages throws',
      {
        // oxlint-disable-next-line require-yield
        async *readMessages() {
          throw new Error('no line');
        },
      },
    ],
    [
      'endInput throws',
      {
        endInput: () => {
          throw new Error('no line');
        },
      },
    ],
  ])('%s: the channel closes with what it said, and the transport is closed', async (_, overrides) => {
    const { transport, calls } = createTransport(overrides);
    const channel = fromTransport(transport);
    const sink = createSink();
    channel.receive(sink);
    channel.send(frame(1));
    channel.end();
    const error = await sink.until('closed');
    expect(error).toMatchObject({ code: 'channel_closed', message: 'The transport failed: no line' });
    expect(sink.calls).toEqual([
      ['end', error],
      ['closed', error],
    ]);
    expect(calls).toContain('close');
  });

  it('a close that throws changes nothing, and nothing is delivered after it', async () => {
    const { transport, incoming } = createTransport({
      close: () => {
        throw new Error('already closed');
      },
    });
    const channel = fromTransport(transport);
    const sink = createSink();
    channel.receive(sink);
    channel.close();
    channel.close();
    incoming.push(frame(1));
    await tick();
    expect(sink.calls).toEqual([
      ['end', undefined],
      ['closed', undefined],
    ]);
    expect(channel.buffered).toBe(0);
  });
});
