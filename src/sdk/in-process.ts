import { createEngine, createFileStore, serveHost, systemClock } from '../engine/index.js';
import type { Channel, Clock, Logger, SessionConfig } from '../protocol/index.js';
import { createMemoryPair } from '../wire/index.js';
import type { HeddleOptions } from './options.js';

/** Starts an engine in this process. Gives the caller's end of a Channel to it. */
export function openInProcess(
  config: SessionConfig,
  parts: HeddleOptions & { logger: Logger },
): { channel: Channel; clock: Clock } {
  const { carrier: _, clock = systemClock, store = createFileStore({ configDir: config.configDir }), ...rest } = parts;
  const [near, far] = createMemoryPair();
  const engine = createEngine({ ...rest, clock, store });
  serveHost({ engine, channel: far, config, logger: parts.logger }).then(
    () => near.close(),
    (error: unknown) => near.close(error instanceof Error ? error : new Error(String(error))),
  );
  return { channel: near, clock };
}
