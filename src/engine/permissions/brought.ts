/**
 * What a line has made unknown: a command of it may put links, or folders that hold some, to a place, so that a later
 * command goes through links that are not there yet when the line is judged.
 */
import { dirname } from 'node:path/posix';
import { rawPaths, resolveFrom, throughLinks } from './command.js';
import { foldNames, isInside, isKernelPath } from './path.js';
import type { Bring } from './programs/brings.js';
import type { Touch } from './programs/effects.js';
import { keptByGit } from './programs/git-words.js';
import { looksLikeFile } from './rules/file-name.js';
import { mayMatchGlob, parseGlob } from './rules/glob.js';
import type { SegmentFact } from './segment-fact.js';
import { HOLE, hasHole, isFree } from './shell/hole.js';
import { type CommandReading, type Moment, nameOf, type Redirection, type Segment } from './shell/reading.js';

/** Something that a command of the line brings. */
export interface Brought extends Pick<Bring, 'isBelow' | 'isLink' | 'isRepository' | 'takes'> {
  segment: Segment;
  first: number;
  /** Where it may be, from the root on; undefined: anywhere. */
  places: readonly string[] | undefined;
  /** Their names, as they are compared. */
  names: readonly (readonly string[])[];
  /** What is put there, from the root on, maybe with patterns; undefined: not known. */
  sources: readonly string[] | undefined;
}

/** Who touches a path: a command, or a redirection. */
export type Toucher = Pick<Segment | Redirection, 'folders' | 'when'>;

/** What of a touch says where it leads. */
export type Goal = Pick<Touch, 'path' | 'access' | 'follows' | 'isTracked'>;

type Facts = (segment: Segment) => SegmentFact;

/** All that a line brings, in its order. */
export function findBrought({ segments }: CommandReading, factOf: Facts): readonly Brought[] {
  const found: Brought[] = [];
  for (const segment of segments) {
    if (segment.role === 'remote' || segment.role === 'wrapper') continue;
    for (const bring of factOf(segment).brings) found.push(toBrought(bring, segment));
  }
  return found;
}

function toBrought({ place, sources, ...how }: Bring, segment: Segment): Brought {
  const { folders } = segment;
  const isAnywhere = /^[\uE000\uE001]/.test(place) || (folders === undefined && !place.startsWith('/'));
  const isKnown = sources !== undefined && (folders !== undefined || sources.every((source) => source.startsWith('/')));
  const places = isAnywhere ? undefined : rawPaths(place, folders).map((raw) => resolveFrom('/', raw));
  return {
    ...how,
    segment,
    first: segment.when?.first ?? 0,
    places,
    names: places?.map(namesOf) ?? [],
    sources: isKnown ? sources.flatMap((source) => rawPaths(source, folders).map(rootOf)) : undefined,
  };
}

/** Of what find found, the folder that it began in. */
function rootOf(raw: string): string {
  const at = raw.indexOf(HOLE.below);
  return resolveFrom('/', at === -1 ? raw : raw.slice(0, at));
}

const namesOf = (path: string): readonly string[] =>
  foldNames(path)
    .split('/')
    .filter((name) => name !== '');

/** What of it a touch may go through. */
export function broughtTo(all: readonly Brought[], touch: Goal, by: Toucher): readonly Brought[] {
  if (all.length === 0 || /^[\uE000\uE001]/.test(touch.path)) return [];
  const { when, folders } = by;
  const later = all.filter((each) => each.segment !== by && each.first <= (when?.last ?? Infinity));
  if (later.length === 0) return [];
  const values = 'words' in by ? (by as Segment).words.map(({ value }) => value) : [];
  const kept = keptByGit(values);
  const isKept = kept !== undefined && (touch.isTracked === true || kept.words.has(touch.path));
  // `npm test`: of a program that nobody knows not every word is a file.
  const isWord =
    touch.access === 'mention' && values[0] !== 'git' && !/\//.test(touch.path) && !looksLikeFile(touch.path);
  const isOpen = folders === undefined && !touch.path.startsWith('/');
  const raw = isOpen ? undefined : rawPaths(touch.path, folders).flatMap(withClimbs);
  return later.filter((each) => {
    const isOther = kept?.opens === true && nameOf(each.segment) !== 'git';
    if ((isWord && each.isBelow === true) || (isKept && !isOther)) return false;
    return raw === undefined || raw.some((names) => isAt(names, each, touch.follows === true || isOther));
  });
}

/** Behind a link `..` leads elsewhere: what stands before it counts as well. */
function withClimbs(raw: string): (readonly string[])[] {
  if (isKernelPath(raw)) return [];
  const climbs = raw.includes('..')
    ? [...raw.matchAll(/\/\.\.(?=\/|$)/g)].slice(0, 32).map(({ index }) => raw.slice(0, index) || '/')
    : [];
  return [raw, ...climbs].map((path) => namesOf(resolveFrom('/', path)));
}

/** True for what is or may be at the place or below it; where links below are gone through, also for what lies above. */
function isAt(given: readonly string[], brought: Brought, goesDown: boolean): boolean {
  const { places, names, isBelow = false, isRepository = false } = brought;
  if (places === undefined) return true;
  return names.some((place) => {
    // Where the top of the repository is, is not known: it is above the folder, and not the root of the disk.
    if (isRepository) return goesDown || (given[0] === place[0] && given.some((name, at) => name !== place[at]));
    for (const [at, name] of place.entries()) {
      const other = given[at];
      if (other === undefined) return goesDown;
      if (isFree(other) || isFree(name) || other.includes(HOLE.below)) return true;
      if (!mayBeSame(other, name)) return false;
    }
    return !isBelow || goesDown || given.length > place.length;
  });
}

const toTokens = (name: string): ReturnType<typeof parseGlob> => parseGlob(name.replace(/[\\*?[]/g, '\\$&'));

function mayBeSame(some: string, other: string): boolean {
  if (!hasHole(some)) return hasHole(other) ? mayMatchGlob(toTokens(some), other) : some === other;
  return hasHole(other) || mayMatchGlob(toTokens(other), some);
}

/** What must be looked at on the disk to know what is brought. */
export const linksBrought = (all: readonly Brought[]): string[] =>
  all.flatMap(({ sources = [] }) => sources.map(throughLinks));

/** What is known of the disk. */
export interface KnownDisk {
  places: ReadonlyMap<string, string>;
  linked: ReadonlyMap<string, readonly string[]>;
  isThere(place: string): boolean;
}

/** Where a touch may really lead through what the line brought before it. */
export class Ways {
  readonly #all: readonly Brought[];
  readonly #disk: KnownDisk;
  readonly #found = new Map<Brought, readonly string[]>();
  readonly #wasMade: (place: string, before: Moment) => boolean;

  constructor(all: readonly Brought[], disk: KnownDisk, wasMade: (place: string, before: Moment) => boolean) {
    this.#all = all;
    this.#disk = disk;
    this.#wasMade = wasMade;
  }

  /** Places with holes; the widest hole where nothing is known. */
  of(touch: Goal, by: Toucher): readonly string[] {
    if (this.#all.length === 0) return NOWHERE;
    const ways = broughtTo(this.#all, touch, by).flatMap((each) => this.#through(each));
    return ways.length > 1 ? [...new Set(ways)] : ways;
  }

  /** It may go through a link that the line makes itself, to a place that is not known. */
  isThroughOwn(touch: Goal, by: Toucher): boolean {
    return broughtTo(this.#all, touch, by).some(({ isLink, sources }) => isLink === true && sources === undefined);
  }

  #through(brought: Brought): readonly string[] {
    let ways = this.#found.get(brought);
    if (ways === undefined) {
      // What comes from itself in a circle may be anything.
      this.#found.set(brought, ANYWHERE);
      ways = this.#find(brought);
      this.#found.set(brought, ways);
    }
    return ways;
  }

  #find(brought: Brought): readonly string[] {
    const { sources, isLink = false, segment } = brought;
    if (sources === undefined) return ANYWHERE;
    const ways: string[] = [];
    const end = segment.when?.last ?? Infinity;
    for (const source of sources) {
      const before = this.#all.filter(
        (each) => each.segment !== segment && each.first <= end && isAt(namesOf(source), each, true),
      );
      for (const each of before) ways.push(...this.#through(each));
      if (before.length > 0 && isLink) ways.push(source);
      ways.push(...(this.#disk.linked.get(throughLinks(source)) ?? []));
      const real = this.#disk.places.get(source);
      if (!hasHole(source) && real !== source) ways.push(real ?? HOLE.any);
    }
    if (ways.length === 0) return ways;
    const isOpen = ways.some(
      (way) => isFree(way) || this.#all.some((each) => each.segment !== segment && isAt(namesOf(way), each, false)),
    );
    return isOpen || !(isLink || this.#keepsDepth(brought)) ? [...ways, HOLE.any] : ways;
  }

  /** Links lead from the new place where they led from the old one. */
  #keepsDepth({ places, sources, takes, segment }: Brought): boolean {
    const [place] = places ?? [];
    const [source] = sources ?? [];
    if (
      takes === undefined ||
      places?.length !== 1 ||
      sources?.length !== 1 ||
      place === undefined ||
      source === undefined
    )
      return false;
    if (hasHole(place) || hasHole(source) || dirname(place) !== dirname(source)) return false;
    if (takes === 'contents') return true;
    // Into a folder it is put under its own name.
    return !this.#disk.isThere(place) && !this.#wasMade(place, segment.when ?? ALWAYS);
  }
}

const NOWHERE: readonly string[] = [];
const ANYWHERE: readonly string[] = [HOLE.any];
const ALWAYS: Moment = { first: Infinity, last: Infinity };

/** Whether a command of the line makes something at a place before a moment. */
export const madeBefore =
  ({ segments, redirections }: CommandReading, factOf: Facts) =>
  (place: string, { first, last }: Moment): boolean => {
    const isThere = (path: string, { folders, when }: Toucher): boolean =>
      (when?.first ?? 0) < last &&
      (when?.first ?? 0) !== first &&
      rawPaths(path, folders).some(
        (raw) => hasHole(raw) || isInside(foldNames(place), foldNames(resolveFrom('/', raw))),
      );
    return (
      redirections.some((each) => each.writes && isThere(each.target?.value ?? HOLE.any, each)) ||
      segments.some((each) => [...factOf(each).written.paths].some((path) => isThere(path, each)))
    );
  };
