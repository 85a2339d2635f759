import { dirname, resolve } from 'node:path/posix';
import type { ToolAccess } from '../../protocol/index.js';
import type { Touch } from './programs/effects.js';
import { judgeReadOnly } from './programs/readonly.js';
import { mayMatchGlob, parseGlob } from './rules/glob.js';
import { factsOf, type SegmentFact } from './segment-fact.js';
import { HOLE, hasHole, literalStart, mayBeParent } from './shell/hole.js';
import { readCommand } from './shell/reader.js';
import { type CommandReading, nameOf, type Redirection, type Segment } from './shell/reading.js';
import { isLiteralWord } from './shell/word.js';
import { COMMAND_TABLES, type CommandTables } from './tables.js';

export { MAX_COMMAND_LENGTH } from './shell/reader.js';

export interface CommandPlace {
  cwd: string;
  home?: string;
  tables?: CommandTables;
}

/** A line is looked at several times while it is judged; the last ones are remembered. */
const RECENT = new Map<string, CommandReading>();
const MAX_RECENT = 16;

/** What a line runs when it starts in a folder. */
export function readLine(line: string, { cwd, home, tables = COMMAND_TABLES }: CommandPlace): CommandReading {
  if (tables !== COMMAND_TABLES) return readCommand(line, { cwd, home, wrappers: tables.wrappers });
  const key = `${cwd.length} ${home?.length} ${cwd}${home}${line}`;
  const known = RECENT.get(key);
  if (known !== undefined) return known;
  const reading = readCommand(line, { cwd, home });
  RECENT.set(key, reading);
  if (RECENT.size > MAX_RECENT) RECENT.delete(RECENT.keys().next().value as string);
  return reading;
}

/** Every simple command that bash would run for the line, wrappers taken off, at any depth. */
export const segmentsOf = (line: string, cwd: string): readonly Segment[] => readLine(line, { cwd }).segments;

/** True when nothing the line runs can change anything: every part is known, literal and on the read-only list. */
export function isPlainlyReadOnly(line: string): boolean {
  const reading = readCommand(line);
  const { segments, redirections, settings, doubts, background } = reading;
  if (doubts.length > 0 || background || settings.length > 0 || segments.length === 0) return false;
  const isOpening = ({ writes, connects, target }: Redirection): boolean =>
    writes || connects || target === undefined || !isLiteralWord(target);
  if (reading.hasForeignText || redirections.some(isOpening)) return false;
  return segments.every((segment) => {
    if (segment.role === 'wrapper') return true;
    if (segment.assignments.length > 0 || !segment.words.every(isLiteralWord)) return false;
    return judgeReadOnly(segment.words.map(({ value }) => value))?.needsTrust === false;
  });
}

/** `link/../x` is resolved by the kernel through the link, by us by its text: the two may differ. */
export function climbsBack(path: string): boolean {
  if (!path.includes('..') && !hasHole(path)) return false;
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (hasHole(path) && parts.some(mayBeParent)) return true;
  const firstName = parts.findIndex((part) => part !== '..');
  return parts.lastIndexOf('..') > firstName && (firstName !== -1 || path.startsWith('/'));
}

/** What a process tells of itself in a file of its own. */
const OF_PROCESS = new Set(
  'cgroup cmdline comm environ io limits loginuid maps mountinfo mounts oom_score sched smaps stat statm status wchan'.split(
    ' ',
  ),
);

/** Through these a path leads where a process is, or to what it has open; and that process is not this one. */
export function leadsAnywhere(path: string): boolean {
  if (!/^\/+(?:\.\/+)*(?:proc|dev|[^/]*[\uE000-\uE005])/.test(path)) return false;
  const [top = '', process = '', part = '', ...more] = path.split('/').filter((name) => name !== '' && name !== '.');
  if (top === 'dev') return process === 'fd' ? more.length > 0 : /^std(?:in|out|err)$/.test(process) && part !== '';
  const isProc = top === 'proc' || (hasHole(top) && mayMatchGlob(parseGlob('proc'), top));
  if (!isProc || part === '') return false;
  return (/^(?:self|thread-self|\d+)$/.test(process) || hasHole(process)) && (more.length > 0 || !OF_PROCESS.has(part));
}

/** A path from the root on, for each folder it may start from, with all of its names and holes. */
export function rawPaths(path: string, folders: readonly string[] | undefined): string[] {
  const open = withSlash(path);
  return open.startsWith('/') ? [open] : (folders ?? []).map((folder) => `${folder === '/' ? '' : folder}/${open}`);
}

/** What stands for all that links lead to from below a place. */
export const throughLinks = (place: string): string => `${place}/${HOLE.below}${HOLE.star}`;

/** The folders below which a path was found: they may be links themselves. */
export const rootsIn = (path: string, folders: readonly string[] | undefined): string[] => {
  const at = path.indexOf(HOLE.below);
  return at === -1
    ? []
    : rawPaths(path.slice(0, at), folders).flatMap((root) => (hasHole(root) ? [] : [resolve(root)]));
};

const MAX_ACCESSES = 100;

/**
 * The places a line touches or may touch, without holes: of a path with a hole the folder before it. Whoever judges them
 * must know that `..` was resolved by text.
 */
export function commandAccesses(line: string, cwd: string, home?: string): ToolAccess[] {
  const reading = readLine(line, { cwd, ...(home !== undefined && { home }) });
  const found = new Map<string, ToolAccess>();
  const add = (path: string, access: ToolAccess['access']): void => {
    const key = `${access} ${path}`;
    if (found.size < MAX_ACCESSES) found.set(key, { path, access });
  };
  const addAll = (path: string, { access, folders }: Pick<ToolAccess, 'access'> & Pick<Segment, 'folders'>): void => {
    const raw =
      path.includes('..') && !hasHole(path) && climbsBack(path) && !path.includes('\0') ? rawPaths(path, folders) : [];
    for (const place of [...placesOf(path, folders), ...rootsIn(path, folders), ...raw]) add(place, access);
  };
  for (const { target, writes, folders } of reading.redirections) {
    if (target !== undefined) addAll(target.value, { access: writes ? 'write' : 'read', folders });
  }
  const facts = factsOf(reading, COMMAND_TABLES);
  for (const segment of reading.segments) {
    for (const { path, access } of allTouches(segment, facts(segment))) {
      addAll(path, { access: access === 'write' ? 'write' : 'read', folders: segment.folders });
    }
  }
  return [...found.values()];
}

/** Also what is only told about, and where a line moves to. */
export function allTouches(segment: Segment, { use, touches }: SegmentFact): readonly Touch[] {
  if (use !== undefined) return use.paths.map((path) => ({ path, access: 'read' }));
  const isMove = nameOf(segment) === 'cd' || nameOf(segment) === 'pushd';
  return isMove ? segment.words.slice(1).map(({ value }) => ({ path: value, access: 'read' })) : touches;
}

/** What `find ..` finds begins with these dots and a slash: they are a folder, not the beginning of a name. */
export const withSlash = (path: string): string =>
  path.includes(HOLE.below) ? path.replace(/(?<=^|\/)(\.{1,2})(?=\uE005)/g, '$1/') : path;

/** What `resolve` gives. Most paths hold nothing that it would take out, and are just joined. */
export function resolveFrom(folder: string, path: string): string {
  const joined = path.startsWith('/') ? path : folder && `${folder}/${path}`;
  return joined.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(joined) ? joined : resolve(folder, path);
}

/** Where a path, as written, lies: one place for each folder it may start from; of one with a hole, the folder before it. */
export function placesOf(path: string, folders: readonly string[] | undefined): string[] {
  if (path === '' || path.includes('\0')) return [];
  const isOpen = hasHole(path);
  const start = isOpen ? literalStart(withSlash(path)) : path;
  const known = isOpen && !start.endsWith('/') ? dirname(`${start}x`) : start;
  if (known.startsWith('/')) return [resolveFrom('/', known)];
  if (isOpen && start === '' && /^[\uE000\uE001]/.test(path)) return [];
  return (folders ?? []).map((folder) => resolveFrom(folder, known));
}
