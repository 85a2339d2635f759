/** Where a line leads through links: what stands behind a star, or below a folder, was not known when it was read. */
import { basename, resolve } from 'node:path/posix';
import { broughtTo, findBrought, type Goal, linksBrought, type Toucher } from './brought.js';
import { allTouches, type CommandPlace, leadsAnywhere, rawPaths, readLine, throughLinks } from './command.js';
import type { IndexDisk } from './git-index.js';
import { isKernelPath } from './path.js';
import { mayChangeIndex } from './programs/brings.js';
import { mayMatchGlob, parseGlob } from './rules/glob.js';
import { factsOf, type SegmentFact } from './segment-fact.js';
import { HOLE, hasHole, isFree, isPattern } from './shell/hole.js';
import type { CommandReading, Segment } from './shell/reading.js';
import { COMMAND_TABLES } from './tables.js';

/** What is in a folder. */
export interface FolderEntry {
  name: string;
  kind: 'file' | 'directory' | 'link';
}

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
  /** Git lists the names, also of what is not on the disk. */
  isTracked?: boolean;
}

const MAX_LOOKED = 250_000;
const MAX_TEMPLATES = 256;
const MAX_FOUND = 5_000;
/** Folders that are asked for at once. */
const MAX_BATCH = 64;

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
    if (!isWanted || isFree(path)) return;
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
      if (follows === true) for (const raw of rawPaths(path, segment.folders)) put(throughLinks(raw), true);
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
  const splits = splitsNames && (isOdd() ? 'unknown' : 'known');
  return [...found].map(([text, follows]) => {
    const isBelow = text.includes(HOLE.below);
    const onlyFiles = isPlain && !follows && !isPattern(text) && isBelow;
    const isTracked = isListed && isBelow;
    return {
      text,
      follows,
      ...(splits && { splits }),
      ...(onlyFiles && { onlyFiles }),
      ...(isTracked && { isTracked }),
    };
  });
}

const changesIndex = ({ words }: Segment): boolean => mayChangeIndex(words.map(({ value }) => value));

const listsTracked = ({ words }: Segment): boolean =>
  words[0]?.value === 'git' && words.some(({ value }) => value === 'ls-files' || value.startsWith('--name-'));

const makesOddNames = (
  { segments, redirections }: CommandReading,
  factOf: (segment: Segment) => SegmentFact,
): boolean =>
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

interface Disk {
  list(folder: string): Promise<readonly FolderEntry[] | undefined>;
  realPath(path: string): Promise<string>;
  /** Without this it is not known what git lists. */
  readFile?: IndexDisk['readFile'] | undefined;
}

/** Where the links of a disk lead that a line goes through. */
export async function findLinked(line: string, place: CommandPlace, disk: Disk): Promise<LinkedPath[]> {
  const walk = followPatterns(templatesOf(line, place));
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

async function findTracked(folder: string, { list, realPath, readFile }: Disk): Promise<readonly string[] | undefined> {
  if (readFile === undefined) return undefined;
  const { trackedIn } = await import('./git-index.js');
  const real = await realPath(folder).catch(() => undefined);
  return real === undefined ? undefined : trackedIn(real, { list, readFile });
}

/** What a walk wants to know of the disk. */
interface Wish {
  folders: readonly string[];
  links: readonly string[];
  /** A folder: the names that git lists there. */
  repository?: string;
}

/** What is in each of the folders, and where each of the links leads; undefined where it leads in a circle. */
interface Sight {
  entries: readonly (readonly FolderEntry[] | undefined)[];
  reals: readonly (string | undefined)[];
  /** Undefined when that could not be found out. */
  tracked?: readonly string[] | undefined;
}

type Walk<T> = Generator<Wish, T, Sight>;

interface Way {
  path: string;
  isLinked: boolean;
  /** Where it is, if that was found out on the way. */
  real?: string | undefined;
}

interface Budget {
  left: number;
}

/** Asks for what is in folders and where links lead, many at a time; gives the paths that lead through links. */
export function* followPatterns(templates: readonly Template[]): Walk<LinkedPath[]> {
  const found: LinkedPath[] = [];
  const budget = { left: MAX_LOOKED };
  // What was not looked at may be anywhere.
  const giveUp = ({ text }: Template): void => void found.push({ path: text, real: HOLE.any, matches: text });
  for (const template of templates.slice(0, MAX_TEMPLATES)) {
    const { text, follows, splits, onlyFiles = false, isTracked = false } = template;
    const below = text.indexOf(HOLE.below);
    if (below !== -1 && splits === 'unknown') giveUp(template);
    const listed = isTracked && splits === 'known' ? yield* lookAtTracked(text) : 'plain';
    if (listed === 'odd') giveUp(template);
    const ways = yield* walkNames(below === -1 ? text : text.slice(0, below), budget);
    const tail = text.slice(below + 1);
    if (below !== -1)
      ways.push(
        ...(yield* walkBelow(ways, {
          tail,
          follows,
          splits: splits !== undefined,
          hasPattern: listed === 'pattern',
          budget,
        })),
      );
    const linked = onlyFiles ? [] : ways.filter(({ isLinked }) => isLinked);
    const known = linked.slice(0, MAX_FOUND);
    const reals = yield* resolveAll(known);
    const places = new Map<string, string>();
    for (const [at, { path }] of known.entries()) {
      const real = reals[at] ?? HOLE.any;
      places.set(real, path);
      if (follows && !isFree(real)) places.set(`${real}/${HOLE.below}${tail}`, path);
    }
    for (const [real, path] of places) found.push({ path, real, matches: text });
    if (linked.length > MAX_FOUND || budget.left <= 0) giveUp(template);
  }
  for (const template of templates.slice(MAX_TEMPLATES)) giveUp(template);
  return found;
}

function* walkNames(template: string, budget: Budget): Walk<Way[]> {
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

/** Whether names that git lists, but for the disk, would be cut, or match others. */
function* lookAtTracked(text: string): Walk<'plain' | 'pattern' | 'odd'> {
  const at = text.indexOf(HOLE.below);
  const root = text.slice(0, at);
  const [end = ''] = text.slice(at + 1).split('/');
  if (hasHole(root)) return 'odd';
  const { tracked } = yield { folders: [], links: [], repository: resolve(root) };
  const names = hasHole(end) ? tracked : tracked?.filter((name) => name.endsWith(end));
  if (names === undefined || names.some((name) => ODD_NAME.test(name) || /(?:^|\/)-/.test(name))) return 'odd';
  return names.some((name) => /[*?[]/.test(name)) ? 'pattern' : 'plain';
}

function* look(folders: readonly string[], budget: Budget): Walk<Sight['entries']> {
  if (budget.left <= 0 || folders.length === 0) return [];
  const { entries } = yield { folders: folders.map((folder) => folder || '/'), links: [] };
  for (const list of entries) budget.left -= (list?.length ?? 0) + 1;
  return entries;
}

function* resolveAll(ways: readonly Way[]): Walk<Sight['reals']> {
  if (ways.every((way) => 'real' in way)) return ways.map(({ real }) => real);
  const { reals } = yield { folders: [], links: ways.map(({ path }) => path || '/') };
  return reals;
}

/** A star of the shell does not match a leading dot. */
const fits = (pattern: string, name: string): boolean =>
  !(name.startsWith('.') && hasHole(pattern.charAt(0))) &&
  mayMatchGlob(parseGlob(name.replace(/[\\*?[]/g, '\\$&')), pattern);
