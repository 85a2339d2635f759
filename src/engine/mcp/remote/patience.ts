import type { Clock } from '../../../protocol/index.js';

/** How long a server may take: so long without a sign of life, and no longer than `capMs` in all. */
export interface Patience {
  /** The server has got on: the time starts anew. */
  renew(): void;
  stop(): void;
}

export interface PatienceOptions {
  clock: Clock;
  ms: number;
  capMs: number;
  /** Nobody waits for the server now, because it waits for us. The cap counts on. */
  isHeld?: () => boolean;
  onEnd(reason: 'silent' | 'capped'): void;
}

/** Timers that are longer go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createPatience({ clock, ms, capMs, isHeld, onEnd }: PatienceOptions): Patience {
  const capAt = clock.monotonic() + capMs;
  let endsAt = clock.monotonic() + ms;
  let cancel = arm();

  function arm(): () => void {
    const left = Math.min(endsAt, capAt) - clock.monotonic();
    return clock.after(Math.min(Math.max(1, left), LONGEST_TIMER_MS), look);
  }

  function look(): void {
    const now = clock.monotonic();
    if (now >= capAt) return onEnd('capped');
    if (isHeld?.() === true) endsAt = now + ms;
    if (now >= endsAt) return onEnd('silent');
    cancel = arm();
  }

  return {
    renew() {
      endsAt = clock.monotonic() + ms;
    },
    stop() {
      cancel();
    },
  };
}
