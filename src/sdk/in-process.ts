import type { Channel, Clock, Logger, SessionConfig } from '../protocol/index.js';
import { createEngine, createFileStore, serveHost, systemClock } from '../engine/index.js';
import { createMemoryPair } from '../wire/index.js';
import type { HeddleParts } from './options.js';

/** Starts an engine in this process. Gives the caller's end of a Channel to it. */
export function openInProcess(
  config: SessionConfig,
  parts: HeddleParts & { logger: Logger },
): { channel: Channel; clock: Clock; over: Promise<void> } {
  const clock = parts.clock ?? systemClock;
  const store = parts.store ?? createFileStore({ configDir: config.configDir });
  const [near, far] = createMemoryPair();
  const engine = createEngine({ ...parts, clock, store });
  const over = serveHost({ engine, channel: far, config, logger: parts.logger }).then(
    () => near.close(),
    (error: unknown) => near.close(error instanceof Error ? error : new Error(String(error))),
  );
  return { channel: near, clock, over };
}
