/** A project adds to the plugins of the person. It switches none of them off, and leads to no other in their place. */
import type { SettingsLayerName } from '../settings/problem.js';
import { isTable } from '../settings/table.js';
import { layerOf, type PluginSettings, type PluginTable } from './setting-place.js';

/** An entry of a project that does not count. */
export interface PassedOver {
  table: PluginTable;
  name: string;
  layer: SettingsLayerName;
}

export interface OwnFirst {
  settings: PluginSettings;
  passedOver: PassedOver[];
}

export const isOfProject = (layer: SettingsLayerName): boolean => layer === 'project' || layer === 'local';

/** With the entries of user settings in the place of a project's: what they enable, and every marketplace they know. */
export function preferOwn(given: PluginSettings): OwnFirst {
  const passedOver: PassedOver[] = [];
  const value = { ...given.value };
  const origins = { ...given.origins };
  const ofUser = given.layers.filter(({ name }) => name === 'user').map(({ settings }) => settings);
  for (const table of ['enabledPlugins', 'extraKnownMarketplaces'] as const) {
    const own = Object.entries(ofUser.find((settings) => isTable(settings[table]))?.[table] ?? {});
    for (const [name, entry] of own) {
      const layer = layerOf(given, table, name);
      if (!isOfProject(layer) || (table === 'enabledPlugins' && entry !== true)) continue;
      const says = value[table]?.[name];
      if (JSON.stringify(says) !== JSON.stringify(entry)) passedOver.push({ table, name, layer });
      value[table] = { ...value[table], [name]: entry };
      origins[`${table}.${name}`] = 'user';
    }
  }
  return { settings: { ...given, value, origins }, passedOver };
}
