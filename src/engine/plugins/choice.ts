/** What settings say about plugins of marketplaces: which of them are enabled, and which marketplaces policy lists. */
import { dirname, isAbsolute, join } from 'node:path';
import { realPathOf } from '../settings/files.js';
import { SETTINGS_LAYERS, type SettingsLayerName } from '../settings/problem.js';
import { isTable } from '../settings/table.js';
import { findByName, isMarketplace, type Marketplace, MARKETPLACE_FILE } from './marketplace.js';
import { foldName } from './names.js';
import { isOfProject } from './prefer-own.js';
import { expandHome, layerOf, type PluginSettings } from './setting-place.js';

/** An entry of `enabledPlugins`. */
export interface Wish {
  /** `plugin@marketplace`. */
  key: string;
  plugin: string;
  marketplace: string;
  value: unknown;
  layer: SettingsLayerName;
  /** What a project says against it, by another name of the plugin. */
  overrules?: readonly Wish[];
}

export interface PluginChoice {
  wishes: readonly Wish[];
  /** Why nothing of this marketplace may be used; undefined when it may. */
  refuse(marketplace: Pick<Marketplace, 'name' | 'root' | 'file'>): string | undefined;
  /** The same for a folder that lies in one, or is one: the nearest decides. */
  refuseWithin(folder: string): string | undefined;
  /** What the strongest layer says of a plugin, by its name or an older one. `known`: what settings call the marketplace. */
  decide(marketplace: Marketplace, plugin: { name: string }, known?: string): Wish | undefined;
}

export function createChoice(settings: PluginSettings | undefined): PluginChoice {
  const wishes = settings === undefined ? [] : toWishes(settings);
  const list = settings?.value.strictKnownMarketplaces;
  const home = settings?.files.home ?? '';
  const mayUse = (marketplace: Pick<Marketplace, 'root' | 'file'>): boolean =>
    list === undefined || list.some((item) => isListed(item, { marketplace, home }));
  return {
    wishes,
    refuse(marketplace) {
      if (mayUse(marketplace)) return undefined;
      return `the marketplace "${marketplace.name}" is not among strictKnownMarketplaces; nothing of it is used`;
    },
    refuseWithin(folder) {
      const root = list && ancestorsOf(folder).find(isMarketplace);
      if (root === undefined || mayUse({ root, file: join(root, MARKETPLACE_FILE) })) return undefined;
      return `it is in the marketplace ${root}, which is not among strictKnownMarketplaces; it is not used`;
    },
    decide(marketplace, { name }, known = marketplace.name) {
      const about = wishes.filter(
        (wish) => wish.marketplace === known && findByName(marketplace, wish.plugin)?.name === name,
      );
      const rank = ({ layer, plugin }: Wish): number =>
        SETTINGS_LAYERS.indexOf(layer) * 2 + (foldName(plugin) === foldName(name) ? 0 : 1);
      const isOwn = about.some(({ layer, value }) => layer === 'user' && value === true);
      const overrules = isOwn ? about.filter(({ layer }) => isOfProject(layer)) : [];
      const [said] = about
        .filter((wish) => !overrules.includes(wish))
        .toSorted((one, other) => rank(one) - rank(other));
      return said && { ...said, overrules: overrules.filter(({ value }) => value !== said.value) };
    },
  };
}

/** The folder itself first. */
function ancestorsOf(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestorsOf(above)];
}

const toWishes = (settings: PluginSettings): Wish[] =>
  Object.entries(settings.value.enabledPlugins ?? {}).map(([key, value]) => {
    const at = key.lastIndexOf('@');
    const [plugin, marketplace] = at < 0 ? [key, ''] : [key.slice(0, at), key.slice(at + 1)];
    return { key, plugin, marketplace, value, layer: layerOf(settings, 'enabledPlugins', key) };
  });

/**
 * A marketplace can call itself what it likes, so that only its place counts. Items about places elsewhere list nothing
 * that could be here.
 */
function isListed(
  item: unknown,
  { marketplace, home }: { marketplace: Pick<Marketplace, 'root' | 'file'>; home: string },
): boolean {
  if (!isTable(item)) return false;
  const { source, path, pathPattern } = item;
  const { root, file } = marketplace;
  const isUsual = file === join(root, MARKETPLACE_FILE);
  if (source === 'pathPattern') return typeof pathPattern === 'string' && matches(pathPattern, isUsual ? root : file);
  if (typeof path !== 'string') return false;
  const place = expandHome(path, home);
  if (!isAbsolute(place)) return false;
  if (source === 'directory') return isUsual && realPathOf(place) === root;
  return source === 'file' && realPathOf(place) === realPathOf(file);
}

/** From the start of the path, whether the pattern says so or not. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})`, 'u').test(text);
  } catch {
    return false;
  }
}
