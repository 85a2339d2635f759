import { describe, expect, it } from 'vitest';
import { Outbox } from '../../src/engine/outbox.js';
import type { Frame, FrameSink, Message } from '../../src/protocol/index.js';
import { createMemoryPair } from '../../src/wire/index.js';
import { outline, start } from '../engine/kit.js';
import { textDelta } from '../wire/doubles.js';

const frame = (n: number): Frame => ({ type: 'x', n });
const deltas = (...texts: string[]): Message[] => texts.map((text) => textDelta(text));

/** Every call into a sink or watcher, with what it brought. */
function createSink() {
  const calls: unknown[][] = [];
  const sink: FrameSink = {
    frame: (one) => void calls.push([one]),
    frames: (several) => void calls.push([...several]),
    end: () => {},
  };
  return { calls, sink };
}

describe('the batch of a provider (A5)', () => {
  it('crosses a memory pair in one call, and in order when it cannot', () => {
    const [left, right] = createMemoryPair();
    const { calls, sink } = createSink();
    left.sendAll?.([frame(1), frame(2)]);
    right.receive(sink);
    left.sendAll?.([frame(3), frame(4)]);
    left.send(frame(5));
    expect(calls).toEqual([[frame(1)], [frame(2)], [frame(3), frame(4)], [frame(5)]]);
    left.end();
    left.sendAll?.([frame(6)]);
    expect(calls).toHaveLength(4);
  });

  it('copies control frames in a batch as it does single ones', () => {
    const [left, right] = createMemoryPair();
    const { calls, sink } = createSink();
    right.receive(sink);
    const request = { subtype: 'interrupt' as const };
    left.sendAll?.([{ type: 'control_request', request_id: 'r', request }]);
    const [[received]] = calls as [[{ request: object }]];
    expect(received.request).toEqual(request);
    expect(received.request).not.toBe(request);
  });

  it('leaves the outbox in one call, one by one for a watcher who takes no batches', () => {
    const outbox = new Outbox();
    const batches: (readonly Message[])[] = [];
    const singles: Message[] = [];
    outbox.attach({ deliver: () => expect.unreachable(), deliverAll: (messages) => void batches.push(messages) });
    outbox.attach({ deliver: (message) => void singles.push(message) });
    const messages = deltas('a', 'b');
    outbox.emitAll(messages);
    expect(batches).toEqual([messages]);
    expect(singles).toEqual(messages);
  });

  it('does not overtake a message whose entry is still being written', async () => {
    const outbox = new Outbox();
    const seen: Message[] = [];
    outbox.attach({ deliver: (message) => void seen.push(message) });
    const written = Promise.withResolvers<void>();
    const [first, ...rest] = deltas('durable', 'a', 'b') as [Message, ...Message[]];
    outbox.emitDurable(first, written.promise);
    outbox.emitAll(rest);
    expect(seen).toEqual([]);
    written.resolve();
    await written.promise;
    await Promise.resolve();
    expect(seen).toEqual([first, ...rest]);
  });

  it('shows a finished block after its deltas and before the event that ends it, with an id for each message', async () => {
    const run = await start([{ text: 'ab', deltas: 2, batches: 1 }], {
      config: { includePartialMessages: true },
    });
    await run.ask('go');
    expect(outline(run.messages).slice(1, -1)).toEqual([
      'stream message_start',
      'stream content_block_start',
      'stream content_block_delta',
      'stream content_block_delta',
      'assistant "ab"',
      'stream content_block_stop',
      'stream message_delta',
      'stream message_stop',
    ]);
    const ids = run.messages.map(({ uuid }) => uuid);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
});
