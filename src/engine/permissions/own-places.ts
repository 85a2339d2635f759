/** Where the settings and plugins of a session come from, so that they are protected under any name. */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { LoadedSettings } from '../settings/load.js';
import { resolveReal } from '../workspace/files.js';
import { isInside, isProtected } from './path.js';

/** Of a folder of settings in which someone works, these alone. */
const PARTS =
  '.claude-plugin settings.json settings.local.json .claude.json CLAUDE.md agents commands hooks output-styles plugins projects rules sessions skills';

const KNOWN = new WeakMap<LoadedSettings, { key: string; places: readonly string[] }>();

/** Files and folders, as they are named and where links lead; without those that are protected by their names. */
export function ownPlacesOf(settings: LoadedSettings, roots: readonly string[]): readonly string[] {
  const key = roots.join('\0');
  const known = KNOWN.get(settings);
  if (known?.key === key) return known.places;
  const { files, layers } = settings;
  const { user, project, local, mainLocal } = files;
  const single = [user, project, local, mainLocal, ...layers.map(({ file }) => file)];
  const folders = [dirname(user), ...files.managed, ...marketplacesOf(settings)];
  const named = [
    ...single.filter((file): file is string => file !== undefined && isAbsolute(file)),
    ...folders.flatMap((folder) => partsOf(folder, roots)),
  ];
  const places = [...new Set(named.flatMap((place) => [place, realOf(place)]))].filter((place) => !isProtected(place));
  KNOWN.set(settings, { key, places });
  return places;
}

/** What is enabled of these runs in the next session. */
const marketplacesOf = ({ value, files: { projectRoot, home } }: LoadedSettings): string[] =>
  Object.values(value.extraKnownMarketplaces ?? {}).flatMap((given) => {
    const { source: kind, path } = (given as { source?: { source?: unknown; path?: unknown } } | null)?.source ?? {};
    if (typeof path !== 'string' || (kind !== 'directory' && kind !== 'file')) return [];
    const place = resolve(projectRoot, path.startsWith('~/') ? join(home, path.slice(2)) : path);
    if (kind === 'directory') return [place];
    const folder = dirname(place);
    return [basename(folder) === '.claude-plugin' ? dirname(folder) : folder];
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
