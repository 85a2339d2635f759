import type { Clock } from '../../protocol/index.js';

export type Stop = 'timeout' | 'cancelled';

/** The time a hook has, and whoever may end it early. */
export interface TimeBox {
  /** Aborts when the time is up or it is cancelled. */
  readonly signal: AbortSignal;
  /** Resolves when it had to be stopped; never when it was released before. */
  readonly stopped: Promise<Stop>;
  /** How long it has. */
  readonly ms: number;
  /** From here on it runs by itself: nobody who waited can cancel it, and it has this long. */
  letGo(ms: number): void;
  cancel(): void;
  release(): void;
}

export function createTimeBox(options: { clock: Clock; ms: number; signal: AbortSignal }): TimeBox {
  const { clock, signal } = options;
  const controller = new AbortController();
  const stopped = Promise.withResolvers<Stop>();
  let open = true;
  let { ms } = options;

  const release = (): void => {
    open = false;
    cancelTimer();
    signal.removeEventListener('abort', cancel);
  };
  const stop = (why: Stop): void => {
    if (!open) return;
    release();
    stopped.resolve(why);
    controller.abort();
  };
  const cancel = (): void => stop('cancelled');
  let cancelTimer = clock.after(ms, () => stop('timeout'));
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();

  return {
    signal: controller.signal,
    stopped: stopped.promise,
    get ms() {
      return ms;
    },
    letGo(longest) {
      if (!open) return;
      ms = longest;
      cancelTimer();
      signal.removeEventListener('abort', cancel);
      cancelTimer = clock.after(ms, () => stop('timeout'), { background: true });
    },
    cancel,
    release,
  };
}
