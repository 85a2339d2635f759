/** Servers of plugins that settings enable: judged as if they stood in the settings of that layer. */
import type { SettingsLayerName } from '../../settings/problem.js';

export interface BroughtServers {
  layer: SettingsLayerName;
  /** The folder of the plugin. */
  file: string;
  entries: Readonly<Record<string, unknown>>;
}

export interface Bringer {
  mcpServers: Readonly<Record<string, unknown>>;
  /** Who named or enabled it. Absent: the call. */
  source?: SettingsLayerName;
  root?: string;
}

const isCalled = ({ source }: Bringer): boolean => source === undefined || source === 'flag';

/** Whoever names a plugin names its servers. Those of policy are none of the call's: no other server takes their names. */
export const toServerFlags = (bringers: readonly Bringer[]): string[] =>
  bringers
    .filter((bringer) => isCalled(bringer) && Object.keys(bringer.mcpServers).length > 0)
    .map(({ mcpServers }) => JSON.stringify({ mcpServers }));

export const toBrought = (bringers: readonly Bringer[]): BroughtServers[] =>
  bringers
    .filter((bringer) => !isCalled(bringer) && Object.keys(bringer.mcpServers).length > 0)
    .map(({ mcpServers, source: layer = 'user', root: file = '' }) => ({ layer, file, entries: mcpServers }));
