/** Several layers of settings as one, with the layer that each part came from. */
import type { Settings } from '../../protocol/index.js';
import { isTable } from './table.js';
import type { SettingsLayerName } from './problem.js';

export interface MergeLayer {
  name: SettingsLayerName;
  settings: Settings;
}

export interface MergedSettings {
  value: Settings;
  /** `model`, `env.PATH`, `permissions.allow[2]` to the layer that says so. */
  origins: Record<string, SettingsLayerName>;
}

/** Tables whose entries come from several layers. An entry itself is taken whole: half of a server is none. */
const TABLES = new Set([
  '',
  'attribution',
  'enabledPlugins',
  'env',
  'extraKnownMarketplaces',
  'hooks',
  'mcpServers',
  'permissions',
  'sandbox',
  'sandbox.filesystem',
  'sandbox.ignoreViolations',
  'sandbox.network',
]);

/** Lists that add up. All others say what alone is allowed, so that only the strongest layer's may count. */
const UNITED = new Set([
  'claudeMdExcludes',
  'companyAnnouncements',
  'deniedMcpServers',
  'disabledMcpjsonServers',
  'enabledMcpjsonServers',
  'permissions.additionalDirectories',
  'permissions.allow',
  'permissions.ask',
  'permissions.deny',
  'sandbox.excludedCommands',
  'sandbox.filesystem.allowRead',
  'sandbox.filesystem.allowWrite',
  'sandbox.filesystem.denyRead',
  'sandbox.filesystem.denyWrite',
  'sandbox.network.allowUnixSockets',
  'sandbox.network.allowedDomains',
  'sandbox.network.deniedDomains',
]);

const isUnited = (path: string): boolean => UNITED.has(path) || /^(?:hooks|sandbox\.ignoreViolations)\./.test(path);

/** `layers`: the strongest first. */
export function mergeLayers(layers: readonly MergeLayer[]): MergedSettings {
  const value: Record<string, unknown> = {};
  const origins: MergedSettings['origins'] = {};

  const add = (target: Record<string, unknown>, [name, given]: [string, unknown], at: Origin): void => {
    const path = at.path === '' ? name : `${at.path}.${name}`;
    const present = Object.hasOwn(target, name) ? target[name] : undefined;
    if (TABLES.has(path) && isTable(given) && (present === undefined || isTable(present))) {
      const table = present ?? (target[name] = {});
      for (const entry of Object.entries(given)) add(table, entry, { ...at, path });
    } else if (isUnited(path) && Array.isArray(given) && (present === undefined || Array.isArray(present))) {
      const list = (present ?? (target[name] = [])) as unknown[];
      unite(list, given).forEach((index) => {
        origins[`${path}[${index}]`] = at.layer;
      });
    } else if (present === undefined) {
      target[name] = given;
      origins[path] = at.layer;
    }
  };

  for (const { name, settings } of layers) {
    for (const entry of Object.entries(settings)) add(value, entry, { path: '', layer: name });
  }
  return { value, origins };
}

interface Origin {
  path: string;
  layer: SettingsLayerName;
}

/** Adds what is not there yet; gives the places of what was added. */
function unite(list: unknown[], given: readonly unknown[]): number[] {
  const known = new Set(list.map((item) => JSON.stringify(item)));
  return given.flatMap((item) => {
    const text = JSON.stringify(item);
    if (known.has(text)) return [];
    known.add(text);
    return [list.push(item) - 1];
  });
}
