import type { Clock } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';

export interface HastyClock extends Clock {
  /** Timers that neither fired nor were cancelled. */
  readonly timers: number;
  /** From now on time passes so many times as fast, for what is timed from now on. */
  hurry(times: number): void;
}

/** The real time, until someone is in a hurry. */
export function createHastyClock(): HastyClock {
  const waiting = new Set<object>();
  let scale = 1;
  let since = systemClock.monotonic();
  let passed = 0;
  const monotonic = (): number => passed + (systemClock.monotonic() - since) * scale;
  return {
    ...systemClock,
    monotonic,
    hurry(times) {
      passed = monotonic();
      since = systemClock.monotonic();
      scale = times;
    },
    after(ms, callback, options) {
      const timer = {};
      waiting.add(timer);
      const fire = (): void => {
        waiting.delete(timer);
        callback();
      };
      const cancel = systemClock.after(ms / scale, fire, options);
      return () => {
        waiting.delete(timer);
        cancel();
      };
    },
    get timers() {
      return waiting.size;
    },
  };
}
