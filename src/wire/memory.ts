/** Two Channels in one process, linked. Frames cross as objects, at once. */
import type { Channel, Frame, FrameSink } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { isDelta } from './delta.js';
import { FrameQueue } from './queue.js';

/**
 * What one end sends is in the other's sink before `send` returns, so an answer may arrive before the `send` that
 * asked for it returns. A frame sent from inside a sink waits until that sink has returned: no sink is ever entered
 * twice, frames keep their order, and a long exchange does not grow the stack.
 */
export function createMemoryPair(): [Channel, Channel] {
  const link = new Link();
  return [new MemoryEnd(link), new MemoryEnd(link)];
}

class Link {
  readonly ends: MemoryEnd[] = [];
  closed = false;
  reason: Error | undefined;
  /** True while a sink runs. */
  busy = false;
  readonly #waits = new Set<() => void>();

  pump(): void {
    const [left, right] = this.ends;
    while (!this.busy && (left?.step() || right?.step()));
  }

  shut(reason: Error | undefined): void {
    if (this.closed) return;
    this.closed = true;
    this.reason = reason;
    for (const done of this.#waits) done();
  }

  untilClosedOr(event: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waits.delete(done);
        resolve();
      };
      this.#waits.add(done);
      event.then(done, done);
    });
  }
}

class MemoryEnd implements Channel {
  readonly trusted = true;
  readonly final = true;
  readonly #link: Link;
  readonly #inbox = new FrameQueue();
  #sink: FrameSink | undefined;
  #inputEnded = false;
  #toldEnd = false;
  #toldClosed = false;

  constructor(link: Link) {
    this.#link = link;
    link.ends.push(this);
  }

  get buffered(): number {
    const other = this.#other();
    return other.#inbox.size + (other.#sink?.backlog?.().size ?? 0);
  }

  receive(sink: FrameSink): void {
    if (this.#sink !== undefined) throw new HeddleError('internal', 'This channel has a receiver already.');
    this.#sink = sink;
    this.#link.pump();
  }

  send(frame: Frame): void {
    const other = this.#other();
    if (this.#link.closed || other.#inputEnded) return;
    const detached = detach(frame);
    if (this.#link.busy || other.#sink === undefined || other.#inbox.length > 0) other.#inbox.push(detached);
    else other.#enter(other.#sink, detached);
    this.#link.pump();
  }

  sendAll(frames: readonly Frame[]): void {
    const other = this.#other();
    const sink = other.#sink;
    const isClear = !this.#link.busy && other.#inbox.length === 0 && !this.#link.closed && !other.#inputEnded;
    if (!isClear || sink?.frames === undefined) {
      for (const frame of frames) this.send(frame);
      return;
    }
    const detached = frames.map(detach);
    other.#enter(sink, () => sink.frames?.(detached));
    this.#link.pump();
  }

  async drained(limit: number): Promise<void> {
    while (!this.#link.closed && this.buffered > limit) {
      const { inbox, backlog } = this.#other().#held();
      await this.#link.untilClosedOr((backlog ?? inbox).belowLimit(limit));
    }
  }

  end(): void {
    this.#other().#inputEnded = true;
    this.#link.pump();
  }

  close(reason?: Error): void {
    this.#link.shut(reason);
    // Whoever closes wants to hear no more; what it has sent still arrives at the other side.
    this.#inbox.clear();
    this.#link.pump();
  }

  /** Makes the next call into the sink, if one is due. */
  step(): boolean {
    const sink = this.#sink;
    if (sink === undefined) return false;
    const { closed, reason } = this.#link;
    const frame = this.#inbox.shift();
    if (frame !== undefined) {
      this.#enter(sink, frame);
    } else if (!this.#toldEnd && (this.#inputEnded || closed)) {
      this.#toldEnd = true;
      this.#enter(sink, () => sink.end(reason));
    } else if (!this.#toldClosed && closed) {
      this.#toldClosed = true;
      this.#enter(sink, () => sink.closed?.(reason));
    } else {
      return false;
    }
    return true;
  }

  /** A sink that throws breaks its contract; the pair is closed with what it threw. */
  #enter(sink: FrameSink, what: Frame | (() => void)): void {
    this.#link.busy = true;
    try {
      if (typeof what === 'function') what();
      else sink.frame(what);
    } catch (thrown) {
      this.#link.shut(toHeddleError(thrown));
      this.#inbox.clear();
    } finally {
      this.#link.busy = false;
    }
  }

  #held() {
    return { inbox: this.#inbox, backlog: this.#sink?.backlog?.() };
  }

  #other(): MemoryEnd {
    const [left, right] = this.#link.ends;
    const other = left === this ? right : left;
    if (other === undefined) throw new HeddleError('internal', 'This end of a memory pair is not linked.');
    return other;
  }
}

/**
 * What crosses is copied: a callback that changes its input changes nothing that was judged, and a consumer that changes
 * a message changes nothing that was logged. Deltas, of which there are many, are kept by nobody and pass as they are.
 */
function detach(frame: Frame): Frame {
  if (frame.type === 'stream_event') return isDelta(frame) ? frame : copy(frame, 'invalid_frame');
  if (frame.type === 'control_request') {
    return { ...frame, request: copy(frame.request, 'invalid_frame') };
  }
  if (frame.type === 'control_response') {
    return { ...frame, response: copy(frame.response, 'invalid_answer') };
  }
  return copy(frame, 'invalid_frame');
}

function copy<T>(value: T, code: 'invalid_frame' | 'invalid_answer'): T {
  try {
    return structuredClone(value);
  } catch (cause) {
    const what = code === 'invalid_frame' ? 'What is sent' : 'The answer to a control request';
    throw new HeddleError(
      code,
      `${what} must be plain data: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
        hint: 'Functions, symbols and class internals cannot cross a channel.',
      },
    );
  }
}
