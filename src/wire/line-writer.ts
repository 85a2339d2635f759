/** Writes frames to a byte stream: one write for what comes in one tick, and a queue while the reader is slow. */
import type { Writable } from 'node:stream';
import type { Frame } from '../protocol/index.js';
import { isDelta } from './delta.js';
import { encodeLine } from './ndjson.js';
import { FrameQueue } from './queue.js';

/** A batch this long is written without waiting for the end of the tick. */
const BATCH_CHARS = 64 * 1024;

export interface LineWriter {
  /** Bytes taken and not yet handed to the operating system. */
  readonly buffered: number;
  /** Throws `invalid_frame` for what JSON cannot hold. After `end` or a loss, frames are ignored. */
  write(frame: Frame): void;
  /** Resolves when `buffered` is at or below the limit, or the stream is lost. */
  drained(limit: number): Promise<void>;
  /** Resolves when everything taken is handed to the operating system, or the stream is lost. */
  flushed(): Promise<void>;
  /** Writes what is left, however slow the reader is, and ends the stream without destroying it. */
  end(): void;
}

/** Everything but deltas is encoded when it is sent, so that a frame JSON cannot hold fails where it came from. */
interface EncodedLine {
  type: 'line';
  line: string;
}

interface Wait {
  isMet(): boolean;
  resolve(): void;
}

/** `onLost` is called once, when the reader has gone away; never for a stream that we ended ourselves. */
export function createLineWriter(output: Writable, onLost: (cause?: Error) => void): LineWriter {
  const queue = new FrameQueue<Frame | EncodedLine>();
  let batch = '';
  let flushIsDue = false;
  let isBlocked = false;
  let isEnded = false;
  let isLost = false;
  let writing = 0;
  let waits: Wait[] = [];

  const buffered = (): number => batch.length + queue.size + (isLost ? 0 : output.writableLength);
  const isFlushed = (): boolean => isLost || (batch === '' && queue.length === 0 && writing === 0);

  function settleWaits(): void {
    if (waits.length === 0) return;
    const met = waits.filter((wait) => wait.isMet());
    waits = waits.filter((wait) => !met.includes(wait));
    for (const wait of met) wait.resolve();
  }

  function until(isMet: () => boolean): Promise<void> {
    if (isMet()) return Promise.resolve();
    return new Promise((resolve) => waits.push({ isMet, resolve }));
  }

  function lose(cause?: Error): void {
    if (isLost) return;
    isLost = true;
    batch = '';
    queue.clear();
    settleWaits();
    if (!isEnded) onLost(cause);
  }

  function put(text: string): void {
    writing += 1;
    const mayGoOn = output.write(text, (error) => {
      writing -= 1;
      if (error) lose(error);
      settleWaits();
    });
    isBlocked = !mayGoOn;
  }

  function flush(): void {
    flushIsDue = false;
    if (isLost || batch === '') return;
    const text = batch;
    batch = '';
    put(text);
  }

  function takeQueued(maxChars: number): string {
    let text = '';
    while (text.length < maxChars) {
      const next = queue.shift();
      if (next === undefined) break;
      text += next.type === 'line' ? (next as EncodedLine).line : encodeLine(next);
    }
    return text;
  }

  function goOn(): void {
    isBlocked = false;
    while (!isBlocked && !isLost && !isEnded && queue.length > 0) put(takeQueued(BATCH_CHARS));
    settleWaits();
  }

  function write(frame: Frame): void {
    if (isEnded || isLost) return;
    if (isBlocked) {
      queue.push(isDelta(frame) ? frame : { type: 'line', line: encodeLine(frame) });
      return;
    }
    batch += encodeLine(frame);
    if (batch.length >= BATCH_CHARS) {
      flush();
    } else if (!flushIsDue) {
      flushIsDue = true;
      queueMicrotask(flush);
    }
  }

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    if (isLost) return;
    const rest = batch + takeQueued(Number.POSITIVE_INFINITY);
    batch = '';
    if (rest !== '') put(rest);
    output.end();
  }

  output.on('drain', goOn);
  output.on('error', lose);
  output.on('close', () => lose());

  return {
    get buffered() {
      return buffered();
    },
    write,
    drained: (limit) => until(() => isLost || buffered() <= limit),
    flushed: () => until(isFlushed),
    end,
  };
}
