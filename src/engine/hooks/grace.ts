/** The time that hooks have left when what they belong to is over. */
import type { Clock } from '../../protocol/index.js';

/** After an interrupt, in all: it takes effect within a second, and the call that was stopped has had some of that. */
export const INTERRUPT_GRACE_MS = 700;
/** For the hooks of SessionEnd, from the moment in which the session is closed. */
export const CLOSE_GRACE_MS = 1_000;
/** Also hooks that come when the time is up hear of what happened. */
const LEAST_MS = 50;

/** What is left of a grace that began some time ago. */
export const graceLeft = (clock: Clock, { ms, since }: { ms: number; since: number }): number =>
  Math.max(LEAST_MS, ms - (clock.monotonic() - since));

/** Remembers when a signal was aborted; until then the function gives undefined. */
export function watchAbort(clock: Clock, signal: AbortSignal): () => number | undefined {
  let abortedAt = signal.aborted ? clock.monotonic() : undefined;
  const note = (): void => {
    abortedAt = clock.monotonic();
  };
  if (!signal.aborted) signal.addEventListener('abort', note, { once: true });
  return () => abortedAt;
}

export interface Grace {
  /** Aborts when the grace after the other signal is over. */
  readonly signal: AbortSignal;
  release(): void;
}

/** `abortedAt`: when the signal was aborted, if it was. */
export function createGrace(clock: Clock, signal: AbortSignal, abortedAt: number | undefined): Grace {
  const over = new AbortController();
  let cancelTimer = (): void => {};
  const begin = (): void => {
    const ms = graceLeft(clock, { ms: INTERRUPT_GRACE_MS, since: abortedAt ?? clock.monotonic() });
    cancelTimer = clock.after(ms, () => over.abort());
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return {
    signal: over.signal,
    release() {
      cancelTimer();
      signal.removeEventListener('abort', begin);
    },
  };
}
