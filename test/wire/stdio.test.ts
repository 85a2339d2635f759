import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Frame, HeddleError } from '../../src/protocol/index.js';
import { createStdioChannel, MERGE_ABOVE_BYTES, parseLine } from '../../src/wire/index.js';
import { assistantMessage, createSink, createStreamPair, textDelta } from './doubles.js';

const frame = (n: number): Frame => ({ type: 'x', n });
const received = (calls: unknown[][]): unknown[] =>
  calls.filter(([kind]) => kind === 'frame').map(([, value]) => value);

/** An output that takes one write at a time, when told to. */
function createSlowOutput() {
  const writes: string[] = [];
  let release: (() => void) | undefined;
  const output = new Writable({
    highWaterMark: 1024,
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString());
      release = done;
    },
  });
  const frames = (): Frame[] =>
    writes
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => parseLine(line) as Frame);
  return {
    output,
    writes,
    frames,
    /** Takes the write that waits; false when none does. */
    take: (): boolean => {
      const done = release;
      release = undefined;
      done?.();
      return done !== undefined;
    },
  };
}

/** The text of a delta, or that of a whole message in brackets. */
function contentOf(one: Frame): string {
  if (one.type === 'stream_event') return (one as unknown as { event: { delta: { text: string } } }).event.delta.text;
  return `[${(one as unknown as { message: { content: { text: string }[] } }).message.content[0]?.text}]`;
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('stdio channel: reading', () => {
  it('is untrusted and final', () => {
    const [left] = createStreamPair();
    expect([left.trusted, left.final]).toEqual([false, true]);
  });

  it('carries frames both ways, in order', async () => {
    const [left, right] = createStreamPair();
    const [toLeft, toRight] = [createSink(), createSink()];
    left.send(frame(0));
    left.receive(toLeft);
    right.receive(toRight);
    for (let n = 1; n < 100; n += 1) left.send(frame(n));
    right.send({ type: 'x', text: 'a\u2028b\n漢😀' });
    left.end();
    right.end();
    await Promise.all([toLeft.until('end'), toRight.until('end')]);
    expect(received(toRight.calls)).toEqual(Array.from({ length: 100 }, (_, n) => frame(n)));
    expect(received(toLeft.calls)).toEqual([{ type: 'x', text: 'a\u2028b\n漢😀' }]);
    expect(toRight.calls.at(-1)).toEqual(['end', undefined]);
  });

  it('delivers a last line without LF, then the end', async () => {
    const input = new PassThrough();
    const sink = createSink();
    createStdioChannel({ input, output: new PassThrough() }).receive(sink);
    input.end('{"type":"x","n":1}\n{"type":"x","n":2}');
    await sink.until('end');
    expect(sink.calls).toEqual([
      ['frame', frame(1)],
      ['frame', frame(2)],
      ['end', undefined],
    ]);
  });

  it('reads streams that give strings', async () => {
    const input = new PassThrough();
    input.setEncoding('utf8');
    const sink = createSink();
    createStdioChannel({ input, output: new PassThrough() }).receive(sink);
    input.end('{"type":"é"}\n');
    await sink.until('end');
    expect(received(sink.calls)).toEqual([{ type: 'é' }]);
  });

  it('ends with invalid_frame at a line that is not JSON, after what came before and without what follows', async () => {
    const input = new PassThrough();
    const sink = createSink();
    createStdioChannel({ input, output: new PassThrough() }).receive(sink);
    const line = `Segmentation fault ${'x'.repeat(500)}`;
    input.write(`{"type":"x","n":1}\n${line}\n{"type":"x","n":2}\n`);
    const error = (await sink.until('end')) as HeddleError;
    input.write('{"type":"x","n":3}\n');
    await tick();
    expect(error).toMatchObject({ code: 'invalid_frame', data: { start: line.slice(0, 80), length: line.length } });
    expect(sink.calls).toEqual([
      ['frame', frame(1)],
      ['end', error],
    ]);
  });

  it('ends with frame_too_large at a line over the cap', async () => {
    const input = new PassThrough();
    const sink = createSink();
    createStdioChannel({ input, output: new PassThrough(), maxLineBytes: 100 }).receive(sink);
    input.write(`{"type":"x","n":1}\n"${'x'.repeat(200)}`);
    expect(await sink.until('end')).toMatchObject({ code: 'frame_too_large' });
    expect(received(sink.calls)).toEqual([frame(1)]);
  });

  it('ends with channel_closed when the input breaks, also before anyone receives', async () => {
    const broken = new PassThrough();
    const late = createStdioChannel({ input: broken, output: new PassThrough() });
    broken.destroy(new Error('EIO'));
    await tick();
    const sink = createSink();
    late.receive(sink);
    expect(await sink.until('end')).toMatchObject({
      code: 'channel_closed',
      message: 'Reading the input failed. (EIO)',
    });

    const gone = new PassThrough();
    gone.destroy();
    await tick();
    const other = createSink();
    createStdioChannel({ input: gone, output: new PassThrough() }).receive(other);
    expect(await other.until('end')).toMatchObject({ code: 'channel_closed' });
  });

  it('stops within a chunk when the receiver closes, and tells it once', async () => {
    const input = new PassThrough();
    const channel = createStdioChannel({ input, output: new PassThrough() });
    const sink = createSink((taken) => {
      if ((taken as { n: number }).n === 1) channel.close();
    });
    channel.receive(sink);
    input.write('{"type":"x","n":1}\n{"type":"x","n":2}\n');
    await sink.until('closed');
    await tick();
    expect(sink.calls).toEqual([
      ['frame', frame(1)],
      ['end', undefined],
      ['closed', undefined],
    ]);
    expect(input.destroyed).toBe(true);
  });
});

describe('stdio channel: writing', () => {
  it('writes all frames of one tick at once, in the same tick', async () => {
    const { output, writes } = createSlowOutput();
    const channel = createStdioChannel({ input: new PassThrough(), output });
    for (let n = 0; n < 10; n += 1) channel.send(frame(n));
    expect(writes).toEqual([]);
    await Promise.resolve();
    expect(writes).toEqual([Array.from({ length: 10 }, (_, n) => `{"type":"x","n":${n}}\n`).join('')]);
  });

  it('queues behind a slow reader, merges deltas past 1 MB and keeps every durable message in order', async () => {
    const { output, frames, take, writes } = createSlowOutput();
    const channel = createStdioChannel({ input: new PassThrough(), output });
    channel.send({ ...assistantMessage('first'), padding: 'x'.repeat(4000) });
    await Promise.resolve();
    let sent = '[first]';
    for (let n = 0; n < 40_000; n += 1) {
      sent += `${n},`;
      channel.send(textDelta(`${n},`));
      if (n % 10_000 === 9_999) {
        sent += `[${n}]`;
        channel.send(assistantMessage(String(n)));
      }
    }
    expect(writes).toHaveLength(1);
    expect(channel.buffered).toBeGreaterThan(MERGE_ABOVE_BYTES);
    const flushed = channel.flushed();
    while (take()) await tick();
    await flushed;
    const all = frames();
    expect(all.map(contentOf).join('')).toBe(sent);
    expect(all.filter(({ type }) => type === 'assistant')).toHaveLength(5);
    expect(all.length).toBeLessThan(10_000);
    expect(channel.buffered).toBe(0);
  });

  it('tells when enough is written', async () => {
    const { output, take } = createSlowOutput();
    const channel = createStdioChannel({ input: new PassThrough(), output });
    for (let n = 0; n < 5; n += 1) {
      channel.send(assistantMessage('x'.repeat(4000)));
      await Promise.resolve();
    }
    const before = channel.buffered;
    let drained = false;
    const wait = channel.drained(before / 2).then(() => {
      drained = true;
    });
    await tick();
    expect(drained).toBe(false);
    while (take()) await tick();
    await wait;
    expect(channel.buffered).toBe(0);
    await channel.drained(0);
  });

  it('throws invalid_frame at the sender for what JSON cannot hold, also while the reader is slow', async () => {
    const { output, take, frames } = createSlowOutput();
    const channel = createStdioChannel({ input: new PassThrough(), output });
    const bad: Frame = { type: 'x', n: 1n };
    expect(() => channel.send(bad)).toThrow(expect.objectContaining({ code: 'invalid_frame' }));
    channel.send(assistantMessage('x'.repeat(4000)));
    await Promise.resolve();
    expect(() => channel.send(bad)).toThrow(expect.objectContaining({ code: 'invalid_frame' }));
    channel.send(frame(2));
    while (take()) await tick();
    expect(frames().map(({ type }) => type)).toEqual(['assistant', 'x']);
  });

  it('end and close lose nothing that was sent, however slow the reader is', async () => {
    for (const finish of ['end', 'close'] as const) {
      const { output, take, frames } = createSlowOutput();
      const channel = createStdioChannel({ input: new PassThrough(), output });
      channel.receive(createSink());
      channel.send(assistantMessage('x'.repeat(4000)));
      await Promise.resolve();
      for (let n = 0; n < 20; n += 1) channel.send(textDelta(String(n)));
      channel[finish]();
      channel.send(frame(99));
      const flushed = channel.flushed();
      while (take()) await tick();
      await flushed;
      expect(frames()).toHaveLength(21);
      expect(output.writableFinished).toBe(true);
    }
  });

  it('closes with channel_closed when the reader goes away, and nobody waits any longer', async () => {
    const { output } = createSlowOutput();
    const channel = createStdioChannel({ input: new PassThrough(), output });
    const sink = createSink();
    channel.receive(sink);
    for (let n = 0; n < 3; n += 1) {
      channel.send(assistantMessage('x'.repeat(4000)));
      await Promise.resolve();
    }
    const waits = [channel.drained(0), channel.flushed()];
    output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    const reason = await sink.until('closed');
    await Promise.all(waits);
    expect(reason).toMatchObject({
      code: 'channel_closed',
      message: 'The reader of our output went away. (write EPIPE)',
    });
    expect(sink.calls).toEqual([
      ['end', reason],
      ['closed', reason],
    ]);
    channel.send(frame(1));
    channel.end();
    expect(channel.buffered).toBe(0);
  });

  it('reads a child to its end after the child stopped reading, then closes with the reason', async () => {
    const input = new PassThrough();
    const { output } = createSlowOutput();
    const channel = createStdioChannel({ input, output, readToEnd: true });
    const sink = createSink();
    channel.receive(sink);
    output.destroy(new Error('write EPIPE'));
    await tick();
    channel.send(frame(0));
    input.end('{"type":"x","n":1}\n');
    const reason = await sink.until('closed');
    expect(reason).toMatchObject({ code: 'channel_closed', cause: { message: 'write EPIPE' } });
    expect(sink.calls).toEqual([
      ['frame', frame(1)],
      ['end', undefined],
      ['closed', reason],
    ]);
  });
});
