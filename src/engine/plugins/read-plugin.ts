/** One plugin, from its folder to all that it brings. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DefinitionProblem } from '../definitions/definition.js';
import { showAddress } from './address.js';
import { readEntryManifest } from './entry-manifest.js';
import { findFolders } from './folders.js';
import { mergeHooks, readHooks } from './hooks.js';
import { findInside, follow } from './inside.js';
import { type JsonPart, readJson } from './json-part.js';
import { type FileOrPart, MANIFEST_FILE, MANIFEST_FOLDER, readManifest } from './manifest.js';
import type { MarketplaceEntry } from './marketplace.js';
import { type PlacedServer, readServers } from './mcp-servers.js';
import type { Plugin } from './plugin.js';

/** Its servers are not yet told apart from those of others. */
export interface ReadPlugin extends Omit<Plugin, 'mcpServers'> {
  servers: readonly PlacedServer[];
}

export interface PluginRead {
  /** Absent when it cannot be used at all. */
  plugin?: ReadPlugin;
  problems: DefinitionProblem[];
}

export interface PluginPlace {
  /** Links resolved. */
  root: string;
  /** Its name, where no manifest gives another. */
  folderName: string;
  source: Plugin['source'];
  /** Where a marketplace offers it. */
  offer?: { entry: MarketplaceEntry; marketplace: string };
}

export async function readPlugin({ root, folderName, source, offer }: PluginPlace): Promise<PluginRead> {
  const { manifest, problems } =
    offer === undefined ? await readManifest(root, folderName) : await readEntryManifest(offer.entry);
  if (manifest === undefined) return { problems };
  const { name, facts, isWhole = false } = manifest;
  const found = findFolders({ root, manifest });
  const [hookParts, serverParts] = await Promise.all([
    readParts(root, { ...(!isWhole && { standard: join('hooks', 'hooks.json') }), more: manifest.hooks }),
    readParts(root, { ...(!isWhole && { standard: '.mcp.json' }), more: manifest.mcpServers }),
  ]);
  const hooks = await Promise.all(hookParts.parts.map((part) => readHooks(part, root)));
  const servers = await Promise.all(serverParts.parts.map((part) => readServers(part, { plugin: name, root })));
  const plugin = {
    name,
    root,
    ...facts,
    source,
    ...(offer && { marketplace: offer.marketplace }),
    folders: found.folders,
    hooks: mergeHooks(hooks.map((each) => each.hooks)),
    servers: servers.flatMap((each) => each.servers),
  };
  const own = [...found.problems, ...hookParts.problems, ...serverParts.problems].concat(
    ...[...hooks, ...servers].map((each) => each.problems),
  );
  const isEmpty =
    own.length === 0 && plugin.folders.length + plugin.servers.length + Object.keys(plugin.hooks).length === 0;
  return { plugin, problems: [...problems, ...own, ...findMisplaced(root, isEmpty)] };
}

interface Parts {
  parts: JsonPart[];
  problems: DefinitionProblem[];
}

/** The file that stands in its usual place, then what the manifest names or holds; no file twice. */
async function readParts(
  root: string,
  { standard, more }: { standard?: string; more: readonly FileOrPart[] },
): Promise<Parts> {
  const all: Parts = { parts: [], problems: [] };
  const seen = new Set<string>();
  const add = async (path: string, at: string): Promise<void> => {
    if (seen.has(path)) return;
    seen.add(path);
    const { part, problems } = await readJson(at);
    all.problems.push(...problems);
    if (part !== undefined) all.parts.push(part);
  };
  const usual = join(root, standard ?? '');
  const place = standard === undefined ? ({ kind: 'missing' } as const) : follow(root, usual);
  if (place.kind === 'file') await add(place.path, usual);
  else if (place.kind !== 'missing') {
    const text = place.kind === 'refused' ? place.text : 'it is a folder; a file is expected';
    all.problems.push({ severity: 'error', file: usual, line: 0, text });
  }
  for (const each of more) {
    if (!('written' in each)) {
      all.parts.push(each);
      continue;
    }
    const { written, file, line } = each;
    const named = findInside(root, written);
    if (named.kind === 'file') {
      await add(named.path, named.path);
      continue;
    }
    const text = named.kind === 'refused' ? named.text : WHY_NO_FILE[named.kind];
    all.problems.push({ severity: 'error', file, line, text: `${JSON.stringify(showAddress(written))}: ${text}` });
  }
  return all;
}

const WHY_NO_FILE = {
  missing: 'there is nothing at this path; correct it or take it out',
  folder: 'it is a folder; name a JSON file',
} as const;

const PARTS = ['commands', 'agents', 'skills', 'output-styles', 'hooks'];
const MAX_HINTS = 5;

/** What stands where nobody looks. */
function findMisplaced(root: string, isEmpty: boolean): DefinitionProblem[] {
  const warn = (file: string, text: string): DefinitionProblem => ({ severity: 'warning', file, line: 0, text });
  const hidden = PARTS.map((part) => join(root, MANIFEST_FOLDER, part))
    .filter((path) => existsSync(path))
    .map((path) => warn(path, `nothing is looked for here; only plugin.json belongs into ${MANIFEST_FOLDER}`));
  const bare = join(root, 'plugin.json');
  const isBare = existsSync(bare) && !existsSync(join(root, MANIFEST_FILE));
  return [
    ...hidden,
    ...(isBare ? [warn(bare, `it is not read here; put it into ${MANIFEST_FOLDER}`)] : []),
    ...(isEmpty && hidden.length === 0 ? [warn(root, describeEmpty(root))] : []),
  ];
}

function describeEmpty(root: string): string {
  const text = 'it brings nothing: no commands, agents, skills, output-styles, hooks/hooks.json or .mcp.json';
  const inner = listSome(root).filter((name) => existsSync(join(root, name, MANIFEST_FILE)));
  if (inner.length === 0) return text;
  const some = inner.slice(0, MAX_HINTS).join(', ');
  return `${text}. There are plugins in it (${some}${inner.length > MAX_HINTS ? ', ...' : ''}); name each of them`;
}

const MAX_LISTED = 1_000;

const listSome = (root: string): string[] => {
  const below = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .slice(0, MAX_LISTED)
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name));
  const isSet = existsSync(join(root, 'plugins')) && statSync(join(root, 'plugins')).isDirectory();
  return [...below('.'), ...(isSet ? below('plugins') : [])];
};
