/** Where what a session obeys comes from, so that it is protected under any name: settings, plugins, scripts of hooks. */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { SessionConfig } from '../../protocol/index.js';
import type { LoadedSettings } from '../settings/load.js';
import { resolveReal } from '../workspace/files.js';
import type { Agent } from '../definitions/definition.js';
import type { ServerDefinition } from '../mcp/server-definition.js';
import { type Command, commandsOfHooks, filesNamedBy } from './command-files.js';
import { linksIn } from './linked-places.js';
import { isInside, isProtected } from './path.js';

/** Of a folder of settings in which someone works, these alone. */
const PARTS =
  '.claude-plugin settings.json settings.local.json .claude.json CLAUDE.md agents commands hooks output-styles plugins projects rules sessions skills';

/** By what else they depend on: an agent may work in another folder, and so may the sandbox. */
const KNOWN = new WeakMap<LoadedSettings, Map<string, readonly string[]>>();
const MAX_KNOWN = 16;

export interface Surroundings {
  /** Where the session works. */
  roots: readonly string[];
  /** Those that are loaded. Whatever is in their folders may be run by a hook, so nothing of them is left out. */
  plugins?: readonly { root: string }[];
  /** What the call names: folders of plugins or marketplaces, and files of servers, which are programs that start. */
  call?: Pick<SessionConfig, 'pluginDirs' | 'mcpConfig'>;
  /** Where commands of hooks start, beside the folder that the session was called in. */
  cwd?: string;
  /** Whose hooks may run, and which programs are started for their tools. */
  agents?: ReadonlyMap<string, Pick<Agent, 'hooks'>>;
  servers?: ReadonlyMap<string, ServerDefinition>;
}

/** Files and folders, as they are named and where links lead; without those that are protected by their names. */
export function ownPlacesOf(
  settings: LoadedSettings,
  { roots, plugins = [], call = {}, cwd: current = settings.cwd, ...others }: Surroundings,
): readonly string[] {
  const { pluginDirs = [], mcpConfig = [] } = call;
  const whole = plugins.map(({ root }) => root);
  const commands = commandsBeside(others);
  const lists = [roots, whole, pluginDirs, mcpConfig, [current], commands.flat()];
  const key = lists.map((list) => list.join('\0')).join('\0\0');
  const known = KNOWN.get(settings) ?? new Map<string, readonly string[]>();
  const before = known.get(key);
  if (before !== undefined) return before;
  const { files, layers, cwd } = settings;
  const { user, project, local, mainLocal, projectRoot, home } = files;
  const single = [user, project, local, mainLocal, ...layers.map(({ file }) => file)];
  const called = pluginDirs.filter((path) => path.trim() !== '').map((path) => resolve(cwd, path));
  const serverFiles = mcpConfig.filter((value) => !value.trimStart().startsWith('{')).map((path) => resolve(cwd, path));
  const folders = [dirname(user), ...files.managed, ...marketplacesOf(settings), ...called];
  const all = [
    ...single.filter((file): file is string => file !== undefined && isAbsolute(file)),
    ...folders.flatMap((folder) => partsOf(folder, roots)),
    ...serverFiles,
    ...whole,
    ...linkedFrom([...roots, projectRoot, home], roots),
    ...filesNamedBy([...commandsIn(settings), ...commands], {
      folders: [...new Set([cwd, projectRoot, current])],
      projectRoot,
      home,
      roots: [...new Set([...roots, projectRoot])],
    }),
  ];
  const places = [...new Set(all.flatMap((place) => [place, realOf(place)]))].filter((place) => !isProtected(place));
  if (known.size >= MAX_KNOWN) known.clear();
  KNOWN.set(settings, known.set(key, places));
  return places;
}

/** Those of hooks that count, and of helpers. */
function commandsIn({ hookSources, value: { apiKeyHelper, statusLine } }: LoadedSettings): string[] {
  const { command } = (statusLine ?? {}) as { command?: unknown };
  const helpers = [apiKeyHelper, command].filter((each) => typeof each === 'string');
  return [...hookSources.flatMap(({ hooks }) => commandsOfHooks(hooks)), ...helpers];
}

const commandsBeside = ({ agents, servers }: Pick<Surroundings, 'agents' | 'servers'>): Command[] => [
  ...[...(agents?.values() ?? [])].flatMap(({ hooks }) => commandsOfHooks(hooks)),
  ...[...(servers?.values() ?? [])].flatMap(({ config }) =>
    config !== undefined && 'command' in config ? [[config.command, ...(config.args ?? [])]] : [],
  ),
];

/** What is enabled of these runs in the next session. Those of the person count beside a project's of the same name. */
function marketplacesOf({ value, origins, layers, cwd, files: { projectRoot, home } }: LoadedSettings): string[] {
  const own = layers.flatMap(({ name, settings }) => (name === 'user' ? [settings.extraKnownMarketplaces ?? {}] : []));
  const known = [value.extraKnownMarketplaces ?? {}, ...own].flatMap((table) => Object.entries(table));
  return known.flatMap(([name, given]) => {
    const { source: kind, path } = (given as { source?: { source?: unknown; path?: unknown } } | null)?.source ?? {};
    if (typeof path !== 'string' || (kind !== 'directory' && kind !== 'file')) return [];
    const base = origins[`extraKnownMarketplaces.${name}`] === 'flag' ? cwd : projectRoot;
    const place = resolve(base, /^~(?:\/|$)/.test(path) ? join(home, path.slice(1)) : path);
    if (kind === 'directory') return [place];
    const folder = dirname(place);
    return [basename(folder) === '.claude-plugin' ? dirname(folder) : folder];
  });
}

/** Where protected names lead, as far as a session may write there without a question of another kind. */
const linkedFrom = (folders: readonly string[], roots: readonly string[]): string[] =>
  linksIn(folders).flatMap((link) => {
    const real = realOf(link);
    if (!folders.some((folder) => isInside(folder, real) || isInside(real, folder))) return [];
    return basename(link) === '.claude' ? partsOf(real, roots) : [real];
  });

const partsOf = (folder: string, roots: readonly string[]): string[] =>
  roots.some((root) => isInside(folder, root) || isInside(realOf(folder), root))
    ? PARTS.split(' ').map((part) => join(folder, part))
    : [folder];

/** A link that leads to itself is protected as what it is called. */
function realOf(place: string): string {
  try {
    return resolveReal(place);
  } catch {
    return place;
  }
}
