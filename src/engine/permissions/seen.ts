/**
 * What a rule is about only where there is something: a search below a folder, names that are only listed when the line
 * runs. Such places are looked for on the disk before the line is judged, and what was seen there travels with the call.
 */
import { basename } from 'node:path/posix';
import { matchesGlob, parseGlob } from './rules/glob.js';
import type { PathPattern } from './rules/path-pattern.js';
import { HOLE, hasHole, isFree } from './shell/hole.js';

/** Something to look for. */
export interface Lookup {
  /**
   * `below`: all that lies below what the place matches, and that itself. `matched`: what the place, a path with holes,
   * matches. `tracked`: what git has taken up below the place, or in all of its repository. `listed`: names that git lists
   * at the place. `repository`: whether the place, or a folder above it up to one that is worked in, is a repository of
   * its own.
   */
  how: 'below' | 'matched' | 'tracked' | 'listed' | 'repository';
  /** From the root on. */
  place: string;
  ofRepository?: boolean;
  /** Of the files those that fit one of these. */
  includes?: readonly string[];
  /** What of a rule it is looked for. */
  pattern?: PathPattern;
}

/** What came of it: all was looked at, and nothing found, or something at a place. */
export interface Seen extends Lookup {
  at?: string;
}

/** Equal for what is found by one walk. */
export const keyOf = ({ how, place, ofRepository = false, includes = [] }: Lookup): string =>
  JSON.stringify([how, place, ofRepository, includes]);

/** Whether it is certain that nothing is there; `isSettled`: nor will be, when it is looked for. */
export type WasAbsent = (lookup: Lookup, isSettled: () => boolean) => boolean;

export function toAbsence(seen: readonly Seen[]): WasAbsent {
  const absent = new Map<string, Set<PathPattern | undefined>>();
  for (const each of seen) {
    const key = keyOf(each);
    if (each.at !== undefined) continue;
    const patterns = absent.get(key) ?? new Set();
    absent.set(key, patterns.add(each.pattern));
  }
  return (lookup, isSettled) => absent.get(keyOf(lookup))?.has(lookup.pattern) === true && isSettled();
}

/** A search that opens only files of some names may open this one. */
export const fitsIncludes = (path: string, includes: readonly string[] | undefined): boolean =>
  includes === undefined || includes.some((include) => mayInclude(include, basename(path)));

/** A star that is not quoted is one of the shell first, and of the search where no file matches. */
function mayInclude(include: string, name: string): boolean {
  if (include.includes('/') || isFree(include)) return true;
  const pattern = include.replaceAll(HOLE.star, '*').replaceAll(HOLE.one, '?');
  return hasHole(pattern) || matchesGlob(parseGlob(pattern), name);
}
