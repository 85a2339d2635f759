import type { SettingsLayerName } from '../settings/problem.js';
import type { Origin } from './definition.js';

/** Whose word a definition is: what it brings may do what the settings of that layer may. */
export function layerOf({ scope, enabledBy }: Origin): SettingsLayerName {
  // Where nobody knows who has enabled a plugin, it counts as little as the files of a project.
  if (scope === 'plugin') return enabledBy ?? 'project';
  return scope === 'builtin' ? 'flag' : scope;
}
