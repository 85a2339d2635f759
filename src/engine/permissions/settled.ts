/** Whether what is on the disk when a line is judged is what a command of it will find there. */
import { basename } from 'node:path/posix';
import { type Brought, broughtTo, type Toucher } from './brought.js';
import { foldNames } from './path.js';
import type { Lookup } from './seen.js';
import type { SegmentFact } from './segment-fact.js';
import { BUILTINS } from './shell/builtin.js';
import { HOLE, hasHole } from './shell/hole.js';
import { type CommandReading, nameOf, type Segment } from './shell/reading.js';

type Part = Segment | CommandReading['redirections'][number];

export interface LineFacts {
  reading: CommandReading;
  /** Found out once for the line. */
  restless(): readonly Part[];
  brought(): readonly Brought[];
  /** What is known to be at a place. */
  kindOf(place: string): string | undefined;
}

/**
 * Nothing of the line that may run before a command puts anything to a place, or below it, that no rule is asked about by
 * itself. A file under a name that is written is such a thing: rules are held against that name. A program that nobody
 * knows, a copy of a folder, an archive, a checkout are not.
 */
export function isSettled({ how, place }: Lookup, by: Toucher, line: LineFacts): boolean {
  const { settings, doubts, cut, background } = line.reading;
  if (doubts.length > 0 || cut || settings.some(({ name }) => name.startsWith('GIT_'))) return false;
  if ('assignments' in by && (by as Segment).assignments.some((name) => name.startsWith('GIT_'))) return false;
  const isBefore = (each: Part): boolean =>
    each !== by && !isSame(each, by) && (background || (each.when?.first ?? 0) <= (by.when?.last ?? Infinity));
  if (line.restless().some(isBefore)) return false;
  const isFile = ({ sources, isLink = false }: Brought): boolean =>
    how !== 'repository' && !isLink && sources !== undefined && sources.every((each) => line.kindOf(each) === 'file');
  return broughtTo(line.brought(), { path: place, access: 'read', follows: true }, by).every(isFile);
}

/** What of a line may make files whose names it does not say, or a repository. */
export function findRestless(
  { segments, redirections }: CommandReading,
  factOf: (segment: Segment) => SegmentFact,
): Part[] {
  const isClear = (path: string): boolean => !hasHole(path) && !MAKES_REPOSITORY.test(foldNames(path));
  const isQuiet = (segment: Segment): boolean => {
    if (segment.role === 'remote' || segment.role === 'wrapper' || segment.isFunction === true) return true;
    const { use, written } = factOf(segment);
    if (use !== undefined || isMove(segment) || BUILTINS.has(nameOf(segment))) return true;
    return makesNamed(segment) && [...written.paths].every(isClear);
  };
  return [
    ...segments.filter((segment) => !isQuiet(segment)),
    ...redirections.filter(({ writes, target }) => writes && !isClear(target?.value ?? HOLE.any)),
  ];
}

/** A command, and what it may be: `npx eslint` and `eslint`. */
function isSame(one: Toucher & Partial<Segment>, other: Toucher & Partial<Segment>): boolean {
  if (one.role !== 'guess' && other.role !== 'guess') return false;
  const outer = one.outer?.words;
  return (
    (outer !== undefined && (outer === other.outer?.words || outer === other.words)) || other.outer?.words === one.words
  );
}

const isMove = (segment: Segment): boolean => /^(?:cd|pushd|popd)$/.test(nameOf(segment));

/** With these a folder becomes a repository of its own. */
const MAKES_REPOSITORY = /(?:^|\/)(?:\.git|head)(?:\/|$)/;

/** It makes, or takes away, what its words name: rules are held against these names. */
function makesNamed({ words }: Segment): boolean {
  const [name = '', ...args] = words.map(({ value }) => value);
  return MAKERS.test(name) && args.every((arg) => !arg.startsWith('-') || /^-[afinprRv]*$/.test(arg));
}

const MAKERS = /^(?:touch|mkdir|rm|rmdir|cp|mv|tee|chmod)$/;

/** It lists names of the index, maybe beside others. */
export const listsTracked = ({ words }: Segment): boolean =>
  words[0]?.value === 'git' && words.some(({ value }) => value === 'ls-files' || value.startsWith('--name-'));

/** All names that the line lists are in the index of git, as it is now. */
export function listsOnlyTracked(
  { segments, settings }: CommandReading,
  factOf: (segment: Segment) => SegmentFact,
): boolean {
  const listers = segments.filter(
    (segment) => listsTracked(segment) || /^(?:g?find|fd|fdfind)$/.test(basename(nameOf(segment))),
  );
  if (listers.length === 0 || settings.some(({ name }) => name.startsWith('GIT_'))) return false;
  const changes = (segment: Segment): boolean => nameOf(segment) === 'git' && factOf(segment).use === undefined;
  return listers.every(isOfIndex) && !segments.some(changes);
}

const isOfIndex = (segment: Segment): boolean =>
  listsTracked(segment) && !segment.words.some(({ value }) => /^-[a-z]*o|^--oth/.test(value));
