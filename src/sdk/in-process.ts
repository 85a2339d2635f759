import {
  createEngine,
  createFileStore,
  type InertKey,
  openSettings,
  type ResolvedSetting,
  resolveSettings,
  serveHost,
  type SettingsProblem,
  systemClock,
  toToolOutput,
} from '../engine/index.js';
import type { Channel, Clock, Logger, SessionConfig, Settings } from '../protocol/index.js';
import { createMemoryPair } from '../wire/index.js';
import type { HeddleOptions } from './options.js';
import { toOwnTools } from './own-tool.js';

/** Starts an engine in this process. Gives the caller's end of a Channel to it. */
export async function openInProcess(
  config: SessionConfig,
  parts: HeddleOptions & { logger: Logger },
): Promise<{ channel: Channel; clock: Clock }> {
  const { carrier: _, trusted: _trusted, setup: _setup, tools: given, ...rest } = parts;
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

/** Every setting that a session of these options would have, and the file that it comes from. */
export async function resolveInProcess(config: SessionConfig): Promise<ResolvedSettings> {
  const { loaded } = await openSettings(config, { clock: systemClock, home: config.env.HOME || '/' });
  const { value, problems, inert, trusted } = loaded;
  return { effective: value, sources: resolveSettings(loaded), problems, inert, trusted };
}

export interface ResolvedSettings {
  effective: Settings;
  sources: ResolvedSetting[];
  /** What is wrong in files, and does not count. */
  problems: SettingsProblem[];
  /** What waits for trust. */
  inert: InertKey[];
  trusted: boolean;
}
