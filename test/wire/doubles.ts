/** What the wire tests share: a clock that moves by hand, seeded randomness, frames, and channels over real streams. */
import { PassThrough } from 'node:stream';
import type { AssistantMessage, Clock, FrameSink, Message, StreamEventMessage } from '../../src/protocol/index.js';
import { createStdioChannel, type StdioChannel } from '../../src/wire/index.js';

export interface ManualClock extends Clock {
  advance(ms: number): void;
  readonly timers: number;
}

export function createManualClock(): ManualClock {
  let time = 0;
  let ids = 0;
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: () => time,
    monotonic: () => time,
    random: () => 0.5,
    uuid: () => {
      ids += 1;
      return `00000000-0000-4000-8000-${String(ids).padStart(12, '0')}`;
    },
    after(ms, callback) {
      const timer = { at: time + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        time = next.at;
        timers = timers.filter((other) => other !== next);
        next.callback();
      }
      time = end;
    },
    get timers() {
      return timers.length;
    },
  };
}

/** The same numbers for the same seed, on every machine. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
}

export function textDelta(text: string, fields: { index?: number; parent?: string | null } = {}): StreamEventMessage {
  return {
    type: 'stream_event',
    event: { type: 'content_block_delta', index: fields.index ?? 0, delta: { type: 'text_delta', text } },
    parent_tool_use_id: fields.parent ?? null,
    session_id: 's',
    uuid: 'u',
  };
}

export function userMessage(content: string): Message {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: 's' };
}

export function assistantMessage(text: string): AssistantMessage {
  return {
    type: 'assistant',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text }],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    parent_tool_use_id: null,
    session_id: 's',
    uuid: 'u',
  };
}

/** Two stdio channels that read what the other writes: untrusted, through bytes. */
export function createStreamPair(): [StdioChannel, StdioChannel] {
  const toRight = new PassThrough();
  const toLeft = new PassThrough();
  return [
    createStdioChannel({ input: toLeft, output: toRight }),
    createStdioChannel({ input: toRight, output: toLeft }),
  ];
}

export interface RecordingSink extends FrameSink {
  /** `frame`, `end` and `closed` in the order in which they came. */
  readonly calls: unknown[][];
  /** Resolves at the next call that fits. */
  until(kind: 'frame' | 'end' | 'closed'): Promise<unknown>;
}

export function createSink(onFrame?: (frame: unknown) => void): RecordingSink {
  const calls: unknown[][] = [];
  const waits: { kind: string; resolve: (value: unknown) => void }[] = [];
  const note = (kind: string, value: unknown): void => {
    calls.push([kind, value]);
    for (const wait of waits.splice(0)) {
      if (wait.kind === kind) wait.resolve(value);
      else waits.push(wait);
    }
  };
  return {
    calls,
    frame(frame) {
      note('frame', frame);
      onFrame?.(frame);
    },
    end: (error) => note('end', error),
    closed: (reason) => note('closed', reason),
    until: (kind) => {
      const seen = calls.find(([name]) => name === kind);
      if (seen !== undefined) return Promise.resolve(seen[1]);
      return new Promise((resolve) => waits.push({ kind, resolve }));
    },
  };
}

/** What a promise rejects with; fails the test when it does not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
    throw new TypeError('something other than an Error was thrown', { cause: thrown });
  }
  throw new Error('expected a rejection');
}
