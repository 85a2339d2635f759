/** A Clock that only moves when a test says so. */
import type { Clock } from '../protocol/index.js';

export interface FakeClock extends Clock {
  /** Moves time on and calls the timers that fall due, in order of their time. */
  advance(ms: number): void;
  /** How many milliseconds each waiting timer still has to go, soonest first. */
  readonly pending: readonly number[];
  /** Resolves when at least `count` timers wait (one when absent). Lets a test advance only once it makes sense. */
  armed(count?: number): Promise<void>;
}

interface Timer {
  due: number;
  callback: () => void;
}

export interface FakeClockOptions {
  /** What `random()` always gives. */
  random?: number;
}

/** `start` is the first `now()`: 2025-01-01T00:00:00Z when absent. Uuids count up from ...0001. */
export function createFakeClock(start = Date.UTC(2025, 0, 1), options: FakeClockOptions = {}): FakeClock {
  let elapsed = 0;
  let ids = 0;
  const timers = new Set<Timer>();
  let watchers: { count: number; resolve: () => void }[] = [];

  const nextDue = (limit: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.due <= limit && (next === undefined || timer.due < next.due)) next = timer;
    }
    return next;
  };

  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    uuid: () => `00000000-0000-4000-8000-${(++ids).toString(16).padStart(12, '0')}`,
    random: () => options.random ?? 0.5,
    after(ms, callback) {
      const timer: Timer = { due: elapsed + Math.max(0, ms), callback };
      timers.add(timer);
      const [ready, waiting] = [
        watchers.filter((watcher) => watcher.count <= timers.size),
        watchers.filter((watcher) => watcher.count > timers.size),
      ];
      watchers = waiting;
      for (const watcher of ready) watcher.resolve();
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const target = elapsed + ms;
      for (let timer = nextDue(target); timer !== undefined; timer = nextDue(target)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.due);
        timer.callback();
      }
      elapsed = target;
    },
    get pending() {
      return [...timers].map((timer) => timer.due - elapsed).toSorted((a, b) => a - b);
    },
    armed(count = 1) {
      if (timers.size >= count) return Promise.resolve();
      return new Promise((resolve) => watchers.push({ count, resolve }));
    },
  };
}
