/**
 * A Channel that outlives its sockets. Both sides count frames, keep what is not acknowledged, and on a new socket go on
 * behind the other's cursor: what is sent arrives once and in order, or the channel ends with an error.
 */
import type { Channel, Clock, ControlError, Frame, FrameSink } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { isDelta } from './delta.js';
import { isObject } from './envelope.js';
import { fromControlError, toControlError } from './errors.js';
import { type Ack, type Close, END, isCursor } from './hello.js';
import { encodeLine, parseLine } from './ndjson.js';
import { FrameQueue } from './queue.js';
import { SentFrames } from './sent.js';

/** Past this much unacknowledged, frames wait in a queue, where adjacent deltas merge. */
export const WINDOW_BYTES = 16_000_000;
/** Past this much kept for the other side, the channel ends. */
export const MAX_KEPT_BYTES = 64_000_000;

/** Frames are left to the socket until this much waits in it. */
const SOCKET_BYTES = 1_000_000;
const ACK_FRAMES = 64;
const ACK_CHARS = 256_000;
const ACK_MS = 200;

/** A socket on which both sides have said hello. */
export interface Link {
  /** Bytes that the socket has not handed to the operating system yet. */
  readonly buffered: number;
  send(text: string): void;
}

export interface ReliableOptions {
  clock: Clock;
  /** This side closed the channel. What it sent before is still on its way until `onSettled`. */
  onClosing: () => void;
  /** Nothing more comes or goes: the socket can go too. Called once, with the error that ended the channel if one did. */
  onSettled: (error: Error | undefined) => void;
}

/** Everything but deltas is encoded when it is sent, so that a frame JSON cannot hold fails where it came from. */
interface EncodedFrame {
  type: 'text';
  text: string;
}

export class ReliableChannel implements Channel {
  readonly trusted = false;
  readonly final = false;
  readonly #options: ReliableOptions;
  readonly #sent = new SentFrames();
  readonly #waiting = new FrameQueue<Frame | EncodedFrame>();
  /** What arrived before anyone received. */
  readonly #inbox = new FrameQueue();
  #link: Link | undefined;
  #sink: FrameSink | undefined;
  #received = 0;
  #unacked = { frames: 0, chars: 0 };
  #stopAckTimer: (() => void) | undefined;
  #hasEnded = false;
  #inputEnd: { error: Error | undefined } | undefined;
  #closed: { reason: Error | undefined } | undefined;
  #isSettled = false;
  #drainWaits: { limit: number; resolve: () => void }[] = [];

  constructor(options: ReliableOptions) {
    this.#options = options;
  }

  get buffered(): number {
    return this.#closed === undefined ? this.#kept : 0;
  }

  /** How many frames have been received. */
  get cursor(): number {
    return this.#received;
  }

  receive(sink: FrameSink): void {
    if (this.#sink !== undefined) throw new HeddleError('internal', 'This channel has a receiver already.');
    this.#sink = sink;
    for (let frame = this.#inbox.shift(); frame !== undefined; frame = this.#inbox.shift()) this.#enter(sink, frame);
    if (this.#inputEnd !== undefined) sink.end(this.#inputEnd.error);
    if (this.#closed !== undefined) sink.closed?.(this.#closed.reason);
  }

  send(frame: Frame): void {
    if (this.#closed !== undefined || this.#hasEnded) return;
    this.#put(isDelta(frame) ? frame : encoded(frame));
  }

  drained(limit: number): Promise<void> {
    if (this.buffered <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaits.push({ limit, resolve }));
  }

  end(): void {
    if (this.#closed !== undefined || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#put(encoded(END));
  }

  close(reason?: Error): void {
    if (this.#closed !== undefined) return;
    this.#put(encoded(toClose(reason)));
    // Keeping so much for the other side may have closed it already.
    if (this.#closed !== undefined) return;
    this.#inbox.clear();
    this.#shut(reason);
    this.#options.onClosing();
  }

  /** Whether a reader who has received this many frames can go on from there. */
  canResumeFrom(cursor: number): boolean {
    return this.#sent.covers(cursor);
  }

  /** Uses a new socket; the other side has received `cursor` frames. */
  attach(link: Link, cursor: number): void {
    this.detach();
    this.#link = link;
    this.#sent.dropBefore(cursor);
    for (const text of this.#sent.from(cursor)) link.send(text);
    this.goOn();
  }

  /** The socket is gone; another may come. */
  detach(): void {
    this.#link = undefined;
    this.#stopAckTimer?.();
    this.#stopAckTimer = undefined;
    this.#unacked = { frames: 0, chars: 0 };
  }

  /** A text message of the attached socket. */
  take(text: string): void {
    if (this.#isSettled) return;
    let value: unknown;
    try {
      value = parseLine(text);
    } catch (thrown) {
      return this.drop(toHeddleError(thrown));
    }
    const type = isObject(value) ? value.type : undefined;
    if (type === 'heddle_ack') return this.#takeAck(value as Ack);
    this.#received += 1;
    if (type === 'heddle_close') return this.#takeClose(value as Close);
    this.#owe(text.length);
    if (type === END.type) this.#endInput(undefined);
    else this.#deliver(value as Frame);
  }

  /** No socket will come any more, or what came cannot be used. */
  drop(error?: HeddleError): void {
    if (this.#isSettled) return;
    this.#shut(error);
    this.#settle(error);
  }

  /** Sends what waits, as far as the socket and the other side take it. */
  goOn(): void {
    while (this.#canTransmit()) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#transmit(textOf(next));
    }
    this.#resolveWaits();
  }

  get #kept(): number {
    return this.#sent.size + this.#waiting.size;
  }

  #canTransmit(): boolean {
    return this.#link !== undefined && this.#link.buffered < SOCKET_BYTES && this.#sent.size < WINDOW_BYTES;
  }

  #put(frame: Frame | EncodedFrame): void {
    if (this.#waiting.length === 0 && this.#canTransmit()) this.#transmit(textOf(frame));
    else this.#waiting.push(frame);
    if (this.#kept > MAX_KEPT_BYTES) this.drop(overflow(frame));
  }

  #transmit(text: string): void {
    this.#sent.push(text);
    this.#link?.send(text);
  }

  #takeAck({ cursor }: Ack): void {
    if (!isCursor(cursor) || !this.#sent.covers(cursor)) {
      return this.drop(
        new HeddleError('invalid_frame', 'heddle_ack: cursor: expected a count of frames that were sent'),
      );
    }
    this.#sent.dropBefore(cursor);
    this.goOn();
    if (this.#closed !== undefined && this.#kept === 0) this.#settle(undefined);
  }

  #takeClose({ error, error_code }: Close): void {
    this.#acknowledge();
    const reason = typeof error === 'string' ? fromControlError({ error, error_code } as ControlError) : undefined;
    this.#shut(reason);
    this.#settle(reason);
  }

  #owe(chars: number): void {
    this.#unacked.frames += 1;
    this.#unacked.chars += chars;
    if (this.#unacked.frames >= ACK_FRAMES || this.#unacked.chars >= ACK_CHARS) return this.#acknowledge();
    this.#stopAckTimer ??= this.#options.clock.after(ACK_MS, () => this.#acknowledge(), { background: true });
  }

  #acknowledge(): void {
    this.#stopAckTimer?.();
    this.#stopAckTimer = undefined;
    this.#unacked = { frames: 0, chars: 0 };
    this.#link?.send(JSON.stringify({ type: 'heddle_ack', cursor: this.#received } satisfies Ack));
  }

  #deliver(frame: Frame): void {
    if (this.#inputEnd !== undefined) return;
    if (this.#sink === undefined) this.#inbox.push(frame);
    else this.#enter(this.#sink, frame);
  }

  /** A sink that throws breaks its contract; the channel is closed with what it threw. */
  #enter(sink: FrameSink, frame: Frame): void {
    try {
      sink.frame(frame);
    } catch (thrown) {
      this.close(toHeddleError(thrown));
    }
  }

  #endInput(error: Error | undefined): void {
    if (this.#inputEnd !== undefined) return;
    this.#inputEnd = { error };
    this.#sink?.end(error);
  }

  /** Tells this side; the other may still have to be told. */
  #shut(reason: Error | undefined): void {
    if (this.#closed !== undefined) return;
    this.#closed = { reason };
    this.#endInput(reason);
    this.#sink?.closed?.(reason);
    this.#resolveWaits();
  }

  #settle(error: Error | undefined): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#sent.clear();
    this.#waiting.clear();
    this.detach();
    this.#options.onSettled(error);
  }

  #resolveWaits(): void {
    if (this.#drainWaits.length === 0) return;
    const { buffered } = this;
    const met = this.#drainWaits.filter(({ limit }) => buffered <= limit);
    this.#drainWaits = this.#drainWaits.filter(({ limit }) => buffered > limit);
    for (const { resolve } of met) resolve();
  }
}

const encoded = (frame: object): EncodedFrame => ({ type: 'text', text: encodeLine(frame).slice(0, -1) });

const textOf = (frame: Frame | EncodedFrame): string =>
  frame.type === 'text' ? (frame as EncodedFrame).text : encoded(frame).text;

function toClose(reason: Error | undefined): Close {
  if (reason === undefined) return { type: 'heddle_close' };
  const { error, error_code } = toControlError('', reason);
  return { type: 'heddle_close', error, ...(error_code !== undefined && { error_code }) };
}

function overflow(frame: Frame | EncodedFrame): HeddleError {
  const data = { maxBytes: MAX_KEPT_BYTES };
  if (frame.type === 'text' && (frame as EncodedFrame).text.length > MAX_KEPT_BYTES) {
    return new HeddleError('frame_too_large', `A frame is longer than ${MAX_KEPT_BYTES} characters.`, { data });
  }
  return new HeddleError(
    'channel_closed',
    `The other side has not taken ${MAX_KEPT_BYTES / 1_000_000} MB that were sent to it.`,
    { data, hint: 'It reads too slowly, or is gone. Connect again and resume the session.' },
  );
}
