import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/protocol/index.js';
import { createMemoryPair, FrameQueue } from '../../src/wire/index.js';
import { createSink, textDelta, userMessage } from './doubles.js';

const frame = (n: number): Frame => ({ type: 'x', n });
const numbers = (calls: unknown[][]): unknown[] => calls.map(([kind, value]) => (value as { n?: number })?.n ?? kind);

describe('memory pair', () => {
  it('is trusted and final', () => {
    for (const end of createMemoryPair()) expect([end.trusted, end.final]).toEqual([true, true]);
  });

  it('delivers at once, and keeps in order what comes before receive', () => {
    const [left, right] = createMemoryPair();
    const sink = createSink();
    left.send(frame(1));
    left.send(frame(2));
    right.receive(sink);
    expect(numbers(sink.calls)).toEqual([1, 2]);
    const message = userMessage('hi');
    left.send(message);
    expect(sink.calls.at(-1)?.[1]).toEqual(message);
  });

  it('copies messages, so that a consumer who changes one changes nothing here; deltas pass as they are', () => {
    const [left, right] = createMemoryPair();
    const sink = createSink();
    right.receive(sink);
    const message = userMessage('hi');
    left.send(message);
    expect(sink.calls.at(-1)?.[1]).not.toBe(message);
    const delta = {
      type: 'stream_event' as const,
      event: { type: 'content_block_delta' as const, index: 0, delta: { type: 'text_delta' as const, text: 'x' } },
      session_id: 's',
      parent_tool_use_id: null,
      uuid: 'u',
    };
    left.send(delta);
    expect(sink.calls.at(-1)?.[1]).toBe(delta);
  });

  it('has one receiver', () => {
    const [left] = createMemoryPair();
    left.receive(createSink());
    expect(() => left.receive(createSink())).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  it('never enters a sink twice: what a sink sends arrives after it returned, before the first send returns', () => {
    const [left, right] = createMemoryPair();
    const events: string[] = [];
    const follow = (name: string, end: typeof left, stop: number) =>
      createSink((received) => {
        const { n } = received as { n: number };
        events.push(`${name} enters ${n}`);
        if (n < stop) end.send(frame(n + 1));
        events.push(`${name} leaves ${n}`);
      });
    left.receive(follow('left', left, 4));
    right.receive(follow('right', right, 4));
    left.send(frame(1));
    events.push('send returns');
    expect(events).toEqual([
      'right enters 1',
      'right leaves 1',
      'left enters 2',
      'left leaves 2',
      'right enters 3',
      'right leaves 3',
      'left enters 4',
      'left leaves 4',
      'send returns',
    ]);
  });

  it('does not grow the stack in a long exchange', () => {
    const [left, right] = createMemoryPair();
    let last = 0;
    const bounce = (end: typeof left) =>
      createSink((received) => {
        last = (received as { n: number }).n;
        if (last < 100_000) end.send(frame(last + 1));
      });
    left.receive(bounce(left));
    right.receive(bounce(right));
    left.send(frame(1));
    expect(last).toBe(100_000);
  });

  it('copies the params of requests and the body of answers, both ways (C3)', () => {
    const [left, right] = createMemoryPair();
    const [toLeft, toRight] = [createSink(), createSink()];
    left.receive(toLeft);
    right.receive(toRight);
    const input = { command: 'ls', nested: { list: [1] } };
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 't', input } as const;
    left.send({ type: 'control_request', request_id: 'r', request });
    const received = toRight.calls[0]?.[1] as { request: { input: typeof input } };
    expect(received.request).toEqual(request);
    received.request.input.command = 'rm';
    received.request.input.nested.list.push(2);
    expect(input).toEqual({ command: 'ls', nested: { list: [1] } });

    const response = { behavior: 'allow', updatedInput: { a: [1] } };
    right.send({ type: 'control_response', response: { subtype: 'success', request_id: 'r', response } });
    response.updatedInput.a.push(2);
    expect(toLeft.calls[0]?.[1]).toEqual({
      type: 'control_response',
      response: { subtype: 'success', request_id: 'r', response: { behavior: 'allow', updatedInput: { a: [1] } } },
    });
  });

  it('refuses functions in requests and answers with a typed error', () => {
    const [left, right] = createMemoryPair();
    const sink = createSink();
    right.receive(sink);
    const request = { subtype: 'update_settings' as const, callback: () => {} };
    expect(() => left.send({ type: 'control_request', request_id: 'r', request })).toThrow(
      expect.objectContaining({ code: 'invalid_frame', message: expect.stringContaining('must be plain data') }),
    );
    const response = { subtype: 'success' as const, request_id: 'r', response: { callback: () => {} } };
    expect(() => left.send({ type: 'control_response', response })).toThrow(
      expect.objectContaining({ code: 'invalid_answer' }),
    );
    expect(sink.calls).toEqual([]);
    left.send(frame(1));
    expect(numbers(sink.calls)).toEqual([1]);
  });

  it('half-closes: end arrives after what was sent, and the other direction stays open', () => {
    const [left, right] = createMemoryPair();
    const [toLeft, toRight] = [createSink(), createSink()];
    left.receive(toLeft);
    left.send(frame(1));
    left.end();
    left.send(frame(2));
    right.receive(toRight);
    right.send(frame(3));
    expect(numbers(toRight.calls)).toEqual([1, 'end']);
    expect(numbers(toLeft.calls)).toEqual([3]);
    right.end();
    left.end();
    expect(numbers(toLeft.calls)).toEqual([3, 'end']);
  });

  it('closes both ends once, with the reason, after what the closing side had sent', () => {
    const [left, right] = createMemoryPair();
    const [toLeft, toRight] = [createSink(), createSink()];
    left.receive(toLeft);
    const reason = new Error('enough');
    left.send(frame(1));
    left.close(reason);
    left.close(new Error('again'));
    left.send(frame(2));
    right.receive(toRight);
    right.close();
    right.send(frame(3));
    const ending = [
      ['end', reason],
      ['closed', reason],
    ];
    expect(toLeft.calls).toEqual(ending);
    expect(toRight.calls).toEqual([['frame', frame(1)], ...ending]);
  });

  it('tells of a close that follows a half-close', () => {
    const [left, right] = createMemoryPair();
    const sink = createSink();
    right.receive(sink);
    left.end();
    left.close();
    expect(sink.calls).toEqual([
      ['end', undefined],
      ['closed', undefined],
    ]);
  });

  it('closes when a sink breaks its contract and throws, and the sender does not see it', () => {
    const [left, right] = createMemoryPair();
    const toLeft = createSink();
    left.receive(toLeft);
    right.receive(
      createSink(() => {
        throw new Error('bug');
      }),
    );
    left.send(frame(1));
    expect(toLeft.calls.map(([kind, error]) => [kind, (error as Error).message])).toEqual([
      ['end', 'bug'],
      ['closed', 'bug'],
    ]);
  });

  it('reports what the receiver has not taken as buffered, and tells when it has', async () => {
    const [left, right] = createMemoryPair();
    expect(left.buffered).toBe(0);
    left.send(textDelta('x'.repeat(1000)));
    expect(left.buffered).toBeGreaterThan(1000);
    const queue = new FrameQueue();
    right.receive({ ...createSink(), frame: (received) => queue.push(received), backlog: () => queue });
    left.send(textDelta('x'.repeat(1000)));
    expect(left.buffered).toBe(queue.size);
    expect(queue.size).toBeGreaterThan(2000);
    expect(right.buffered).toBe(0);
    const order: string[] = [];
    const half = left.drained(queue.size / 2).then(() => order.push('half'));
    const all = left.drained(0).then(() => order.push('all'));
    order.push('first');
    queue.shift();
    await half;
    order.push('second');
    queue.shift();
    await all;
    expect(order).toEqual(['first', 'half', 'second', 'all']);
  });

  it('does not keep anyone waiting for a receiver that never comes once it is closed', async () => {
    const [left, right] = createMemoryPair();
    left.send(textDelta('x'.repeat(1000)));
    const drained = left.drained(0);
    right.close();
    await drained;
  });
});
