/** Notices that definition files changed. It never keeps the process alive, and misses nothing that comes after it began. */
import { type FSWatcher, type Stats, opendirSync, realpathSync, statSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../protocol/index.js';
import type { DefinitionFolder } from './definition.js';

export interface DefinitionWatch {
  /** Nothing is called afterwards. A second call does nothing. */
  close(): void;
}

export interface WatchDefinitionsOptions {
  clock: Clock;
  /** Something may be different: load again. Called once for changes that come together. What it throws is the caller's. */
  onChange(): void;
  /** Not everything can be watched: what, and why. */
  onProblem?(text: string): void;
  /** How long it must be quiet. */
  quietMs?: number;
}

const QUIET_MS = 200;
/** Of a stream of changes something is told now and then. */
const LONGEST_WAIT_MS = 2_000;
const MAX_FOLDERS = 2_000;
const MAX_NAMES = 20_000;
const MAX_DEPTH = 8;

interface Watched {
  watcher: FSWatcher;
  /** Tells a folder from another one that took its name. */
  identity: string;
}

interface Wanted {
  identity: string;
  /** Only these names in it matter, being on the way to a folder. Absent: the folder itself counts, with all in it. */
  names?: Set<string>;
}

export function watchDefinitions(
  folders: readonly DefinitionFolder[],
  options: WatchDefinitionsOptions,
): DefinitionWatch {
  const { clock, onChange, onProblem, quietMs = QUIET_MS } = options;
  const watched = new Map<string, Watched>();
  let wanted: ReadonlyMap<string, Wanted> = new Map();
  let isClosed = false;
  let hasChanged = false;
  let firstAt: number | undefined;
  let cancel: (() => void) | undefined;
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (told.has(text)) return;
    told.add(text);
    onProblem?.(text);
  };

  const settle = (): void => {
    cancel = undefined;
    firstAt = undefined;
    // First the watchers, then the news: what changes while it is loaded is seen.
    const isDifferent = renew();
    if (!hasChanged && !isDifferent) return;
    hasChanged = false;
    onChange();
  };

  const notice = (counts: boolean): void => {
    if (isClosed) return;
    hasChanged ||= counts;
    firstAt ??= clock.monotonic();
    const wait = Math.max(0, Math.min(quietMs, firstAt + LONGEST_WAIT_MS - clock.monotonic()));
    cancel?.();
    cancel = clock.after(wait, settle, { background: true });
  };

  const hear = (path: string, name: string | null): void => {
    const names = wanted.get(path)?.names;
    if (names === undefined) notice(name === null || /\.md$/i.test(name));
    else if (name === null || names.has(name) || name === basename(path)) notice(false);
  };

  const open = (path: string): FSWatcher | undefined => {
    try {
      const watcher = watch(path, { persistent: false }, (_, name) => hear(path, name));
      // A folder that goes away is an error on some systems.
      watcher.on('error', () => notice(false));
      return watcher;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') tell(`${path} is not watched for changes: ${message}`);
      return undefined;
    }
  };

  const drop = (path: string): void => {
    watched.get(path)?.watcher.close();
    watched.delete(path);
  };

  /** Watches what there is now. True when folders that count have come, gone or been replaced. */
  function renew(): boolean {
    wanted = findFolders(folders, tell);
    let isDifferent = false;
    for (const [path, { identity }] of watched) {
      if (wanted.get(path)?.identity === identity) continue;
      isDifferent ||= identity.startsWith('inner');
      drop(path);
    }
    for (const [path, { identity, names }] of wanted) {
      if (watched.has(path)) continue;
      const watcher = open(path);
      if (watcher === undefined) continue;
      isDifferent ||= names === undefined;
      watched.set(path, { watcher, identity });
    }
    return isDifferent;
  }

  renew();
  return {
    close() {
      isClosed = true;
      cancel?.();
      for (const path of watched.keys()) drop(path);
    },
  };
}

function findFolders(folders: readonly DefinitionFolder[], tell: (text: string) => void): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { kind, path } of folders) {
    const root = resolveFolder(path);
    if (root !== undefined && !addTree(wanted, root, kind === 'skills' ? 1 : MAX_DEPTH)) {
      tell(`${path} holds too many folders; some are not watched for changes`);
    }
    addParent(wanted, path);
  }
  return wanted;
}

function addFolder(wanted: Map<string, Wanted>, path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) wanted.set(path, { identity: `inner:${identify(stats)}` });
}

/** The number of a folder that is gone is soon given to another one; the time of its birth is not. */
const identify = ({ dev, ino, birthtimeMs }: Stats): string => `${dev}:${ino}:${birthtimeMs}`;

/** The nearest parent that exists: there a folder comes, or is replaced together with what is around it. */
function addParent(wanted: Map<string, Wanted>, path: string): void {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const parent = resolveFolder(dirname(at));
    if (parent === undefined) continue;
    const known = wanted.get(parent);
    known?.names?.add(basename(at));
    const stats = known === undefined ? statSync(parent, { throwIfNoEntry: false }) : undefined;
    if (stats === undefined) return;
    wanted.set(parent, { identity: `outer:${identify(stats)}`, names: new Set([basename(at)]) });
    return;
  }
}

/** The folder and those in it. Links are not followed. False when there are too many. */
function addTree(wanted: Map<string, Wanted>, root: string, depth: number): boolean {
  let names = 0;
  const places = [{ path: root, depth }];
  for (let place = places.shift(); place !== undefined; place = places.shift()) {
    if (wanted.size >= MAX_FOLDERS) return false;
    try {
      addFolder(wanted, place.path);
      if (place.depth === 0) continue;
      const folder = opendirSync(place.path);
      try {
        for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
          names += 1;
          if (names > MAX_NAMES) return false;
          const isWanted = entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules';
          if (isWanted) places.push({ path: join(place.path, entry.name), depth: place.depth - 1 });
        }
      } finally {
        folder.closeSync();
      }
    } catch {
      // It went away, or cannot be read: whoever loads it says so.
    }
  }
  return true;
}

/** Where a folder really is; for a path that names one file, the folder of it. Undefined when there is nothing. */
function resolveFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : dirname(real);
  } catch {
    return undefined;
  }
}
