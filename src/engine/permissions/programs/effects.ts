import { basename } from 'node:path/posix';
import { HOLE, hasHole } from '../shell/hole.js';
import type { Segment } from '../shell/reading.js';
import { readGit, under } from './git.js';
import { aboveInCommits, openedByGit } from './git-contents.js';
import { guardedBelow, sweptByGit, treesOfGit } from './git-sweep.js';
import { gluedFiles, mayWriteWords } from './git-words.js';
import type { ReadOnlyTables, ReadOnlyUse } from './readonly.js';
import type { WriterSpec } from './writer-table.js';
import type { Write, Written } from './writes.js';

/** A path that a command touches, as it is written: it may hold holes, and start anywhere. */
export interface Touch {
  path: string;
  /**
   * `read`, `write`: known. `mention`: a word that may be a path, of a program that may do anything with it.
   * `text`: a path inside of a longer text, such as a program.
   */
  access: 'read' | 'write' | 'mention' | 'text';
  /** It stands inside of a longer text. */
  isInText?: boolean;
  /** What lies below it is opened as well. */
  recurses?: boolean;
  /** So is what links below it lead to. */
  follows?: boolean;
  /** It is called as files are: what lies below it is opened only where it is known to be a folder. */
  isCalledFile?: boolean;
  /** It is opened only if nothing is there: the word is no path then. */
  unlessThere?: string;
  /** All of the project that it lies in is opened. */
  ofRepository?: boolean;
  includes?: readonly string[];
  /** Places below it that are left out. */
  excludes?: readonly string[];
  skipsHidden?: boolean;
  /** It is written only if another place is a folder. */
  isPossible?: boolean;
  /** It is touched only if it is there. */
  ifThere?: boolean;
  /** The folder that git takes for its own, where it lies in one: that of the project is so anyway. */
  tree?: string;
  /** Git looks for it among what it tracks. */
  isTracked?: boolean;
  /** Of what it tracks, only what is in the index is opened, if all of these words are paths. */
  inIndex?: readonly string[];
  /** What becomes of what lies below it. */
  below?: Write['below'];
}

export interface EffectTables extends ReadOnlyTables {
  writers: Readonly<Record<string, WriterSpec>>;
}

/** Every path that a command touches, or may touch. */
export function touchesOf(
  segment: Segment,
  known: { readonly use: ReadOnlyUse | undefined; readonly written: Written },
): Touch[] {
  const { use } = known;
  const values = segment.words.map(({ value }) => value);
  if (values[0] === undefined || values[0] === 'kill') return [];
  const git = basename(values[0]) === 'git' ? readGit(values.slice(1)) : undefined;
  const opened = git === undefined ? NOTHING : readByGit(values);
  if (use !== undefined) return use.onlyNames ? [] : [...use.paths.map((path) => toRead(path, use)), ...opened];
  const { written } = known;
  const touches: Touch[] = [
    ...opened,
    ...written.writes.map((write): Touch => ({ ...write, ...(written.follows && { follows: true }), access: 'write' })),
  ];
  const { recurses, follows } = written;
  const how = { ...(recurses && { recurses }), ...(follows && { follows }) };
  if (written.readsHere) touches.push({ ...how, path: '.', access: 'read', recurses: true });
  // The names in a list may be those of any file.
  if (written.readsList || (written.takesNames && segment.isPiped)) touches.push({ path: HOLE.any, access: 'read' });
  const isText = textWords(values);
  const isOpen = git !== undefined && !written.isKnown && mayWriteWords(git.subcommand ?? '');
  for (const [at, value] of values.entries()) {
    // What operands start from may be one of them as well: `tar cC . .`.
    const isWritten = written.paths.has(value) && !written.starts.includes(value);
    if (at === 0 || isWritten || isText.has(at)) continue;
    const isRead = written.isKnown && !value.startsWith('-');
    const mayWrite = isOpen && (value.includes('/') || (values[at - 1] ?? '').startsWith('-'));
    // The flag itself is no path; what is attached to it may be.
    const paths = [...pathsIn(value), ...(git === undefined ? [] : gluedFiles(value, git.subcommand ?? ''))];
    for (const path of /^-[A-Za-z]+$/.test(value) ? paths.slice(1) : paths) {
      touches.push({ path, access: isRead ? 'read' : 'mention', ...how });
      if (mayWrite && !path.startsWith('-')) touches.push({ path, access: 'write', isPossible: true });
    }
    if (isProgram(value)) touches.push(...textTouches(value));
  }
  // It makes a repository of the folder that it is in, or sent to.
  if (git?.subcommand === 'init') touches.push({ path: under(git.folders, '.'), access: 'write' });
  for (const start of startsOf(values, written)) {
    for (const touch of touches.slice(opened.length, MAX_STARTED)) {
      if (!/^[/~-]/.test(touch.path)) touches.push({ ...touch, path: under([start], touch.path) });
    }
  }
  const trees = git === undefined ? [] : treesOfGit(git);
  for (const path of trees) touches.push({ path, access: 'write', below: 'tree' });
  for (const folder of git === undefined ? [] : sweptByGit(git)) {
    touches.push({ path: folder, access: 'write', below: 'changed' });
    for (const path of guardedBelow(folder)) touches.push({ path, access: 'write', isPossible: true, ifThere: true });
  }
  for (const tree of trees) {
    for (const path of guardedBelow(tree))
      touches.push({ path, access: 'write', isPossible: true, ifThere: true, tree });
  }
  const { inputText } = segment;
  if (inputText !== undefined && (written.takesNames || INTERPRETERS.test(basename(values[0] ?? '')))) {
    touches.push(...textTouches(inputText));
  }
  return touches;
}

const NOTHING: readonly Touch[] = [];

/** What git opens of files that it does not name, or names in its own ways. */
const readByGit = (values: readonly string[]): Touch[] => [
  ...openedByGit(values).map(
    (each): Touch => ({ ...each, access: 'read', recurses: each.isCalledFile !== true, isTracked: true }),
  ),
  ...aboveInCommits(values).map((path): Touch => ({ path, access: 'read', isPossible: true, isTracked: true })),
];

const MAX_STARTS = 8;
const MAX_STARTED = 500;

/** By such flags programs move to a folder, where their other words start. */
const MOVES = /^(?:-C|--(?:directory|cwd|chdir|base-directory|prefix|dir))(?:=([^]*))?$/;

/** Other folders than the current one that the words of a command may start from; each may start from the one before. */
function startsOf(values: readonly string[], { isKnown, starts }: Written): string[] {
  const isGit = basename(values[0] ?? '') === 'git';
  const moved = (): string[] => values.flatMap((value, at) => movedTo(value, values[at + 1]));
  const given = isGit ? readGit(values.slice(1)).folders : isKnown ? starts : moved();
  const unique = [...new Set(given)];
  if (unique.length > MAX_STARTS) return [HOLE.any];
  return [...new Set([...(isGit ? [] : unique), ...unique.map((_, at) => under(unique.slice(0, at + 1), '.'))])];
}

export function movedTo(value: string, next: string | undefined): string[] {
  const [isMove, attached] = MOVES.exec(value) ?? [];
  if (isMove === undefined) return /^-C[^=]/.test(value) ? [value.slice(2)] : [];
  const folder = attached ?? next;
  return folder === undefined || /^\d+$/.test(folder) ? [] : [folder];
}

const textTouches = (text: string): Touch[] => tokensIn(text).map((path) => ({ path, access: 'text', isInText: true }));

function toRead(path: string, { recurses, follows, isCalledFile, includes, skipsHidden }: ReadOnlyUse): Touch {
  return {
    path,
    access: 'read',
    ...(recurses && { recurses: true }),
    ...(follows === true && { follows: true }),
    ...(isCalledFile === true && { isCalledFile: true }),
    ...(includes !== undefined && { includes }),
    ...(skipsHidden === true && { skipsHidden: true }),
  };
}

/** Programs that run code which is given to them. */
export const INTERPRETERS =
  /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|luajit|Rscript|osascript|tclsh|m4|dc|gnuplot|julia|octave|guile|irb|ipython[\d.]*|tsx|ts-node|awk|gawk|mawk|nawk|psql|sqlite3|mysql|expect|make|gmake|ed|ex|gdb|lftp|at|batch|crontab|vi|vim|nvim|view)$/;

const MESSAGE_FLAGS = /^(?:-[a-zA-Z]*m|--message|--body|--title|--subject|--notes|--description|-t|-b)$/;
/** To git other flags than these are no text: `commit -t file`, `annotate -b file`. */
const GIT_MESSAGE_FLAGS = /^(?:-[a-zA-Z]*m|--message)$/;
const TAKES_MESSAGE = /^(?:commit|commit-tree|merge|notes|pull|stash|tag)$/;

/** Words that are text for people: messages and titles. */
function textWords(values: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>();
  const name = basename(values[0] ?? '');
  if (name !== 'git' && name !== 'gh' && name !== 'glab') return found;
  const isGit = name === 'git';
  if (isGit && !TAKES_MESSAGE.test(readGit(values.slice(1)).subcommand ?? '')) return found;
  const flags = isGit ? GIT_MESSAGE_FLAGS : MESSAGE_FLAGS;
  for (const [at, value] of values.entries()) {
    if (flags.test(values[at - 1] ?? '') || /^--(?:message|body|title|subject|notes)=/.test(value)) found.add(at);
  }
  return found;
}

/** Whatever part of a word could name a file: `--x=file`, `@file`, `HEAD:file`, `-ffile`, `a,b`. */
function pathsIn(word: string): string[] {
  const found = new Set([word]);
  const add = (part: string): void => void (part !== '' && found.add(part));
  const url = /^file:\/\/(\/.*)$/.exec(word)?.[1];
  if (url !== undefined) add(url);
  if (/^-[A-Za-z]./.test(word)) add(word.slice(2));
  if (/[=:,@]/.test(word)) for (const part of word.split(/[=:,@]/)) add(part);
  return [...found];
}

/** A text that is more than one word. */
const isProgram = (value: string): boolean => /[\s'"`()<>;|&]/.test(value);

/** What could be paths inside of a longer text. */
const tokensIn = (text: string): string[] =>
  [...new Set(text.split(/[\s'"`()[\]{};,=:@<>|&\\+]+/))].filter(
    (token) => token !== '' && !hasHole(token) && token.length < 300,
  );
