/** How the disk is looked at before a line is judged: a walk says what it wants to know, and whoever has a disk answers. */
import type { IndexDisk, Tracked } from './git-index.js';
import { mayMatchGlob, parseGlob } from './rules/glob.js';
import { hasHole } from './shell/hole.js';

/** What is in a folder. */
export interface FolderEntry {
  name: string;
  kind: 'file' | 'directory' | 'link';
}

export interface Disk {
  list(folder: string): Promise<readonly FolderEntry[] | undefined>;
  realPath(path: string): Promise<string>;
  /** Without this it is not known what git lists. */
  readFile?: IndexDisk['readFile'] | undefined;
}

/** What a walk wants to know of the disk. */
export interface Wish {
  folders: readonly string[];
  links: readonly string[];
  /** A folder: what git lists there. */
  repository?: string;
}

/** What is in each of the folders, and where each of the links leads; undefined where it leads in a circle. */
export interface Sight {
  entries: readonly (readonly FolderEntry[] | undefined)[];
  reals: readonly (string | undefined)[];
  /** Undefined when that could not be found out. */
  tracked?: Tracked | undefined;
}

export type Walk<T> = Generator<Wish, T, Sight>;

/** Answers a walk. */
export async function takeWalk<T>(walk: Walk<T>, disk: Disk): Promise<T> {
  let step = walk.next();
  while (!step.done) {
    const { folders, links, repository } = step.value;
    const [entries, reals, tracked] = await Promise.all([
      Promise.all(folders.map((folder) => disk.list(folder))),
      Promise.all(links.map((link) => disk.realPath(link).catch(() => undefined))),
      repository === undefined ? undefined : findTracked(repository, disk),
    ]);
    step = walk.next({ entries, reals, tracked });
  }
  return step.value;
}

async function findTracked(folder: string, { list, realPath, readFile }: Disk): Promise<Tracked | undefined> {
  if (readFile === undefined) return undefined;
  const { trackedIn } = await import('./git-index.js');
  const real = await realPath(folder).catch(() => undefined);
  return real === undefined ? undefined : trackedIn(real, { list, readFile });
}

export interface Way {
  path: string;
  isLinked: boolean;
  /** Where it is, if that was found out on the way. */
  real?: string | undefined;
}

export interface Budget {
  left: number;
}

/** How many names are looked at for one line. */
export const MAX_LOOKED = 250_000;
/** Folders that are asked for at once. */
export const MAX_BATCH = 64;

/** All that is on the disk and matches a path with holes. */
export function* walkNames(template: string, budget: Budget): Walk<Way[]> {
  let ways: Way[] = [{ path: '', isLinked: false }];
  const names = template.split('/').filter((name) => name !== '' && name !== '.');
  for (const [at, name] of names.entries()) {
    if (!hasHole(name)) {
      ways = ways.map(({ path, isLinked }) => ({ path: `${path}/${name}`, isLinked }));
      continue;
    }
    const isLast = at === names.length - 1;
    const next: Way[] = [];
    for (let start = 0; start < ways.length; start += MAX_BATCH) {
      const batch = ways.slice(start, start + MAX_BATCH);
      const lists = yield* look(
        batch.map(({ path }) => path),
        budget,
      );
      for (const [index, { path, isLinked }] of batch.entries()) {
        for (const entry of lists[index] ?? []) {
          if (!fits(name, entry.name) || (entry.kind === 'file' && !isLast)) continue;
          next.push({ path: `${path}/${entry.name}`, isLinked: isLinked || entry.kind === 'link' });
        }
      }
    }
    ways = next;
  }
  return ways;
}

export function* look(folders: readonly string[], budget: Budget): Walk<Sight['entries']> {
  if (budget.left <= 0 || folders.length === 0) return [];
  const { entries } = yield { folders: folders.map((folder) => folder || '/'), links: [] };
  for (const list of entries) budget.left -= (list?.length ?? 0) + 1;
  return entries;
}

export function* resolveAll(ways: readonly Way[]): Walk<Sight['reals']> {
  if (ways.every((way) => 'real' in way)) return ways.map(({ real }) => real);
  const { reals } = yield { folders: [], links: ways.map(({ path }) => path || '/') };
  return reals;
}

/** A star of the shell does not match a leading dot. */
const fits = (pattern: string, name: string): boolean =>
  !(name.startsWith('.') && hasHole(pattern.charAt(0))) &&
  mayMatchGlob(parseGlob(name.replace(/[\\*?[]/g, '\\$&')), pattern);
