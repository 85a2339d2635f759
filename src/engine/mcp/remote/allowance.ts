import type { Clock } from '../../../protocol/index.js';

/** Says whether one more may pass: `burst` at once, and `perSecond` in the long run. */
export function createAllowance(clock: Clock, rate: { burst: number; perSecond: number }): () => boolean {
  let left = rate.burst;
  let at = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    left = Math.min(rate.burst, left + ((now - at) / 1000) * rate.perSecond);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
