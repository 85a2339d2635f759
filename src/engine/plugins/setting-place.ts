/** What settings say about plugins, and where it stands. */
import { isAbsolute, join } from 'node:path';
import type { LoadedSettings } from '../settings/load.js';
import type { SettingsLayerName } from '../settings/problem.js';
import { readJson } from './json-part.js';
import { toRest } from './manifest.js';

/** Merged, and limited to what counts: nothing is in it of a project that nobody trusts. */
export type PluginSettings = Pick<LoadedSettings, 'value' | 'origins' | 'layers' | 'files'>;

export type PluginTable = 'enabledPlugins' | 'extraKnownMarketplaces';

/** The layer whose entry counts. */
export const layerOf = ({ origins }: PluginSettings, table: PluginTable, name: string): SettingsLayerName =>
  origins[`${table}.${name}`] ?? 'project';

/** File and line of an entry: of the one that counts, unless another layer is given. What was given on a command line has no lines. */
export async function placeOfSetting(
  settings: PluginSettings,
  table: PluginTable,
  name: string,
  layer = layerOf(settings, table, name),
): Promise<{ file: string; line: number }> {
  const says = settings.layers.find((each) => each.name === layer && Object.hasOwn(each.settings[table] ?? {}, name));
  const file = says?.file ?? layer;
  const { part } = isAbsolute(file) ? await readJson(file) : {};
  return { file, line: part?.lineOf(`.${table}${toRest(name)}`) ?? 0 };
}

export const expandHome = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
