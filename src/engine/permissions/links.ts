/** Where patterns of a line lead through links: what stands behind a star was not known when the line was read. */
import { basename } from 'node:path/posix';
import { allTouches, type CommandPlace, leadsAnywhere, rawPaths, readLine } from './command.js';
import { mayMatchGlob, parseGlob } from './rules/glob.js';
import { factsOf } from './segment-fact.js';
import { HOLE, hasHole, isFree, isPattern } from './shell/hole.js';
import type { CommandReading, Segment } from './shell/reading.js';
import { COMMAND_TABLES } from './tables.js';

/** What is in a folder. */
export interface FolderEntry {
  name: string;
  kind: 'file' | 'directory' | 'link';
}

/** A path that a pattern matches and that leads through a link; without one, not everything was looked at. */
export interface LinkedPath {
  template: string;
  path?: string;
}

const MAX_LOOKED = 20_000;
const MAX_TEMPLATES = 64;
const MAX_FOUND = 200;

/** The patterns of a line, each from the root on and with its holes. */
export function templatesOf(line: string, place: CommandPlace): string[] {
  const reading = readLine(line, place);
  const found = new Set<string>();
  const isPlain = findsOnlyFiles(reading);
  const add = (path: string, folders: readonly string[] | undefined): void => {
    const isWanted = isPattern(path) || path.includes(HOLE.number) || (path.includes(HOLE.below) && !isPlain);
    if (!isWanted || isFree(path)) return;
    for (const raw of rawPaths(path, folders)) if (!leadsAnywhere(raw)) found.add(raw);
  };
  for (const { target, folders } of reading.redirections) if (target !== undefined) add(target.value, folders);
  const facts = factsOf(reading, COMMAND_TABLES);
  for (const segment of reading.segments) {
    if (segment.role === 'remote' || segment.role === 'wrapper') continue;
    for (const { path } of allTouches(segment, facts(segment))) add(path, segment.folders);
  }
  return [...found];
}

/** Every search of the line finds files alone, and no links. */
const findsOnlyFiles = ({ segments }: CommandReading): boolean =>
  segments.every((segment) => !SEARCHES.test(basename(segment.words[0]?.value ?? '')) || isOfFiles(segment));

const SEARCHES = /^(?:find|gfind|fd|fdfind|git)$/;
const ACTION = /^-(?:exec|ok|print|ls|fls|fprint|delete)/;

function isOfFiles({ words }: Segment): boolean {
  const values = words.map(({ value }) => value);
  if (values[0] === 'git') return !values.includes('ls-files');
  const action = values.findIndex((value) => ACTION.test(value));
  const tests = action === -1 ? values : values.slice(0, action);
  const isOdd = values.some((value) => /^(?:!|-not|-o|-or|,|-L|-H|-follow|-xtype)$/.test(value) || hasHole(value));
  return !isOdd && tests.some((value, at) => value === 'f' && /^-(?:type|t)$/.test(values[at - 1] ?? ''));
}

interface Disk {
  list(folder: string): Promise<readonly FolderEntry[] | undefined>;
  realPath(path: string): Promise<string>;
}

/** Where the links of a disk lead that the patterns of a line match. */
export async function findLinked(
  line: string,
  place: CommandPlace,
  disk: Disk,
): Promise<{ path: string; real: string; matches: string }[]> {
  const walk = followPatterns(templatesOf(line, place));
  let step = walk.next();
  while (!step.done) step = walk.next(await disk.list(step.value));
  return Promise.all(
    step.value.map(async ({ template, path }) => {
      const real = path === undefined ? undefined : await disk.realPath(path).catch(() => undefined);
      // What was not looked at, or leads in a circle, may be anywhere.
      return { path: path ?? template, real: real ?? HOLE.any, matches: template };
    }),
  );
}

interface Way {
  path: string;
  isLinked: boolean;
}

/** Asks for what is in folders, one after the other; gives the paths that lead through links. */
export function* followPatterns(
  templates: readonly string[],
): Generator<string, LinkedPath[], readonly FolderEntry[] | undefined> {
  const found: LinkedPath[] = [];
  const budget = { left: MAX_LOOKED };
  for (const template of templates.slice(0, MAX_TEMPLATES)) {
    const below = template.indexOf(HOLE.below);
    const ways = yield* walkNames(below === -1 ? template : template.slice(0, below), budget);
    if (below !== -1) ways.push(...(yield* walkBelow(ways, template.slice(below + 1), budget)));
    const linked = ways.filter(({ isLinked }) => isLinked);
    for (const { path } of linked.slice(0, MAX_FOUND)) found.push({ template, path });
    if (linked.length > MAX_FOUND || budget.left <= 0) found.push({ template });
  }
  for (const template of templates.slice(MAX_TEMPLATES)) found.push({ template });
  return found;
}

interface Budget {
  left: number;
}

type Walk = Generator<string, Way[], readonly FolderEntry[] | undefined>;

function* walkNames(template: string, budget: Budget): Walk {
  let ways: Way[] = [{ path: '', isLinked: false }];
  const names = template.split('/').filter((name) => name !== '' && name !== '.');
  for (const [at, name] of names.entries()) {
    if (!hasHole(name)) {
      ways = ways.map(({ path, isLinked }) => ({ path: `${path}/${name}`, isLinked }));
      continue;
    }
    const next: Way[] = [];
    for (const { path, isLinked } of ways) {
      for (const entry of yield* look(path, budget)) {
        if (!fits(name, entry.name) || (entry.kind === 'file' && at < names.length - 1)) continue;
        next.push({ path: `${path}/${entry.name}`, isLinked: isLinked || entry.kind === 'link' });
      }
    }
    ways = next;
  }
  return ways;
}

/** Links anywhere below the folders, with what follows the name of one. */
function* walkBelow(roots: readonly Way[], tail: string, budget: Budget): Walk {
  const [end = '', ...rest] = tail.split('/');
  const more = rest.length === 0 || hasHole(tail) ? '' : `/${rest.join('/')}`;
  const found: Way[] = [];
  const open = roots.filter(({ isLinked }) => !isLinked).map(({ path }) => path);
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const { name, kind } of yield* look(folder, budget)) {
      const path = `${folder}/${name}`;
      if (kind === 'directory') open.push(path);
      if (kind === 'link' && (hasHole(end) || name.endsWith(end))) found.push({ path: path + more, isLinked: true });
    }
  }
  return found;
}

function* look(
  folder: string,
  budget: Budget,
): Generator<string, readonly FolderEntry[], readonly FolderEntry[] | undefined> {
  if (budget.left <= 0) return [];
  const entries = (yield folder === '' ? '/' : folder) ?? [];
  budget.left -= entries.length + 1;
  return entries;
}

/** A star of the shell does not match a leading dot. */
const fits = (pattern: string, name: string): boolean =>
  !(name.startsWith('.') && hasHole(pattern.charAt(0))) &&
  mayMatchGlob(parseGlob(name.replace(/[\\*?[]/g, '\\$&')), pattern);
