import { describe, expect, it } from 'vitest';
import type { Frame, StreamEventMessage } from '../../src/protocol/index.js';
import { FrameQueue, MERGE_ABOVE_BYTES } from '../../src/wire/index.js';
import { assistantMessage, createRandom, rejectionOf, textDelta } from './doubles.js';

type StreamDelta = { type: string; text?: string; thinking?: string; partial_json?: string };

const delta = (fields: StreamDelta & Record<string, unknown>, index = 0): StreamEventMessage => ({
  ...textDelta(''),
  event: { type: 'content_block_delta', index, delta: fields } as StreamEventMessage['event'],
});

/** A queue past the limit: from here on, deltas merge. */
function createFullQueue(): FrameQueue {
  const queue = new FrameQueue();
  queue.push(assistantMessage('x'.repeat(MERGE_ABOVE_BYTES)));
  return queue;
}

function drain(queue: FrameQueue): Frame[] {
  const frames: Frame[] = [];
  for (let frame = queue.shift(); frame !== undefined; frame = queue.shift()) frames.push(frame);
  return frames;
}

const textOf = (frame: Frame | undefined): unknown => (frame as { event?: { delta?: StreamDelta } }).event?.delta?.text;

describe('frame queue', () => {
  it('gives frames in order, before and after the reader waits', async () => {
    const queue = new FrameQueue<{ n: number }>();
    queue.push({ n: 1 });
    queue.push({ n: 2 });
    const seen = [await queue.next(), await queue.next()];
    const waiting = [queue.next(), queue.next()];
    queue.push({ n: 3 });
    queue.push({ n: 4 });
    queue.push({ n: 5 });
    seen.push(...(await Promise.all(waiting)), await queue.next());
    expect(seen.map(({ value }) => value?.n)).toEqual([1, 2, 3, 4, 5]);
  });

  it('keeps order and size through any mix of pushes and reads', () => {
    const random = createRandom(7);
    const queue = new FrameQueue<{ n: number; text: string }>();
    const model: number[] = [];
    for (let n = 0; n < 8_000; n += 1) {
      if (random(100) < (n % 2000 < 1250 ? 70 : 20)) {
        queue.push({ n, text: 'x'.repeat(random(20)) });
        model.push(n);
      } else {
        expect(queue.shift()?.n).toBe(model.shift());
      }
      expect(queue.length).toBe(model.length);
      expect(queue.size > 0).toBe(model.length > 0);
    }
    while (queue.shift() !== undefined);
    expect(queue.size).toBe(0);
  });

  it('gives what is queued before the end, then the error once', async () => {
    const queue = new FrameQueue<{ n: number }>();
    queue.push({ n: 1 });
    queue.end(new Error('broken'));
    queue.push({ n: 2 });
    queue.end(new Error('too late'));
    expect(await queue.next()).toEqual({ value: { n: 1 }, done: false });
    expect((await rejectionOf(queue.next())).message).toBe('broken');
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it('wakes a waiting reader at the end', async () => {
    const clean = new FrameQueue();
    const done = clean.next();
    clean.end();
    expect(await done).toEqual({ value: undefined, done: true });

    const broken = new FrameQueue();
    const [first, second] = [broken.next(), broken.next()];
    const rejection = rejectionOf(first);
    broken.end(new Error('broken'));
    expect((await rejection).message).toBe('broken');
    expect(await second).toEqual({ value: undefined, done: true });
  });

  it('stops at break: what is left and what comes later is discarded', async () => {
    const queue = new FrameQueue<{ n: number }>();
    for (let n = 1; n <= 3; n += 1) queue.push({ n });
    const seen: number[] = [];
    for await (const { n } of queue) {
      seen.push(n);
      if (n === 2) break;
    }
    queue.push({ n: 4 });
    expect(seen).toEqual([1, 2]);
    expect([queue.size, queue.length]).toEqual([0, 0]);
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it('tells when the size is at or below a limit', async () => {
    const queue = new FrameQueue<{ text: string }>();
    await queue.belowLimit(0);
    for (let n = 0; n < 4; n += 1) queue.push({ text: 'x'.repeat(1000) });
    const each = queue.size / 4;
    const reached: string[] = [];
    const waits = [
      queue.belowLimit(each * 2).then(() => reached.push('half')),
      queue.belowLimit(0).then(() => reached.push('empty')),
    ];
    queue.shift();
    await Promise.resolve();
    expect(reached).toEqual([]);
    queue.shift();
    await waits[0];
    expect(reached).toEqual(['half']);
    queue.end();
    await Promise.resolve();
    expect(reached).toEqual(['half']);
    await queue.return();
    await waits[1];
    expect(reached).toEqual(['half', 'empty']);
  });

  it('counts about as many bytes as the frame has', () => {
    for (const frame of [
      textDelta('hello'),
      textDelta('x'.repeat(5000)),
      assistantMessage('y'.repeat(300)),
      { type: 'x', list: Array.from({ length: 2000 }, (_, n) => ({ n, deep: [{ s: 'abc' }] })) },
    ]) {
      const queue = new FrameQueue();
      queue.push(frame);
      const real = JSON.stringify(frame).length;
      expect(queue.size).toBeGreaterThan(real / 2);
      expect(queue.size).toBeLessThan(real * 2 + 300);
    }
  });

  it('counts a frame with a cycle without hanging', () => {
    const frame: Record<string, unknown> & { type: string } = { type: 'x' };
    frame.self = [frame, frame];
    const queue = new FrameQueue();
    queue.push(frame);
    expect(queue.size).toBeGreaterThan(0);
  });
});

describe('merging of deltas past the limit', () => {
  it('does not happen below it', () => {
    const queue = new FrameQueue();
    queue.push(textDelta('a'));
    queue.push(textDelta('b'));
    expect(drain(queue).map(textOf)).toEqual(['a', 'b']);
  });

  it('joins neighbours of the same kind into a new frame and leaves the old ones as they were', () => {
    const queue = createFullQueue();
    const [first, second, third] = [textDelta('a'), textDelta('b'), textDelta('c')].map((frame) =>
      Object.freeze({ ...frame, event: Object.freeze(frame.event) }),
    ) as [Frame, Frame, Frame];
    for (const frame of [first, second, third]) queue.push(frame);
    const frames = drain(queue);
    expect(frames).toHaveLength(2);
    expect(frames[1]).toEqual(textDelta('abc'));
    expect(frames[1]).not.toBe(first);
    expect([first, second, third].map(textOf)).toEqual(['a', 'b', 'c']);
    expect(queue.size).toBe(0);
  });

  it('joins thinking and tool input as well', () => {
    const queue = createFullQueue();
    for (const text of ['{"a', '":1}']) queue.push(delta({ type: 'input_json_delta', partial_json: text }));
    for (const text of ['hm', 'mm']) queue.push(delta({ type: 'thinking_delta', thinking: text }));
    const events = drain(queue)
      .slice(1)
      .map((frame) => (frame as StreamEventMessage).event);
    expect(events).toEqual([
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hmmm' } },
    ]);
  });

  it('leaves apart what differs in block, kind, parent, session, or says more than its text', () => {
    const apart: Frame[][] = [
      [textDelta('a', { index: 0 }), textDelta('b', { index: 1 })],
      [textDelta('a', { parent: 'p' }), textDelta('b')],
      [textDelta('a'), { ...textDelta('b'), session_id: 'other' }],
      [textDelta('a'), delta({ type: 'thinking_delta', thinking: 'b' })],
      [delta({ type: 'signature_delta', signature: 'a' }), delta({ type: 'signature_delta', signature: 'b' })],
      [delta({ type: 'text_delta', text: 'a', extra: 1 }), delta({ type: 'text_delta', text: 'b' })],
      [assistantMessage('a'), assistantMessage('b')],
      [textDelta('a'), assistantMessage('between'), textDelta('b')],
      [textDelta('a'), { ...textDelta(''), event: { type: 'content_block_stop', index: 0 } }, textDelta('b')],
    ];
    for (const frames of apart) {
      const queue = createFullQueue();
      for (const frame of frames) queue.push(frame);
      expect(drain(queue).slice(1)).toEqual(frames);
    }
  });

  it('keeps all text and every durable message in order, and bounds what one frame may hold', () => {
    const random = createRandom(11);
    const queue = createFullQueue();
    let text = '';
    const durable: string[] = [];
    for (let n = 0; n < 30_000; n += 1) {
      if (random(1000) === 0) {
        durable.push(String(n));
        queue.push(assistantMessage(String(n)));
        text += `[${n}]`;
      } else {
        const piece = String.fromCharCode(97 + random(26)).repeat(1 + random(200));
        queue.push(textDelta(piece));
        text += piece;
      }
    }
    const frames = drain(queue).slice(1);
    const content = (frame: Frame): string => {
      if (frame.type === 'stream_event') return String(textOf(frame));
      return `[${(frame as ReturnType<typeof assistantMessage>).message.content.map((block) => (block as { text: string }).text).join('')}]`;
    };
    expect(frames.filter(({ type }) => type === 'assistant')).toHaveLength(durable.length);
    expect(frames.length).toBeLessThan(durable.length * 2 + 10);
    expect(frames.map(content).join('')).toBe(text);
    for (const frame of frames) expect(content(frame).length).toBeLessThan(MERGE_ABOVE_BYTES + 1000);
  });
});
