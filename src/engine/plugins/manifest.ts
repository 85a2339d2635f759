/** `.claude-plugin/plugin.json`: what a plugin is called, and what it brings beside its default folders. */
import { join } from 'node:path';
import type { DefinitionFolder, DefinitionProblem } from '../definitions/definition.js';
import { didYouMean, findNearName } from '../settings/near-name.js';
import { isTable } from '../settings/table.js';
import { withoutUser } from './address.js';
import { follow } from './inside.js';
import { type JsonPart, partAt, problemAt, readJson } from './json-part.js';
import { findNameFault } from './names.js';
import type { PluginAuthor, PluginFacts } from './plugin.js';

export const MANIFEST_FOLDER = '.claude-plugin';
export const MANIFEST_FILE = join(MANIFEST_FOLDER, 'plugin.json');

/** A path as it is written. */
export interface WrittenPath {
  written: string;
  file: string;
  line: number;
}

/** Something that stands in a file of its own, or in the manifest itself. */
export type FileOrPart = WrittenPath | JsonPart;

export interface Manifest {
  name: string;
  facts: PluginFacts;
  paths: Readonly<Record<DefinitionFolder['kind'], readonly WrittenPath[]>>;
  hooks: readonly FileOrPart[];
  mcpServers: readonly FileOrPart[];
  /** The default places are not looked into: others share the folder, and this is what is theirs of it. */
  isWhole?: boolean;
}

/** Whether it says what the plugin brings. */
export const namesParts = ({ paths, hooks, mcpServers }: Manifest): boolean =>
  hooks.length + mcpServers.length > 0 || Object.values(paths).some((list) => list.length > 0);

export interface ReadManifest {
  /** Absent when the plugin cannot be used at all: nobody knows what it is called. */
  manifest?: Manifest;
  problems: DefinitionProblem[];
}

/** Keys that other programs use. They bring nothing here, and whoever counts on them should know. */
const KEYS_OF_OTHERS = new Set(
  'bin channels dependencies experimental lspServers monitors settings themes userConfig'.split(' '),
);
/** They mean nothing to anyone's session. */
const SILENT = new Set('$schema category displayName strict tags'.split(' '));
const PATH_KEYS = {
  commands: 'commands',
  agents: 'agents',
  skills: 'skills',
  outputStyles: 'output-styles',
} as const satisfies Record<string, DefinitionFolder['kind']>;
const KNOWN =
  'name version description author homepage repository license keywords commands agents skills outputStyles hooks mcpServers'.split(
    ' ',
  );

/** `root` has its links resolved. A folder without a manifest is a plugin that is called as its folder. */
export async function readManifest(root: string, folderName: string): Promise<ReadManifest> {
  const file = join(root, MANIFEST_FILE);
  const place = follow(root, file);
  if (place.kind === 'missing') return nameAfterFolder(root, folderName);
  if (place.kind === 'refused') return { problems: [{ severity: 'error', file, line: 0, text: place.text }] };
  if (place.kind === 'folder') {
    return { problems: [{ severity: 'error', file, line: 0, text: 'it is a folder; a file is expected' }] };
  }
  const { part, problems } = await readJson(file);
  if (part === undefined) return { problems };
  const parsed = parseManifest(part, folderName);
  return { ...parsed, problems: [...problems, ...parsed.problems] };
}

function nameAfterFolder(root: string, name: string): ReadManifest {
  const fault = findNameFault(name);
  const manifest: Manifest = { name, facts: {}, paths: NO_PATHS, hooks: [], mcpServers: [] };
  if (fault?.severity !== 'error') return { manifest, problems: [] };
  const text = `a folder without ${MANIFEST_FILE} is a plugin of the folder's name, and ${fault.text}`;
  return { problems: [{ severity: 'error', file: root, line: 0, text }] };
}

const NO_PATHS: Manifest['paths'] = { agents: [], commands: [], skills: [], 'output-styles': [] };

/** What the text of a manifest says. Pure. */
export function parseManifest(part: JsonPart, folderName: string): ReadManifest {
  const problems: DefinitionProblem[] = [];
  const { value } = part;
  const say = (rest: string, text: string, severity: DefinitionProblem['severity'] = 'error'): void =>
    void problems.push(problemAt(part, rest, { severity, text }));
  if (!isTable(value)) {
    say('', 'a manifest must be one JSON object: { "name": "my-plugin" }');
    return { problems };
  }
  for (const key of Object.keys(value)) {
    if (KNOWN.includes(key) || SILENT.has(key)) continue;
    const text = KEYS_OF_OTHERS.has(key)
      ? `"${key}" has no effect here`
      : `the key ${JSON.stringify(key)} is not known${didYouMean(findNearName(key, KNOWN))}`;
    say(toRest(key), text, 'warning');
  }
  const name = readName(value.name, { folderName, say });
  const paths = { ...NO_PATHS };
  for (const [key, kind] of Object.entries(PATH_KEYS)) paths[kind] = readPaths(part, key, value[key], say);
  const manifest = {
    facts: readFacts(value, say),
    paths,
    hooks: readParts(part, 'hooks', value.hooks, say),
    mcpServers: readParts(part, 'mcpServers', value.mcpServers, say),
  };
  return { ...(name !== undefined && { manifest: { name, ...manifest } }), problems };
}

/** The path of a key as the text knows it. */
export const toRest = (key: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

type Say = (rest: string, text: string, severity?: DefinitionProblem['severity']) => void;

function readName(name: unknown, { folderName, say }: { folderName: string; say: Say }): string | undefined {
  if (name !== undefined && typeof name !== 'string') {
    say('.name', '"name" must be text, such as "my-plugin"');
    return undefined;
  }
  const fault = findNameFault(name ?? folderName);
  if (name === undefined) {
    const isUsable = fault?.severity !== 'error';
    const why = isUsable ? `the name of the folder, "${folderName}", is used` : fault.text;
    say('', `"name" is missing; ${why}`, isUsable ? 'warning' : 'error');
    return isUsable ? folderName : undefined;
  }
  if (fault !== undefined) say('.name', fault.text, fault.severity);
  return fault?.severity === 'error' ? undefined : name;
}

function readFacts(value: Record<string, unknown>, say: Say): PluginFacts {
  const text = (key: string): string | undefined => {
    const given = value[key];
    if (given === undefined || typeof given === 'string') return given;
    if (key === 'version' && typeof given === 'number') {
      say('.version', `"version" should be text: "${given}"`, 'warning');
      return String(given);
    }
    say(toRest(key), `"${key}" must be text, and is left out`, 'warning');
    return undefined;
  };
  // As in the manifests of npm, where it is an object with the address in it.
  const { repository } = value;
  const url = isTable(repository) && typeof repository.url === 'string' ? repository.url : text('repository');
  const shown = (address: string | undefined) => (address === undefined ? undefined : withoutUser(address));
  const facts: PluginFacts = {
    version: text('version'),
    description: text('description'),
    author: readAuthor(value.author, say),
    homepage: shown(text('homepage')),
    repository: shown(url),
    license: text('license'),
    keywords: readKeywords(value.keywords, say),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined));
}

function readAuthor(author: unknown, say: Say): PluginAuthor | undefined {
  if (author === undefined) return undefined;
  if (typeof author === 'string') return { name: author };
  if (isTable(author) && typeof author.name === 'string') {
    const { name, email, url } = author;
    return {
      name,
      ...(typeof email === 'string' && { email }),
      ...(typeof url === 'string' && { url: withoutUser(url) }),
    };
  }
  say('.author', '"author" must be a name, or an object with "name", and is left out', 'warning');
  return undefined;
}

function readKeywords(keywords: unknown, say: Say): string[] | undefined {
  if (keywords === undefined) return undefined;
  const list = typeof keywords === 'string' ? [keywords] : keywords;
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list;
  say('.keywords', '"keywords" must be a list of words, and is left out', 'warning');
  return undefined;
}

const MAX_PATHS = 1_000;

/** Each one of a list, or the one thing that stands in its place. */
function eachOf(key: string, value: unknown, say: Say): { rest: string; each: unknown }[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [{ rest: toRest(key), each: value }];
  if (value.length > MAX_PATHS) say(toRest(key), `"${key}" is too long; only the first ${MAX_PATHS} count`);
  return value.slice(0, MAX_PATHS).map((each: unknown, at) => ({ rest: `${toRest(key)}[${at}]`, each }));
}

function readPaths(part: JsonPart, key: string, value: unknown, say: Say): WrittenPath[] {
  return eachOf(key, value, say).flatMap(({ rest, each }) => {
    if (typeof each === 'string') return [{ written: each, file: part.file, line: part.lineOf(rest) }];
    say(rest, `"${key}" must be a path such as "./more/${key}", or a list of paths`);
    return [];
  });
}

function readParts(part: JsonPart, key: string, value: unknown, say: Say): FileOrPart[] {
  return eachOf(key, value, say).flatMap(({ rest, each }): FileOrPart[] => {
    if (typeof each === 'string') return [{ written: each, file: part.file, line: part.lineOf(rest) }];
    if (isTable(each)) return [partAt(part, rest, each)];
    say(rest, `"${key}" must be the path of a file in the plugin, or an object`);
    return [];
  });
}
