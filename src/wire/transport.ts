/** The public shape of a carrier that a user supplies, and a Channel made from one. */
import type { Channel, Clock, Frame, FrameSink } from '../protocol/index.js';
import { HeddleError, systemClock } from '../protocol/plain.js';
import { isDelta } from './delta.js';
import { encodeLine } from './ndjson.js';
import { FrameQueue } from './queue.js';

export interface Transport {
  /** Takes one line of JSON with its newline. A promise means: the next line after it has resolved. */
  write(data: string): void | Promise<void>;
  /** Closes it both ways. */
  close(): void;
  /** Whether `write` may be called. */
  isReady(): boolean;
  /** What the other side sends, as parsed JSON, until it sends no more. Called once. */
  readMessages(): AsyncGenerator<Frame, void, unknown>;
  /** Nothing more will be written. */
  endInput(): void;
}

export interface TransportOptions {
  /** Times the wait for a transport that is not ready yet (30 s at most). The real one when absent. */
  clock?: Clock;
}

/** A transport is not ready for so long at most. */
const READY_MS = 30_000;
const READY_POLL_MS = 10;

interface Line {
  type: 'line';
  line: string;
}

/** An error that the transport throws closes the channel as `channel_closed`, with that error as its cause. */
export function fromTransport(transport: Transport, options: TransportOptions = {}): Channel {
  return new TransportChannel(transport, options);
}

class TransportChannel implements Channel {
  readonly trusted = false;
  readonly final = true;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #queue = new FrameQueue<Frame | Line>();
  #messages: AsyncGenerator<Frame, void, unknown> | undefined;
  #sink: FrameSink | undefined;
  #writing = 0;
  #hasEnded = false;
  #hasToldEnd = false;
  #closed: { reason: Error | undefined } | undefined;
  /** Until when it may become ready, while it is not. */
  #readyBy: number | undefined;
  #stopPoll: () => void = () => {};
  #waits: { limit: number; resolve: () => void }[] = [];

  constructor(transport: Transport, { clock = systemClock }: TransportOptions) {
    this.#transport = transport;
    this.#clock = clock;
  }

  get buffered(): number {
    return this.#closed === undefined ? this.#queue.size + this.#writing : 0;
  }

  receive(sink: FrameSink): void {
    if (this.#sink !== undefined) throw new HeddleError('internal', 'This channel has a receiver already.');
    this.#sink = sink;
    if (this.#closed !== undefined) return this.#tellClosed(this.#closed.reason);
    this.#read(sink).catch((thrown: unknown) => this.close(failed(thrown)));
  }

  send(frame: Frame): void {
    if (this.#closed !== undefined || this.#hasEnded) return;
    this.#queue.push(isDelta(frame) ? frame : { type: 'line', line: encodeLine(frame) });
    this.#goOn();
  }

  drained(limit: number): Promise<void> {
    if (this.buffered <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#waits.push({ limit, resolve }));
  }

  end(): void {
    if (this.#closed !== undefined || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#goOn();
  }

  close(reason?: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = { reason };
    this.#stopPoll();
    this.#queue.clear();
    this.#resolveWaits();
    this.#messages?.return().catch(() => {});
    try {
      this.#transport.close();
    } catch {
      // It is closed for us; what it thinks of that changes nothing.
    }
    if (this.#sink !== undefined) this.#tellClosed(reason);
  }

  #tellEnd(error: Error | undefined): void {
    if (this.#hasToldEnd) return;
    this.#hasToldEnd = true;
    this.#sink?.end(error);
  }

  #tellClosed(reason: Error | undefined): void {
    this.#tellEnd(reason);
    this.#sink?.closed?.(reason);
  }

  async #read(sink: FrameSink): Promise<void> {
    this.#messages = this.#transport.readMessages();
    for await (const frame of this.#messages) {
      if (this.#closed !== undefined) return;
      sink.frame(frame);
    }
    if (this.#closed === undefined) this.#tellEnd(undefined);
  }

  /** Writes what waits, one line after the other. */
  #goOn(): void {
    if (this.#writing > 0 || this.#closed !== undefined || !this.#isReady()) return;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const line = next.type === 'line' ? (next as Line).line : encodeLine(next);
        const written = this.#transport.write(line);
        if (written !== undefined) return this.#await(written, line.length);
      }
      if (this.#hasEnded) this.#transport.endInput();
    } catch (thrown) {
      this.close(failed(thrown));
    }
    this.#resolveWaits();
  }

  #await(written: Promise<void>, size: number): void {
    this.#writing = size;
    written.then(
      () => {
        this.#writing = 0;
        this.#resolveWaits();
        this.#goOn();
      },
      (thrown: unknown) => this.close(failed(thrown)),
    );
  }

  /** False when nothing may be written yet; then it is looked at again soon. */
  #isReady(): boolean {
    const clock = this.#clock;
    if (this.#transport.isReady()) {
      this.#readyBy = undefined;
      return true;
    }
    this.#readyBy ??= clock.monotonic() + READY_MS;
    this.#stopPoll();
    if (clock.monotonic() >= this.#readyBy) {
      this.close(new HeddleError('channel_closed', `The transport was not ready within ${READY_MS / 1000} s.`));
    } else {
      this.#stopPoll = clock.after(READY_POLL_MS, () => this.#goOn());
    }
    return false;
  }

  #resolveWaits(): void {
    const { buffered } = this;
    const met = this.#waits.filter(({ limit }) => buffered <= limit);
    this.#waits = this.#waits.filter(({ limit }) => buffered > limit);
    for (const { resolve } of met) resolve();
  }
}

function failed(thrown: unknown): HeddleError {
  if (thrown instanceof HeddleError) return thrown;
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  return new HeddleError('channel_closed', `The transport failed: ${words}`, { cause: thrown });
}
