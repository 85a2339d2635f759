/** `.claude-plugin/marketplace.json`: plugins that are offered together, and where each of them is. */
import { basename, join } from 'node:path';
import type { DefinitionProblem } from '../definitions/definition.js';
import { didYouMean, findNearName } from '../settings/near-name.js';
import { isTable } from '../settings/table.js';
import { showAddress } from './address.js';
import { findInside, follow } from './inside.js';
import { type JsonPart, partAt, problemAt, readJson } from './json-part.js';
import { MANIFEST_FOLDER, toRest } from './manifest.js';
import { findSource } from './marketplace-source.js';
import { findNameFault, foldName } from './names.js';

export const MARKETPLACE_FILE = join(MANIFEST_FOLDER, 'marketplace.json');

/** A plugin in a folder of the marketplace. */
export interface MarketplaceEntry {
  name: string;
  /** The folder of the plugin, links resolved. */
  root: string;
  /** As it is written. `false`: the entry is the manifest. */
  strict: boolean | undefined;
  /** Other entries have the same folder. */
  isShared: boolean;
  /** What stands in the entry beside its source. */
  part: JsonPart;
}

/** A plugin that would have to be fetched. */
export interface ElsewherePlugin {
  name: string;
  /** In words for people. */
  where: string;
  file: string;
  line: number;
}

export interface Marketplace {
  /** What it calls itself. */
  name: string;
  /** Links resolved; sources start here. */
  root: string;
  file: string;
  entries: readonly MarketplaceEntry[];
  elsewhere: readonly ElsewherePlugin[];
  /** Old names of plugins, folded, to new ones. */
  renames: ReadonlyMap<string, string>;
}

export interface ReadMarketplace {
  /** Absent when the file is no marketplace at all. */
  marketplace?: Marketplace;
  problems: DefinitionProblem[];
}

const KNOWN = 'name owner plugins metadata renames description version'.split(' ');
/** They mean nothing to a session. */
const SILENT = new Set('$schema allowCrossMarketplaceDependenciesOn forceRemoveDeletedPlugins'.split(' '));
const MAX_PLUGINS = 1_000;

/** Whether there is something in the place of the file. */
export const isMarketplace = (root: string): boolean => follow(root, join(root, MARKETPLACE_FILE)).kind !== 'missing';

/** `root` has its links resolved; `file` is inside it. Never rejects for what is in the file. */
export async function readMarketplace(root: string, file = join(root, MARKETPLACE_FILE)): Promise<ReadMarketplace> {
  const place = follow(root, file, { what: 'marketplace' });
  if (place.kind !== 'file') {
    const text = place.kind === 'refused' ? place.text : WHY_NO_FILE[place.kind];
    return { problems: [{ severity: 'error', file, line: 0, text }] };
  }
  const { part, problems } = await readJson(file);
  if (part === undefined) return { problems };
  const parsed = parseMarketplace(part, root);
  return { ...parsed, problems: [...problems, ...parsed.problems] };
}

const WHY_NO_FILE = {
  missing: `there is no such file; a marketplace is a folder with ${MARKETPLACE_FILE}`,
  folder: 'it is a folder; a file is expected',
} as const;

type Say = (rest: string, text: string, severity?: DefinitionProblem['severity']) => void;

function parseMarketplace(part: JsonPart, root: string): ReadMarketplace {
  const problems: DefinitionProblem[] = [];
  const { value, file } = part;
  const say: Say = (rest, text, severity = 'error') => void problems.push(problemAt(part, rest, { severity, text }));
  if (!isTable(value)) {
    say('', 'a marketplace must be one JSON object: { "name": "my-marketplace", "plugins": [ ... ] }');
    return { problems };
  }
  for (const key of Object.keys(value)) {
    if (KNOWN.includes(key) || SILENT.has(key)) continue;
    const near = didYouMean(findNearName(key, KNOWN));
    say(toRest(key), `the key ${JSON.stringify(key)} is not known${near}`, 'warning');
  }
  if (value.owner === undefined) say('', '"owner" is missing; write { "name": ... }', 'warning');
  const name = readName(value.name, { root, say });
  const found = readEntries(part, { root, pluginRoot: readPluginRoot(value.metadata, { root, say }), say });
  const names = [...found.entries, ...found.elsewhere].map((each) => foldName(each.name));
  const renames = readRenames(value.renames, { names, say });
  return { marketplace: { name, root, file, ...found, renames }, problems };
}

function readName(name: unknown, { root, say }: { root: string; say: Say }): string {
  const instead = basename(root);
  if (typeof name === 'string' && name.trim() !== '' && !/[\p{Cc}\s@/\\]/u.test(name)) return name;
  const fault = name === undefined ? '"name" is missing' : '"name" must be a word such as "my-marketplace"';
  say(name === undefined ? '' : '.name', `${fault}; the name of the folder, "${instead}", is used`);
  return instead;
}

function readPluginRoot(metadata: unknown, { root, say }: { root: string; say: Say }): string | undefined {
  if (metadata === undefined) return undefined;
  const given = isTable(metadata) ? metadata.pluginRoot : null;
  if (given === undefined) return undefined;
  if (typeof given !== 'string') {
    const what = isTable(metadata) ? '"metadata.pluginRoot" must be a path' : '"metadata" must be an object';
    say('.metadata', `${what}, and is left out`);
    return undefined;
  }
  const found = findInside(root, given, { what: 'marketplace' });
  if (found.kind === 'folder') return given;
  const text = found.kind === 'refused' ? found.text : 'there is no such folder';
  say('.metadata.pluginRoot', `${JSON.stringify(showAddress(given))}: ${text}`);
  return undefined;
}

interface Entries {
  entries: MarketplaceEntry[];
  elsewhere: ElsewherePlugin[];
}

/** What is wrong with one of them is said, and the others count. */
function readEntries(
  part: JsonPart,
  { root, pluginRoot, say }: { root: string; pluginRoot: string | undefined; say: Say },
): Entries {
  const found: Entries = { entries: [], elsewhere: [] };
  const plugins = isTable(part.value) ? part.value.plugins : undefined;
  if (!Array.isArray(plugins)) {
    say(plugins === undefined ? '' : '.plugins', '"plugins" must be a list: [{ "name": ..., "source": ... }]');
    return found;
  }
  if (plugins.length > MAX_PLUGINS) say('.plugins', `there are too many; only the first ${MAX_PLUGINS} count`);
  const lines = new Map<string, number>();
  plugins.slice(0, MAX_PLUGINS).forEach((given: unknown, at) => {
    const rest = `.plugins[${at}]`;
    if (!isTable(given)) return say(rest, 'a plugin must be an object: { "name": ..., "source": ... }');
    const { source, ...value } = given;
    const { name, strict } = value;
    if (typeof name !== 'string') return say(rest, 'a plugin needs a "name", such as "my-plugin"');
    const fault = findNameFault(name);
    if (fault?.severity === 'error') return say(`${rest}.name`, fault.text);
    const first = lines.get(foldName(name));
    if (first !== undefined)
      return say(`${rest}.name`, `"${name}" stands in line ${first} already; this one is not used`);
    lines.set(foldName(name), part.lineOf(`${rest}.name`));
    const place = findSource(source, { root, pluginRoot });
    const inSource = `${rest}${source === undefined ? '' : '.source'}`;
    if (place.kind === 'refused') return say(inSource, `"${name}": ${place.text}`);
    if (place.kind === 'elsewhere') {
      found.elsewhere.push({ name, where: place.where, file: part.file, line: part.lineOf(inSource) });
      return;
    }
    if (strict !== undefined && typeof strict !== 'boolean') {
      say(`${rest}.strict`, '"strict" must be true or false, and is left out', 'warning');
    }
    const others = found.entries.filter((entry) => entry.root === place.root);
    for (const other of others) other.isShared = true;
    found.entries.push({
      name,
      root: place.root,
      strict: typeof strict === 'boolean' ? strict : undefined,
      isShared: others.length > 0,
      part: partAt(part, rest, value),
    });
  });
  return found;
}

function readRenames(given: unknown, { names, say }: { names: readonly string[]; say: Say }): Map<string, string> {
  const renames = new Map<string, string>();
  if (given === undefined) return renames;
  if (!isTable(given)) {
    say('.renames', '"renames" must be an object of old names to new ones, and is left out');
    return renames;
  }
  for (const [old, name] of Object.entries(given)) {
    const rest = `.renames${toRest(old)}`;
    if (typeof name !== 'string') say(rest, 'this must be the new name of the plugin');
    else if (names.includes(foldName(old))) say(rest, `there is a plugin "${old}", so this has no effect`, 'warning');
    else renames.set(foldName(old), name);
  }
  for (const [old, name] of renames) {
    if (names.includes(foldName(name)) || renames.has(foldName(name))) continue;
    const written = Object.keys(given).find((key) => foldName(key) === old) ?? old;
    say(`.renames${toRest(written)}`, `there is no plugin "${name}"`, 'warning');
  }
  return renames;
}

/** The plugin that goes by this name, or by one that came after it. */
export function findByName(
  { entries, elsewhere, renames }: Marketplace,
  name: string,
): MarketplaceEntry | ElsewherePlugin | undefined {
  let wanted = foldName(name);
  // Renames may lead in a circle.
  for (let left = renames.size; left >= 0; left -= 1) {
    const found = [...entries, ...elsewhere].find((each) => foldName(each.name) === wanted);
    if (found !== undefined) return found;
    const next = renames.get(wanted);
    if (next === undefined) return undefined;
    wanted = foldName(next);
  }
  return undefined;
}

/** Tells that a plugin has to be got by hand. */
export const toElsewhereProblem = ({ name, where, file, line }: ElsewherePlugin): DefinitionProblem => ({
  severity: 'warning',
  file,
  line,
  text: `"${name}" is elsewhere (${where}), and nothing is fetched; get it, and name its folder with --plugin-dir`,
});
