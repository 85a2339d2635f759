/** The sandbox of a session, where settings ask for one: files, or options of the call, which are settings too. */
import { resolve } from 'node:path';
import type { Clock, Logger, SessionConfig, Workspace } from '../../protocol/index.js';
import type { LoadedSettings } from '../settings/load.js';
import type { SettingsNotice } from '../settings/notice.js';
import type { Sandbox } from './sandbox.js';

interface Surroundings {
  workspace: Workspace;
  clock: Clock;
  logger: Logger;
  home: string;
  childEnv: Readonly<Record<string, string>>;
  /** What the session has loaded, as it is now: where it comes from is protected. */
  sources: () => { settings: LoadedSettings; plugins: readonly { root: string }[] };
}

/** Undefined when none is wanted. Throws `sandbox_unavailable`: a sandbox that was asked for is never left out (E8). */
export async function openSandbox(
  config: SessionConfig,
  loaded: LoadedSettings,
  { workspace, clock, logger, home, childEnv, sources }: Surroundings,
): Promise<Sandbox | undefined> {
  const { sandbox: settings } = loaded.value;
  if (settings?.enabled !== true) return undefined;
  const folders = [config.cwd, ...(config.additionalDirectories ?? []).map((folder) => resolve(config.cwd, folder))];
  const roots = await Promise.all(folders.map((folder) => workspace.realPath(folder)));
  const { createSandbox } = await import('./sandbox.js');
  const { ownPlacesOf } = await import('../permissions/own-places.js');
  const { readPrivateHosts } = await import('../web/private-hosts.js');
  const hosts = readPrivateHosts(config.env.HEDDLE_WEB_PRIVATE_HOSTS);
  return createSandbox(settings, {
    roots,
    home,
    configDir: config.configDir,
    env: childEnv,
    clock,
    logger,
    ownPlaces: (current) => {
      const { settings: now, plugins } = sources();
      return ownPlacesOf(now, { roots: current, plugins, call: config });
    },
    opensPrivate: (host, port) => hosts.allows(new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)),
  });
}

/** That commands run outside of a sandbox which settings would like is no secret between the settings and the log. */
export const noticesOf = (sandbox: Sandbox | undefined): SettingsNotice[] =>
  sandbox?.unavailable === undefined
    ? []
    : [{ level: 'warning', content: `Commands run without a sandbox, as settings allow. ${sandbox.unavailable}` }];
