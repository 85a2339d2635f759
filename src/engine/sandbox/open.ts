/** The sandbox of a session, where settings or the call ask for one. */
import { resolve } from 'node:path';
import type { Clock, Logger, SandboxSettings, SessionConfig, Workspace } from '../../protocol/index.js';
import type { LoadedSettings } from '../settings/load.js';
import type { Sandbox } from './sandbox.js';

interface Surroundings {
  workspace: Workspace;
  clock: Clock;
  logger: Logger;
  home: string;
  childEnv: Readonly<Record<string, string>>;
}

/** Undefined when none is wanted. Throws `sandbox_unavailable`: a sandbox that was asked for is never left out (E8). */
export async function openSandbox(
  config: SessionConfig,
  loaded: LoadedSettings,
  { workspace, clock, logger, home, childEnv }: Surroundings,
): Promise<Sandbox | undefined> {
  const settings = sandboxSettings(config, loaded);
  if (settings.enabled !== true) return undefined;
  const folders = [config.cwd, ...(config.additionalDirectories ?? []).map((folder) => resolve(config.cwd, folder))];
  const roots = await Promise.all(folders.map((folder) => workspace.realPath(folder)));
  const { createSandbox } = await import('./sandbox.js');
  const { readPrivateHosts } = await import('../web/private-hosts.js');
  const hosts = readPrivateHosts(config.env.HEDDLE_WEB_PRIVATE_HOSTS);
  return createSandbox(settings, {
    roots,
    home,
    configDir: config.configDir,
    env: childEnv,
    clock,
    logger,
    opensPrivate: (host, port) => hosts.allows(new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}`)),
  });
}

/** Policy counts more than the call, the call more than other files. */
function sandboxSettings(config: SessionConfig, { value, origins }: LoadedSettings): SandboxSettings {
  const { sandbox = {} } = value;
  const isPolicy = (key: string): boolean =>
    Object.entries(origins).some(
      ([path, layer]) => layer === 'managed' && (path === `sandbox.${key}` || path.startsWith(`sandbox.${key}.`)),
    );
  const ofPolicy = Object.fromEntries(Object.entries(sandbox).filter(([key]) => isPolicy(key)));
  return { ...sandbox, ...(config.sandbox as SandboxSettings | undefined), ...ofPolicy };
}
