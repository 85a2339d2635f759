import type { Clock } from './seams.js';

/** The real Clock, of what every runtime has. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uuid: () => crypto.randomUUID(),
  random: () => Math.random(),
  after(ms, callback, { background = false } = {}) {
    const timer = setTimeout(callback, ms);
    // Browsers have plain numbers for timers.
    if (background && typeof timer === 'object') timer.unref();
    return () => clearTimeout(timer);
  },
};
