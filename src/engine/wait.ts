import type { Clock } from '../protocol/index.js';

/** Resolves after a while, or at once when the signal aborts. Says which. */
export function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    const abort = () => {
      cancel();
      resolve('aborted');
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', abort);
      resolve('elapsed');
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}
