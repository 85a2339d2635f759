/** Where a line leads through links: what stands behind a star, or below a folder, was not known when it was read. */
import { basename, resolve } from 'node:path/posix';
import { broughtTo, findBrought, type Goal, linksBrought, type Toucher } from './brought.js';
import { allTouches, type CommandPlace, leadsAnywhere, rawPaths, readLine, throughLinks } from './command.js';
import {
  type Budget,
  type Disk,
  look,
  MAX_BATCH,
  MAX_LOOKED,
  resolveAll,
  takeWalk,
  type Walk,
  walkNames,
  type Way,
} from './disk-walk.js';
import { foldNames, isKernelPath } from './path.js';
import { mayChangeIndex } from './programs/brings.js';
import { factsOf, type SegmentFact } from './segment-fact.js';
import { listsOnlyTracked, listsTracked } from './settled.js';
import { HOLE, hasHole, isDescriptor, isFree, isPattern, tailOf } from './shell/hole.js';
import type { CommandReading, Segment } from './shell/reading.js';
import { COMMAND_TABLES } from './tables.js';

/** A path that leads through a link, and where that is: anywhere, when not everything was looked at. */
export interface LinkedPath {
  path: string;
  real: string;
  /** The text of the template it was found for. */
  matches: string;
}

/** A path with holes, from the root on. */
export interface Template {
  text: string;
  /** Links below it are gone through, whatever they are called. */
  follows: boolean;
  /** The names below it are cut at spaces; `unknown`: they are not all there yet. */
  splits?: 'known' | 'unknown';
  /** No link below it is meant. */
  onlyFiles?: boolean;
  /** Git lists the names, also of what is not on the disk; `only`: it lists all of them. */
  tracked?: 'also' | 'only';
}

const MAX_TEMPLATES = 256;
const MAX_FOUND = 5_000;

/** The places of a line that links may lead away from: its patterns, and what is read below folders through links. */
export function templatesOf(line: string, place: CommandPlace): Template[] {
  const reading = readLine(line, place);
  const found = new Map<string, boolean>();
  const isPlain = findsOnlyFiles(reading);
  const isSearchThrough = reading.segments.some(searchesThroughLinks);
  const put = (text: string, follows: boolean): void => {
    if (!leadsAnywhere(text) && !isFree(text)) found.set(text, follows || found.get(text) === true);
  };
  const add = (path: string, folders: readonly string[] | undefined): void => {
    const isBelow = path.includes(HOLE.below);
    const isWanted = isPattern(path) || path.includes(HOLE.number) || (isBelow && (!isPlain || reading.splitsNames));
    if (!isWanted || isFree(path) || isDescriptor(path)) return;
    for (const raw of rawPaths(path, folders)) put(raw, isBelow && isSearchThrough);
  };
  for (const { target, folders } of reading.redirections) if (target !== undefined) add(target.value, folders);
  const facts = factsOf(reading, COMMAND_TABLES);
  const brought = findBrought(reading, facts);
  let isReached = false;
  const reach = (touch: Goal, by: Toucher): void => {
    isReached ||= brought.length > 0 && broughtTo(brought, touch, by).length > 0;
  };
  for (const redirection of reading.redirections) {
    reach({ path: redirection.target?.value ?? '', access: 'read' }, redirection);
  }
  for (const segment of reading.segments) {
    if (segment.role === 'remote' || segment.role === 'wrapper') continue;
    const fact = facts(segment);
    for (const touch of allTouches(segment, fact)) {
      add(touch.path, segment.folders);
      reach(touch, segment);
    }
    for (const touch of fact.touches) {
      const { path, follows } = touch;
      reach(touch, segment);
      if (follows === true && !isDescriptor(path))
        for (const raw of rawPaths(path, segment.folders)) put(throughLinks(raw), true);
    }
  }
  // Links that lie in what the line copies or moves, and then goes through.
  if (isReached) for (const text of linksBrought(brought)) put(text, true);
  // A line that makes names of its own makes them as it likes.
  const { splitsNames } = reading;
  const isListed = splitsNames && reading.segments.some(listsTracked);
  const isOdd = (): boolean =>
    makesOddNames(reading, facts) ||
    (isListed && reading.segments.some((segment) => facts(segment).use === undefined && changesIndex(segment)));
  const onlyTracked = listsOnlyTracked(reading, facts);
  const splits = splitsNames && (isOdd() ? 'unknown' : 'known');
  return [...found].map(([text, follows]) => {
    const isBelow = text.includes(HOLE.below);
    const onlyFiles = isPlain && !follows && !isPattern(text) && isBelow;
    const tracked =
      !isBelow || follows
        ? undefined
        : onlyTracked && text.endsWith(HOLE.below)
          ? 'only'
          : isListed
            ? 'also'
            : undefined;
    return {
      text,
      follows,
      ...(splits && { splits }),
      ...(onlyFiles && { onlyFiles }),
      ...(tracked && { tracked }),
    };
  });
}

type Facts = (segment: Segment) => SegmentFact;

const changesIndex = ({ words }: Segment): boolean => mayChangeIndex(words.map(({ value }) => value));

const makesOddNames = ({ segments, redirections }: CommandReading, factOf: Facts): boolean =>
  redirections.some(({ writes, target }) => writes && isOddName(target?.value ?? HOLE.any)) ||
  segments.some((segment) => [...factOf(segment).written.paths].some(isOddName));

const isOddName = (path: string): boolean => ODD_NAME.test(path) || hasHole(path);

/** Every search of the line finds files alone, and no links. */
const findsOnlyFiles = ({ segments }: CommandReading): boolean =>
  segments.every((segment) => !SEARCHES.test(basename(segment.words[0]?.value ?? '')) || isOfFiles(segment));

const SEARCHES = /^(?:find|gfind|fd|fdfind|git)$/;
const ACTION = /^-(?:exec|ok|print|ls|fls|fprint|delete)/;

function isOfFiles({ words }: Segment): boolean {
  const values = words.map(({ value }) => value);
  if (values[0] === 'git') return !values.some((value) => value === 'ls-files' || value.startsWith('--name-'));
  const action = values.findIndex((value) => ACTION.test(value));
  const tests = action === -1 ? values : values.slice(0, action);
  // That a path is not wanted says nothing of what is found instead.
  const isOdd = values.some(
    (value, at) =>
      hasHole(value) ||
      /^(?:-o|-or|,|-L|-H|-follow|-xtype)$/.test(value) ||
      (/^(?:!|-not)$/.test(value) && !/^-i?(?:path|name|wholename)$/.test(values[at + 1] ?? '')),
  );
  return !isOdd && tests.some((value, at) => value === 'f' && /^-(?:type|t)$/.test(values[at - 1] ?? ''));
}

/** `find -L`, `find -follow`, `fd -L`: what it finds may lie behind links of any name. */
function searchesThroughLinks({ words }: Segment): boolean {
  const [name = '', ...args] = words.map(({ value }) => value);
  if (!/^(?:g?find|fd|fdfind)$/.test(basename(name))) return false;
  return args.some((arg) => /^-[A-Za-z]*L|^--?fol/.test(arg) || isFree(arg));
}

/** Where the links of a disk lead that a line goes through. */
export const findLinked = (line: string, place: CommandPlace, disk: Disk): Promise<LinkedPath[]> =>
  takeWalk(followPatterns(templatesOf(line, place)), disk);

/** Asks for what is in folders and where links lead, many at a time; gives the paths that lead through links. */
export function* followPatterns(templates: readonly Template[]): Walk<LinkedPath[]> {
  const found: LinkedPath[] = [];
  const budget = { left: MAX_LOOKED };
  // What was not looked at may be anywhere.
  const giveUp = ({ text }: Template): void => void found.push({ path: text, real: HOLE.any, matches: text });
  for (const template of templates.slice(0, MAX_TEMPLATES)) {
    const { text, follows, splits, onlyFiles = false, tracked } = template;
    const below = text.indexOf(HOLE.below);
    if (below !== -1 && splits === 'unknown') giveUp(template);
    const listed = tracked !== undefined && splits !== 'unknown' ? yield* lookAtTracked(template, budget) : PLAIN;
    if (listed.isOdd === true) giveUp(template);
    const tail = tailOf(text);
    const ways = listed.links ?? (yield* walkNames(below === -1 ? text : text.slice(0, below), budget));
    if (below !== -1 && listed.links === undefined) {
      const hasPattern = listed.hasPattern === true;
      ways.push(...(yield* walkBelow(ways, { tail, follows, splits: splits !== undefined, hasPattern, budget })));
    }
    const linked = onlyFiles ? [] : ways.filter(({ isLinked }) => isLinked);
    const known = linked.slice(0, MAX_FOUND);
    const reals = yield* resolveAll(known);
    const places = new Map<string, string>();
    for (const [at, { path }] of known.entries()) {
      const real = reals[at] ?? HOLE.any;
      places.set(real, path);
      if (follows && !isFree(real)) places.set(`${real}/${text.slice(below)}`, path);
    }
    for (const [real, path] of places) found.push({ path, real, matches: text });
    if (linked.length > MAX_FOUND || budget.left <= 0) giveUp(template);
  }
  for (const template of templates.slice(MAX_TEMPLATES)) giveUp(template);
  return found;
}

/** Links anywhere below the folders, with what follows the name of one; where links are followed, below those as well. */
function* walkBelow(
  roots: readonly Way[],
  given: { tail: string; follows: boolean; splits: boolean; hasPattern: boolean; budget: Budget },
): Walk<Way[]> {
  const { tail, follows, splits, budget } = given;
  const [end = '', ...rest] = tail.split('/');
  const more = follows || rest.length === 0 || hasHole(tail) ? '' : `/${rest.join('/')}`;
  const found: Way[] = [];
  let { hasPattern } = given;
  let hasLink = false;
  // Where links are followed, folders are known by where they really are, so that none is looked at twice.
  const seen = new Set<string>();
  const open: string[] = [];
  const enter = (folder: string): void => {
    if (seen.has(folder)) return;
    seen.add(folder);
    // Who follows a link to all of the disk, or to what processes have open, can read anything.
    if (follows && (folder === '/' || isKernelPath(folder))) budget.left = 0;
    else open.push(folder);
  };
  const starts = roots.filter(({ isLinked }) => follows || !isLinked);
  const real = follows ? yield* resolveAll(starts) : starts.map(({ path }) => path);
  for (const folder of real) if (folder !== undefined) enter(folder);
  while (open.length > 0 && budget.left > 0) {
    const batch = open.splice(-MAX_BATCH);
    const lists = yield* look(batch, budget);
    const links: Way[] = [];
    for (const [at, folder] of batch.entries()) {
      for (const { name, kind } of lists[at] ?? []) {
        const path = `${folder}/${name}`;
        if (splits && (kind === 'directory' || hasHole(end) || name.endsWith(end))) {
          if (ODD_NAME.test(name) || (name.startsWith('-') && real.includes(folder))) budget.left = 0;
          hasPattern ||= /[*?[]/.test(name);
        }
        if (kind === 'directory') enter(path);
        if (kind === 'link' && (follows || hasHole(end) || name.endsWith(end)))
          links.push({ path: path + more, isLinked: true });
      }
    }
    const reals = follows ? yield* resolveAll(links) : [];
    for (const folder of reals) if (folder !== undefined) enter(folder);
    for (const [at, link] of links.entries()) found.push(follows ? { ...link, real: reals[at] } : link);
    hasLink ||= lists.some((list) => list?.some(({ kind }) => kind === 'link'));
  }
  // A name that is a pattern may match that of a link.
  if (hasPattern && hasLink) budget.left = 0;
  return found;
}

/** Names that become several words, or other ones. */
const ODD_NAME = /[\s'"\\]/;

interface Listed {
  /** Names would be cut at spaces, or be flags; or they are not known. */
  isOdd?: boolean;
  /** One is a pattern, and matches others. */
  hasPattern?: boolean;
  /** Those that are links, or lie behind one. */
  links?: Way[];
}

const PLAIN: Listed = {};

/** Names that git lists, which need not be on the disk. */
function* lookAtTracked({ text, splits, tracked: which }: Template, budget: Budget): Walk<Listed> {
  const at = text.indexOf(HOLE.below);
  const root = text.slice(0, at);
  const [end = ''] = tailOf(text).split('/');
  if (hasHole(root)) return { isOdd: splits !== undefined };
  const folder = resolve(root);
  const { tracked } = yield { folders: [], links: [], repository: folder };
  const entries = hasHole(end) ? tracked?.entries : tracked?.entries.filter(({ name }) => name.endsWith(end));
  const isOdd = (name: string): boolean => ODD_NAME.test(name) || /(?:^|\/)-/.test(name);
  if (splits !== undefined && entries?.some(({ name }) => isOdd(name)) !== false) return { isOdd: true };
  if (splits !== undefined && entries?.some(({ name }) => /[*?[]/.test(name))) return { hasPattern: true };
  // Below the top some commands list names from there on.
  if (which !== 'only' || tracked?.top !== folder || text.includes('/', at)) return PLAIN;
  return { links: yield* walkTracked(folder, entries?.map(({ name }) => name) ?? [], budget) };
}

/** Of the names in the index those that are links on the disk by now, or lie behind one. */
function* walkTracked(folder: string, names: readonly string[], budget: Budget): Walk<Way[]> {
  const places = new Set<string>();
  for (const name of names.map(foldNames)) {
    for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) places.add(name.slice(0, at));
    places.add(name);
  }
  const linked = new Set<string>();
  const open = [''];
  while (open.length > 0 && budget.left > 0) {
    const batch = open.splice(-MAX_BATCH);
    const lists = yield* look(
      batch.map((each) => `${folder}/${each}`),
      budget,
    );
    for (const [at, start] of batch.entries()) {
      for (const { name, kind } of lists[at] ?? []) {
        const place = start + name;
        if (kind === 'file' || !places.has(foldNames(place))) continue;
        if (kind === 'link') linked.add(foldNames(place));
        else open.push(`${place}/`);
      }
    }
  }
  if (linked.size === 0) return [];
  const isBehind = (name: string): boolean => [...linked].some((link) => name === link || name.startsWith(`${link}/`));
  return names
    .filter((name) => isBehind(foldNames(name)))
    .map((name) => ({ path: `${folder}/${name}`, isLinked: true }));
}
