/** How the streams of an HTTP server are taken up again: soon, not for ever, and never in a storm. */
import type { ReconnectionScheduler, StreamableHTTPReconnectionOptions } from '@modelcontextprotocol/client';
import type { Clock } from '../../../protocol/index.js';

/** Attempts of one stream that failed one after another. */
const MAX_ATTEMPTS = 5;
const MAX_DELAY_MS = 300_000;
/** A server that ends its streams more often than this in a minute waits longer and longer. */
const CALM = 10;
const MINUTE_MS = 60_000;

/** Who gives up is decided below. */
export const RECONNECTION: StreamableHTTPReconnectionOptions = {
  initialReconnectionDelay: 1_000,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 30_000,
  maxRetries: Number.MAX_SAFE_INTEGER,
};

export interface Reconnection {
  readonly schedule: ReconnectionScheduler;
  stop(): void;
}

export function createReconnection(clock: Clock, onGiveUp: () => void): Reconnection {
  const pending = new Set<() => void>();
  let recent: number[] = [];
  return {
    schedule(reconnect, delay, attempt) {
      if (attempt >= MAX_ATTEMPTS) return onGiveUp();
      const now = clock.monotonic();
      recent = [...recent.filter((at) => now - at < MINUTE_MS), now].slice(-2 * CALM);
      const atLeast = recent.length <= CALM ? 1 : (recent.length - CALM) * 3_000;
      const wait = Math.min(Math.max(delay, atLeast), MAX_DELAY_MS);
      const cancel = clock.after(wait, () => {
        pending.delete(cancel);
        reconnect();
      });
      pending.add(cancel);
      return cancel;
    },
    stop() {
      for (const cancel of pending) cancel();
      pending.clear();
    },
  };
}
