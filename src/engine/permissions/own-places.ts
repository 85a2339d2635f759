/** Where the settings and plugins of a session come from, so that they are protected under any name. */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { SessionConfig } from '../../protocol/index.js';
import type { LoadedSettings } from '../settings/load.js';
import { resolveReal } from '../workspace/files.js';
import { isInside, isProtected } from './path.js';

/** Of a folder of settings in which someone works, these alone. */
const PARTS =
  '.claude-plugin settings.json settings.local.json .claude.json CLAUDE.md agents commands hooks output-styles plugins projects rules sessions skills';

const KNOWN = new WeakMap<LoadedSettings, { key: string; places: readonly string[] }>();

export interface Surroundings {
  /** Where the session works. */
  roots: readonly string[];
  /** Those that are loaded. Whatever is in their folders may be run by a hook, so nothing of them is left out. */
  plugins?: readonly { root: string }[];
  /** What the call names: folders of plugins or marketplaces, and files of servers, which are programs that start. */
  call?: Pick<SessionConfig, 'pluginDirs' | 'mcpConfig'>;
}

/** Files and folders, as they are named and where links lead; without those that are protected by their names. */
export function ownPlacesOf(
  settings: LoadedSettings,
  { roots, plugins = [], call: { pluginDirs = [], mcpConfig = [] } = {} }: Surroundings,
): readonly string[] {
  const whole = plugins.map(({ root }) => root);
  const key = [roots, whole, pluginDirs, mcpConfig].map((list) => list.join('\0')).join('\0\0');
  const known = KNOWN.get(settings);
  if (known?.key === key) return known.places;
  const { files, layers, cwd } = settings;
  const { user, project, local, mainLocal } = files;
  const single = [user, project, local, mainLocal, ...layers.map(({ file }) => file)];
  const called = pluginDirs.filter((path) => path.trim() !== '').map((path) => resolve(cwd, path));
  const servers = mcpConfig.filter((value) => !value.trimStart().startsWith('{')).map((path) => resolve(cwd, path));
  const folders = [dirname(user), ...files.managed, ...marketplacesOf(settings), ...called];
  const all = [
    ...single.filter((file): file is string => file !== undefined && isAbsolute(file)),
    ...folders.flatMap((folder) => partsOf(folder, roots)),
    ...servers,
    ...whole,
  ];
  const places = [...new Set(all.flatMap((place) => [place, realOf(place)]))].filter((place) => !isProtected(place));
  KNOWN.set(settings, { key, places });
  return places;
}

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
