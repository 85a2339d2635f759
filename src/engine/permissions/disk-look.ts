/** Looks on the disk, and in the index of git, for what rules may be about. */
import { dirname } from 'node:path/posix';
import { type Budget, type Disk, look, MAX_BATCH, MAX_LOOKED, takeWalk, type Walk, walkNames } from './disk-walk.js';
import { foldNames } from './path.js';
import { endsAs, foldPattern } from './rules/fold-pattern.js';
import { matchesPath, mayMatchPath, type PathPattern, reachesBelow } from './rules/path-pattern.js';
import { fitsIncludes, keyOf, type Lookup, type Seen } from './seen.js';
import { HOLE, hasHole, tailOf } from './shell/hole.js';

/** Places that are looked at for one line. */
const MAX_GROUPS = 64;

/** What there is of it. What could not be looked at to the end is not among it. */
export const findSeen = (lookups: readonly Lookup[], roots: readonly string[], disk: Disk): Promise<Seen[]> =>
  takeWalk(lookAround(lookups, roots), disk);

/** Many lookups of one place are one walk. */
export function* lookAround(lookups: readonly Lookup[], roots: readonly string[]): Walk<Seen[]> {
  const groups = [...Map.groupBy(lookups, keyOf).values()];
  const budget = { left: MAX_LOOKED };
  const seen: Seen[] = [];
  for (const group of groups.slice(0, MAX_GROUPS)) {
    const [first] = group;
    if (first === undefined) continue;
    const hunt = new Hunt(group);
    const isWhole = yield* lookAt(first, { hunt, roots, budget });
    for (const each of group) {
      const at = hunt.found.get(each.pattern);
      if (at !== undefined) seen.push({ ...each, at });
      else if (isWhole && budget.left > 0) seen.push(each);
    }
  }
  return seen;
}

interface Search {
  hunt: Hunt;
  roots: readonly string[];
  budget: Budget;
}

/** Whether all was looked at that there is. */
function* lookAt(lookup: Lookup, { hunt, roots, budget }: Search): Walk<boolean> {
  const { how, place } = lookup;
  if (how === 'repository') return yield* lookUp(place, { hunt, roots, budget });
  if (how === 'tracked' || how === 'listed') return yield* lookIntoIndex(lookup, hunt);
  const at = place.indexOf(HOLE.below);
  const start = at === -1 ? place : place.slice(0, at);
  const tail = at === -1 || how === 'below' ? '' : tailOf(place);
  const ways = hasHole(start) ? (yield* walkNames(start, budget)).map(({ path }) => path) : [start];
  // Where a name goes on behind the hole, nothing is said of how it ends.
  const end = tail.includes('/') || hasHole(tail) ? '' : tail;
  for (const way of ways) hunt.meet(way);
  return how === 'matched' && at === -1 ? true : yield* lookBelow(ways, { hunt, end, budget });
}

function* lookBelow(roots: readonly string[], given: { hunt: Hunt; end: string; budget: Budget }): Walk<boolean> {
  const { hunt, end, budget } = given;
  const open = roots.map((root) => root.replace(/(?<=.)\/+$/, ''));
  const isRoot = new Set(open);
  let isWhole = true;
  while (open.length > 0 && budget.left > 0 && !hunt.isOver) {
    const batch = open.splice(-MAX_BATCH);
    const lists = yield* look(batch, budget);
    for (const [at, folder] of batch.entries()) {
      const list = lists[at];
      if (list === undefined) isWhole &&= isRoot.has(folder) && (yield* isNoFolder(folder, budget));
      const start = folder === '/' ? '' : folder;
      for (const { name, kind } of list ?? []) {
        const path = `${start}/${name}`;
        if (name.endsWith(end)) hunt.meet(path, { isFolder: kind === 'directory', isNext: end === '' });
        if (kind === 'directory' && hunt.reaches(path)) open.push(path);
      }
    }
  }
  return isWhole;
}

/** There is nothing of that name, or a file. */
function* isNoFolder(path: string, budget: Budget): Walk<boolean> {
  const [list] = yield* look([dirname(path)], budget);
  if (list === undefined) return false;
  const found = list.filter(({ name }) => foldNames(`/${name}`) === foldNames(path.slice(path.lastIndexOf('/'))));
  return found.every(({ kind }) => kind === 'file');
}

/** From a folder up to one that is worked in. */
function* lookUp(place: string, { hunt, roots, budget }: Search): Walk<boolean> {
  for (let at = place; !roots.includes(at); at = dirname(at)) {
    const [list] = at === '/' ? [] : yield* look([at], budget);
    if (list === undefined) return false;
    // Git takes a folder for a repository that holds the one, or the other and more.
    const found = list.find(({ name }) => /^(?:\.git|head)$/.test(foldNames(name)));
    if (found !== undefined) hunt.found.set(undefined, `${at}/${found.name}`);
  }
  return true;
}

function* lookIntoIndex({ how, place, ofRepository }: Lookup, hunt: Hunt): Walk<boolean> {
  const { tracked, reals } = yield { folders: [], links: [place], repository: place };
  const [real] = reals;
  if (tracked?.top === undefined || real === undefined) return false;
  const { top, entries } = tracked;
  const inner = real.slice(top.length);
  // A repository in this one is shown as well, if it is configured so.
  if (entries.some(({ kind }) => kind === 'repository') || !place.endsWith(inner)) return false;
  if (how === 'listed' && inner !== '') return false;
  // The names that it has where links lead, and as the line has it.
  const tops = new Set([top, place.slice(0, place.length - inner.length)]);
  const within = foldNames(inner === '' ? '' : `${inner.slice(1)}/`);
  for (const { name } of entries) {
    if (ofRepository !== true && !foldNames(name).startsWith(within)) continue;
    for (const each of tops) {
      hunt.meet(`${each}/${name}`);
      // Without quotes the shell takes a name for a pattern.
      const template = name.replace(/\[[^/]*\]|\?/g, HOLE.one).replaceAll('*', HOLE.star);
      if (how === 'listed' && template !== name) hunt.mayMeet(`${each}/${template}`);
    }
  }
  return true;
}

/** What is looked for in one walk. Letter case does not matter, because on some disks it does not. */
class Hunt {
  /** Where something is that a pattern matches. */
  readonly found = new Map<PathPattern | undefined, string>();
  readonly #wanted: { pattern: PathPattern; folded: PathPattern }[];
  readonly #includes: readonly string[] | undefined;

  constructor(lookups: readonly Lookup[]) {
    this.#includes = lookups[0]?.includes;
    this.#wanted = lookups.flatMap(({ pattern }) => (pattern ? [{ pattern, folded: foldPattern(pattern) }] : []));
  }

  get isOver(): boolean {
    return this.found.size === this.#wanted.length;
  }

  /** `isNext`: the folder that it is in was met before. */
  meet(path: string, { isFolder = false, isNext = false }: { isFolder?: boolean; isNext?: boolean } = {}): void {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const includes = this.#includes;
    if (includes !== undefined && (isFolder || !fitsIncludes(name, includes))) return;
    const last = isNext && includes === undefined ? foldNames(name) : undefined;
    for (const { pattern, folded } of this.#wanted) {
      if (this.found.has(pattern) || (last !== undefined && !endsAs(folded, last))) continue;
      if (matchesPath(folded, foldNames(path))) this.found.set(pattern, path);
    }
  }

  /** A path with holes. */
  mayMeet(template: string): void {
    for (const { pattern, folded } of this.#wanted)
      if (mayMatchPath(folded, foldNames(template))) this.found.set(pattern, template);
  }

  /** Something below the folder may be wanted. */
  reaches(folder: string): boolean {
    const path = foldNames(folder);
    return this.#wanted.some(({ pattern, folded }) => !this.found.has(pattern) && reachesBelow(folded, path));
  }
}
