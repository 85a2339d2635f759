/** Plugins that settings enable, out of marketplaces that settings know. Nothing is fetched, and nothing here fails. */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { DefinitionProblem } from '../definitions/definition.js';
import { isInside } from '../permissions/path.js';
import type { SettingsLayerName } from '../settings/problem.js';
import { isTable } from '../settings/table.js';
import { isMissing } from '../workspace/system-error.js';
import type { PluginChoice, Wish } from './choice.js';
import { isUrl, showAddress } from './address.js';
import { describeUnreadable } from './inside.js';
import { MANIFEST_FOLDER } from './manifest.js';
import { findByName, type Marketplace, MARKETPLACE_FILE, readMarketplace, toElsewhereProblem } from './marketplace.js';
import { describeRemote } from './marketplace-source.js';
import type { PluginPlace } from './read-plugin.js';
import type { PassedOver } from './prefer-own.js';
import { expandHome, layerOf, placeOfSetting, type PluginSettings, type PluginTable } from './setting-place.js';

export interface EnabledPlugins {
  places: PluginPlace[];
  problems: DefinitionProblem[];
}

interface Around {
  choice: PluginChoice;
  /** Where relative paths of the call start. */
  cwd: string;
  /** Marketplaces that someone named: all of them is there already. */
  named: readonly Marketplace[];
  /** Entries of the project that give way to the person's own. */
  passedOver: readonly PassedOver[];
}

export async function findEnabled(
  settings: PluginSettings,
  { choice, cwd, named, passedOver }: Around,
): Promise<EnabledPlugins> {
  const found: EnabledPlugins = { places: [], problems: [] };
  const warn: Warn = async (table, name, text, layer) =>
    void found.problems.push({ severity: 'warning', ...(await placeOfSetting(settings, table, name, layer)), text });
  for (const { table, name, layer } of passedOver) await warn(table, name, GIVES_WAY[table](name), layer);
  const known = settings.value.extraKnownMarketplaces ?? {};
  const groups = Object.groupBy(choice.wishes, ({ marketplace }) => marketplace);
  for (const wish of choice.wishes) {
    const text = findWishFault(wish);
    if (text !== undefined) await warn('enabledPlugins', wish.key, text);
  }
  for (const name of new Set([...Object.keys(known), ...Object.keys(groups)])) {
    const wanted = (groups[name] ?? []).filter((wish) => wish.value === true && findWishFault(wish) === undefined);
    const isKnown = Object.hasOwn(known, name);
    const layer = isKnown ? layerOf(settings, 'extraKnownMarketplaces', name) : 'flag';
    const given = named.find((marketplace) => marketplace.name === name);
    // What policy knows is not replaced by what someone names.
    if (given !== undefined && layer !== 'managed') {
      for (const wish of wanted) await tellLost(wish, { marketplace: given, warn });
      continue;
    }
    const [first] = wanted;
    if (!isKnown) {
      if (first === undefined) continue;
      const keys = wanted.map(({ key }) => `"${key}"`).join(', ');
      const text = `the marketplace "${name}" is not known, so ${keys} cannot be loaded; add it to extraKnownMarketplaces`;
      await warn('enabledPlugins', first.key, text);
      continue;
    }
    const place = locate(known[name], { layer, files: settings.files, cwd });
    if (place.kind === 'remote' || (place.kind === 'refused' && wanted.length > 0)) {
      await warn('extraKnownMarketplaces', name, `the marketplace "${name}" ${place.text}`);
    }
    if (place.kind !== 'local' || wanted.length === 0) continue;
    const { marketplace, problems } = await readMarketplace(place.root, place.file);
    found.problems.push(...problems);
    if (marketplace === undefined) continue;
    const refusal = choice.refuse({ ...marketplace, name });
    if (refusal !== undefined) {
      await warn('extraKnownMarketplaces', name, refusal);
      continue;
    }
    if (marketplace.name !== name) {
      await warn('extraKnownMarketplaces', name, `the marketplace calls itself "${marketplace.name}", not "${name}"`);
    }
    for (const wish of wanted) await tellLost(wish, { marketplace, warn });
    for (const entry of marketplace.entries) {
      const said = choice.decide(marketplace, entry, name);
      for (const { key, layer: of } of said?.overrules ?? []) {
        await warn('enabledPlugins', key, GIVES_WAY.enabledPlugins(key), of);
      }
      if (said?.value !== true) continue;
      const source = weakerOf(layer, said.layer);
      found.places.push({ root: entry.root, folderName: entry.name, source, offer: { entry, marketplace: name } });
    }
  }
  return found;
}

/** A plugin may do no more than each of those may who brought it here: whoever knows its marketplace, and who enables it. */
function weakerOf(known: SettingsLayerName, enables: SettingsLayerName): SettingsLayerName {
  const isOfProject = known === 'project' || known === 'local';
  return isOfProject || enables === 'managed' ? known : enables;
}

/** What is wrong with the entry itself. */
function findWishFault({ key, plugin, marketplace, value }: Wish): string | undefined {
  if (typeof value !== 'boolean') return `"${key}": this must be true or false, and is left out`;
  if (value && (plugin === '' || marketplace === '')) return `"${key}": write it as "plugin@marketplace"`;
  return undefined;
}

/** `layer`: whose entry it is about, where that is not the one that counts. */
type Warn = (table: PluginTable, name: string, text: string, layer?: SettingsLayerName) => Promise<void>;

const GIVES_WAY: Readonly<Record<PluginTable, (name: string) => string>> = {
  enabledPlugins: (key) =>
    `"${key}" does not count: user settings enable it, and a project switches nothing of theirs off`,
  extraKnownMarketplaces: (name) =>
    `the marketplace "${name}" does not count: user settings know one of this name; give it another`,
};

async function tellLost(
  { key, plugin }: Wish,
  { marketplace, warn }: { marketplace: Marketplace; warn: Warn },
): Promise<void> {
  const entry = findByName(marketplace, plugin);
  if (entry === undefined) {
    const text = `"${key}" is left out: there is no plugin "${plugin}" that can be used in ${marketplace.file}`;
    await warn('enabledPlugins', key, text);
  } else if ('where' in entry) {
    const { file, line, text } = toElsewhereProblem(entry);
    await warn('enabledPlugins', key, `"${key}" is left out: ${text} (${file}:${line})`);
  }
}

type Located =
  | { kind: 'local' /** Links resolved. */; root: string; file: string }
  | { kind: 'remote' | 'refused' /** The rest of a sentence about the marketplace. */; text: string };

interface LocateOptions {
  layer: SettingsLayerName;
  files: PluginSettings['files'];
  cwd: string;
}

/**
 * `{ source: { source: 'directory', path } }`. Relative paths of a project's settings start there, and theirs stay in it.
 * Those of settings that hold everywhere would lead into whatever folder a session is in: into a clone that nobody trusts.
 */
function locate(given: unknown, { layer, files: { projectRoot, home }, cwd }: LocateOptions): Located {
  const source = isTable(given) ? given.source : undefined;
  const refuse = (text: string): Located => ({ kind: 'refused', text });
  const elsewhere = (where: string): Located => ({
    kind: 'remote',
    text: `is elsewhere (${where}), and nothing is fetched; get it, and name its folder`,
  });
  if (!isTable(source)) return refuse('is left out: it needs { "source": { "source": "directory", "path": ... } }');
  const { source: kind, path: written } = source;
  if (kind !== 'directory' && kind !== 'file') {
    return elsewhere(
      describeRemote(source) ?? (typeof kind === 'string' ? JSON.stringify(showAddress(kind)) : 'unknown'),
    );
  }
  if (typeof written !== 'string' || written.trim() === '' || written.includes('\0')) {
    return refuse('is left out: its "path" must be a path');
  }
  if (isUrl(written)) return elsewhere(showAddress(written));
  const absolute = expandHome(written, home);
  if ((layer === 'user' || layer === 'managed') && !isAbsolute(absolute)) {
    return refuse(
      `is left out: in ${layer} settings ${JSON.stringify(written)} must be an absolute path, or begin with ~/`,
    );
  }
  const path = resolve(layer === 'flag' ? cwd : projectRoot, absolute);
  try {
    const real = realpathSync.native(path);
    if (layer === 'project' && !isInside(realpathSync.native(projectRoot), real)) {
      return refuse(`is left out: ${path} is not inside the project, whose settings may name only what is`);
    }
    const isFolder = statSync(real).isDirectory();
    if (isFolder !== (kind === 'directory')) {
      return refuse(`is left out: ${path} is ${isFolder ? 'a folder, not a file' : 'a file, not a folder'}`);
    }
    if (isFolder) return { kind: 'local', root: real, file: join(real, MARKETPLACE_FILE) };
    const folder = dirname(real);
    return { kind: 'local', root: basename(folder) === MANIFEST_FOLDER ? dirname(folder) : folder, file: real };
  } catch (thrown) {
    return refuse(`is left out: ${path}: ${isMissing(thrown) ? 'there is nothing there' : describeUnreadable(thrown)}`);
  }
}
