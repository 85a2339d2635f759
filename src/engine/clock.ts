/** The real Clock. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../protocol/index.js';

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uuid: () => randomUUID(),
  random: () => Math.random(),
  after(ms, callback, { background = false } = {}) {
    const timer = setTimeout(callback, ms);
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};
