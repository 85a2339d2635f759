/** The sandbox of a session, made of its configuration. Loaded where settings ask for one. */
import { resolve } from 'node:path';
import type { Clock, Logger, SandboxSettings, SessionConfig, Workspace } from '../../protocol/index.js';
import { type Surroundings as OwnSurroundings, ownPlacesOf } from '../permissions/own-places.js';
import type { LoadedSettings } from '../settings/load.js';
import { readPrivateHosts } from '../web/private-hosts.js';
import { createSandbox, type Sandbox } from './sandbox.js';

export interface Surroundings {
  workspace: Workspace;
  clock: Clock;
  logger: Logger;
  home: string;
  childEnv: Readonly<Record<string, string>>;
  /** What the session has loaded, as it is now: where it comes from is protected. */
  sources: () => { settings: LoadedSettings } & Pick<OwnSurroundings, 'plugins' | 'agents' | 'servers'>;
}

/** Throws as `createSandbox` does. */
export async function createSessionSandbox(
  settings: SandboxSettings,
  config: SessionConfig,
  { workspace, clock, logger, home, childEnv, sources }: Surroundings,
): Promise<Sandbox> {
  const folders = [config.cwd, ...(config.additionalDirectories ?? []).map((folder) => resolve(config.cwd, folder))];
  const reals = await Promise.all(folders.map((folder) => workspace.realPath(folder).catch(() => undefined)));
  const roots = reals.filter((real) => real !== undefined);
  const hosts = readPrivateHosts(config.env.HEDDLE_WEB_PRIVATE_HOSTS);
  return createSandbox(settings, {
    roots,
    home,
    configDir: config.configDir,
    env: childEnv,
    clock,
    logger,
    ownPlaces: (current) => {
      const { settings: now, ...others } = sources();
      return ownPlacesOf(now, { roots: current, ...others, call: config });
    },
    opensPrivate: (host, port) => hosts.allows(new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)),
  });
}
