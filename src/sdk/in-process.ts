import { createEngine, createFileStore, serveHost, systemClock, toToolOutput } from '../engine/index.js';
import type { Channel, Clock, Logger, SessionConfig } from '../protocol/index.js';
import { createMemoryPair } from '../wire/index.js';
import type { HeddleOptions } from './options.js';
import { toOwnTools } from './own-tool.js';

/** Starts an engine in this process. Gives the caller's end of a Channel to it. */
export async function openInProcess(
  config: SessionConfig,
  parts: HeddleOptions & { logger: Logger },
): Promise<{ channel: Channel; clock: Clock }> {
  const { carrier: _, tools: given, ...rest } = parts;
  const { clock = systemClock, store = createFileStore({ configDir: config.configDir }) } = parts;
  const tools = given && (await toOwnTools(given, toToolOutput));
  const [near, far] = createMemoryPair();
  const engine = createEngine({ ...rest, clock, store, ...(tools && { tools }) });
  serveHost({ engine, channel: far, config, logger: parts.logger }).then(
    () => near.close(),
    (error: unknown) => near.close(error instanceof Error ? error : new Error(String(error))),
  );
  return { channel: near, clock };
}
