import type { Clock } from '../../protocol/index.js';
import type { Budget } from './budget.js';
import type { Limit } from './limit.js';

/** What was done, and the limit that stopped it if its time was over first. */
export interface Timed<T> {
  value: T;
  over?: Limit;
}

/** Does work while the time of a budget counts. The signal it gets aborts, too, when that time is over. */
export async function withinTime<T>(
  budget: Budget,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Timed<T>> {
  const leave = budget.enter();
  const left = budget.timeLeft();
  let over: Limit | undefined;
  let cancel = (): void => {};
  let both = signal;
  if (left !== undefined) {
    const stop = new AbortController();
    both = AbortSignal.any([signal, stop.signal]);
    cancel = clock.after(left.ms, () => {
      // Whoever stopped it before has stopped it.
      if (!signal.aborted) over = left.limit;
      stop.abort();
    });
  }
  try {
    const value = await work(both);
    return { value, ...(over && { over }) };
  } finally {
    cancel();
    leave();
  }
}
