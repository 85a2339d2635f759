/** Which places settings, working directories and the system name, as they are at this moment. */
import { lstatSync } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, normalize } from 'node:path';
import type { Logger, SandboxSettings } from '../../protocol/index.js';
import { isInside } from '../permissions/path.js';
import { resolveReal } from '../workspace/files.js';
import type { Kind, Places } from './mounts.js';
import { expandPattern, isLiteral, type PatternBase, toPattern } from './patterns.js';
import { findProtected, type Guarded, isRepository } from './protected.js';
import { listSockets, SOCKET_FOLDERS } from './sockets.js';
import { isFree } from './stubs.js';

export interface PlacesOptions {
  settings: SandboxSettings;
  roots: readonly string[];
  home: string;
  configDir: string;
  /** Folders of the host's PATH stay visible. */
  path: string;
  /** The folders of this sandbox: what stands for /tmp, and where its sockets are. */
  own: { temporary: string; sockets: string };
  /** Where the settings and plugins of the session come from, with these working directories. */
  ownPlaces?: (roots: readonly string[]) => readonly string[];
  logger?: Logger;
}

export interface Sight {
  places: Places;
  /** What of it must not come to be, and what may stand for it. */
  guarded: ReadonlyMap<string, Guarded>;
  kindOf(path: string): Kind;
}

export interface PlaceFinder {
  /** Folders that settings allow to write, links resolved. */
  readonly allowed: readonly string[];
  /** Sockets that may be used. */
  isAllowedSocket(path: string): boolean;
  look(roots: readonly string[]): Promise<Sight>;
}

/**
 * What is allowed is resolved here, once and for all: a command that puts a link where an allowed path was opens nothing.
 * What is denied is looked up anew each time.
 */
export async function createPlaceFinder(options: PlacesOptions): Promise<PlaceFinder> {
  const { settings, roots, own } = options;
  const { filesystem = {}, network = {} } = settings;
  const home = resolveReal(options.home);
  const configDir = resolveReal(options.configDir);
  const base: PatternBase = { home, project: roots[0] ?? '/' };
  const read = (field: 'allowWrite' | 'denyWrite' | 'allowRead' | 'denyRead'): string[] =>
    (filesystem[field] ?? []).map((entry) => toPattern(entry, `filesystem.${field}`, base));
  const denyRead = read('denyRead');
  const denyWrite = read('denyWrite');
  const resolveAllowed = (patterns: readonly string[], writable: readonly string[]): Promise<string[]> =>
    resolveOnce(patterns, { writable, logger: options.logger });
  const allowWrite = read('allowWrite');
  const allowed = await resolveAllowed(allowWrite, [...roots, ...allowWrite.filter(isLiteral)]);
  const areBare = await Promise.all(allowed.map(isRepository));
  const bare = allowed.filter((_, at) => areBare[at]);
  const readable = await resolveAllowed(read('allowRead'), [...roots, ...allowed]);
  const socketPatterns = (network.allowUnixSockets ?? []).map((entry) =>
    toPattern(entry, 'network.allowUnixSockets', base),
  );
  const sockets = await resolveAllowed(socketPatterns, [...roots, ...allowed]);
  const temporary = resolveReal('/tmp');
  const hasAllSockets = network.allowAllUnixSockets === true;
  const veiled = hasAllSockets ? [] : await findFolders(SOCKET_FOLDERS);
  const isAllowedSocket = (path: string): boolean =>
    hasAllSockets || [...sockets, ...socketPatterns].some((each) => isInside(each, path));

  const findHidden = async (current: readonly string[]): Promise<string[]> => {
    const paths = (await Promise.all(denyRead.map(expandPattern))).flat();
    const secrets = [join(configDir, '.credentials.json')];
    const closed = hasAllSockets ? [] : (await listSockets()).filter((path) => !isAllowedSocket(path));
    const reals = [...paths, ...secrets].map((path) => resolveReal(path));
    const others = (await findSockets(closed)).filter(
      (path) => !isAllowedSocket(path) && ![...current, own.sockets].some((folder) => isInside(folder, path)),
    );
    return [...reals, ...others];
  };

  return {
    allowed,
    isAllowedSocket,
    async look(current) {
      const [writable, open, hidden, denied, guards] = await Promise.all([
        keepUnmoved([...current, ...allowed]),
        keepUnmoved([...readable, ...sockets]),
        findHidden(current),
        findDenied(denyWrite),
        findProtected({ roots: current, allowed, bare, home, configDir, own: options.ownPlaces?.(current) ?? [] }),
      ]);
      const places: Places = {
        writable,
        openers: guards.openers,
        denied,
        protected: guards.guarded.map(({ path }) => path),
        hidden,
        veiled,
        shown: [...open, own.sockets, ...findPathFolders(options.path, [...veiled, temporary])],
        temporary,
        scratch: own.temporary,
      };
      const guarded = new Map(
        [...denied.map((path) => ({ path })), ...guards.guarded].map((each) => [each.path, each]),
      );
      return { places, guarded, kindOf: (path) => kindOf(path, guarded.get(path)) };
    },
  };
}

/** Links in folders that commands may write grant nothing. */
async function resolveOnce(
  patterns: readonly string[],
  { writable, logger }: { writable: readonly string[]; logger?: Logger },
): Promise<string[]> {
  const found: string[] = [];
  for (const pattern of patterns) {
    for (const path of await expandNames(pattern)) {
      const real = resolveReal(path);
      const isReachable = writable.some((folder) => folder !== path && isInside(folder, path));
      if (real === path || !isReachable) found.push(real);
      else logger?.('warn', `The sandbox does not open ${path}: it is a link in a folder that commands may write.`);
    }
  }
  return found;
}

/** What is there and still is what it was. */
async function keepUnmoved(paths: readonly string[]): Promise<string[]> {
  const reals = paths.map((path) => resolveReal(path));
  return paths.filter((path, at) => reals[at] === path);
}

/** A literal pattern names a path that need not exist. */
const expandNames = async (pattern: string): Promise<string[]> =>
  isLiteral(pattern) ? [pattern] : expandPattern(pattern);

/** The name itself, since it may not exist yet, and what it leads to. */
async function findDenied(patterns: readonly string[]): Promise<string[]> {
  const paths = await Promise.all(patterns.map(expandNames));
  const named = await Promise.all(
    paths.flat().map(async (path) => [join(resolveReal(dirname(path)), basename(path)), resolveReal(path)]),
  );
  return [...new Set(named.flat())];
}

async function findFolders(paths: readonly string[]): Promise<string[]> {
  const reals = paths.map((path) => resolveReal(path));
  const kinds = await Promise.all(reals.map((path) => stat(path).catch(() => undefined)));
  return [...new Set(reals.filter((_, at) => kinds[at]?.isDirectory() === true))];
}

function orItself(path: string): string {
  try {
    return resolveReal(path);
  } catch {
    return path;
  }
}

async function findSockets(paths: readonly string[]): Promise<string[]> {
  const reals = paths.map((path) => orItself(path));
  const kinds = await Promise.all(reals.map((path) => lstat(path).catch(() => undefined)));
  return [...new Set(reals.filter((_, at) => kinds[at]?.isSocket() === true))];
}

const findPathFolders = (path: string, within: readonly string[]): string[] =>
  path
    .split(delimiter)
    .map((folder) => normalize(folder).replace(/(?<=.)\/+$/, ''))
    .filter((folder) => isAbsolute(folder) && within.some((each) => each !== folder && isInside(each, folder)));

function kindOf(path: string, guarded: Guarded | undefined): Kind {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'absent';
  if (stats.isSymbolicLink()) return 'link';
  if (guarded !== undefined && isFree(guarded)) return 'absent';
  return stats.isDirectory() ? 'folder' : 'file';
}
