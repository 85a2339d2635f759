import type { Message } from '../protocol/index.js';

/** One watcher of a session. */
export interface Watcher {
  /** Takes a message at once. Must not throw; a slow watcher queues on its own side. */
  deliver(message: Message): void;
  /** As `deliver` for each, where taking several at once is cheaper. */
  deliverAll?(messages: readonly Message[]): void;
  /** How far this watcher is behind, if it can be. */
  backlog?(): { readonly size: number; belowLimit(limit: number): Promise<void> } | undefined;
  /** Resolves when others have what it passes on. */
  shown?(signal: AbortSignal): Promise<void>;
}

interface Kept {
  seq: number;
  message: Message;
}

interface Held {
  message: Message;
  durable: boolean;
  written: boolean;
  /** Called once it is shown. */
  onShown?: () => void;
}

/** A slower consumer than this makes the engine wait before its next model call. */
const PAUSE_ABOVE_BYTES = 16 * 1024 * 1024;

/** The ordered messages of a session. Durable ones are numbered and kept for watchers that come back. */
export class Outbox {
  #watchers: readonly Watcher[] = [];
  readonly #kept: Kept[] = [];
  #seq = 0;
  /** Messages behind one whose entry is still being written. Empty with a store that writes at once. */
  readonly #held: Held[] = [];

  get seq(): number {
    return this.#seq;
  }

  /** Adds a watcher; with `after`, it first gets the durable messages behind that cursor. */
  attach(watcher: Watcher, options: { after?: number } = {}): () => void {
    if (options.after !== undefined) {
      for (const kept of this.#kept) if (kept.seq > options.after) watcher.deliver(kept.message);
    }
    this.#watchers = [...this.#watchers, watcher];
    return () => {
      this.#watchers = this.#watchers.filter((other) => other !== watcher);
    };
  }

  /** A message that nobody needs to see twice: deltas, states. */
  emit(message: Message): void {
    if (this.#held.length === 0) this.#show(message, false);
    else this.#held.push({ message, durable: false, written: true });
  }

  /** As `emit` for each, in one go: what came from the network as a batch stays one. */
  emitAll(messages: readonly Message[]): void {
    if (this.#held.length > 0) {
      for (const message of messages) this.emit(message);
      return;
    }
    for (const watcher of this.#watchers) {
      if (watcher.deliverAll !== undefined) watcher.deliverAll(messages);
      else for (const message of messages) watcher.deliver(message);
    }
  }

  /** A message that a watcher who comes back must find. With a promise, it is shown once that has settled. */
  emitDurable(message: Message, written?: void | Promise<void>): void {
    if (this.#held.length === 0 && !(written instanceof Promise)) {
      this.#show(message, true);
      return;
    }
    const held: Held = { message, durable: true, written: !(written instanceof Promise) };
    this.#held.push(held);
    if (!(written instanceof Promise)) return;
    const show = () => {
      held.written = true;
      this.#release();
    };
    void written.then(show, show);
  }

  /** Resolves when all that was emitted until now has been shown, or when it is no use waiting any longer. */
  async shown(signal: AbortSignal): Promise<void> {
    const last = this.#held.at(-1);
    if (last !== undefined) {
      const { onShown } = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last.onShown = () => {
        onShown?.();
        resolve();
      };
      await unlessAborted(promise, signal);
    }
    for (const watcher of this.#watchers) await watcher.shown?.(signal);
  }

  /** Resolves when no watcher is too far behind, or when it is no use waiting any longer. */
  async ready(signal: AbortSignal): Promise<void> {
    for (const watcher of this.#watchers) {
      const backlog = watcher.backlog?.();
      if (backlog && backlog.size > PAUSE_ABOVE_BYTES)
        await unlessAborted(backlog.belowLimit(PAUSE_ABOVE_BYTES), signal);
    }
  }

  #show(message: Message, durable: boolean): void {
    if (durable) {
      this.#seq += 1;
      this.#kept.push({ seq: this.#seq, message });
    }
    for (const watcher of this.#watchers) watcher.deliver(message);
  }

  #release(): void {
    while (this.#held[0]?.written) {
      const { message, durable, onShown } = this.#held.shift() as Held;
      this.#show(message, durable);
      onShown?.();
    }
  }
}

function unlessAborted(waiting: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
    waiting.then(done, done);
  });
}
