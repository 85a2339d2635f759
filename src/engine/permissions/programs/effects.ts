import { basename } from 'node:path/posix';
import { hasHole } from '../shell/hole.js';
import type { Segment } from '../shell/reading.js';
import { readGit } from './git.js';
import { listed } from './listed.js';
import type { ReadOnlyTables, ReadOnlyUse } from './readonly.js';
import type { WriterSpec } from './writer-table.js';

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
  includes?: readonly string[];
  skipsHidden?: boolean;
}

export interface EffectTables extends ReadOnlyTables {
  writers: Readonly<Record<string, WriterSpec>>;
}

/** Every path that a command touches, or may touch. */
export function touchesOf(segment: Segment, tables: EffectTables, use: ReadOnlyUse | undefined): Touch[] {
  if (use !== undefined) return use.onlyNames ? [] : use.paths.map((path) => toRead(path, use));
  const values = segment.words.map(({ value }) => value);
  const written = writesOf(values, tables.writers);
  const touches: Touch[] = [...written.writes].map((path) => ({ path, access: 'write' }));
  const isText = textWords(values);
  for (const [at, value] of values.entries()) {
    if (at === 0 || written.writes.has(value) || isText.has(at)) continue;
    const isRead = written.isKnown && !value.startsWith('-');
    // The flag itself is no path; what is attached to it may be.
    const paths = pathsIn(value);
    for (const path of /^-[A-Za-z]+$/.test(value) ? paths.slice(1) : paths) {
      touches.push({ path, access: isRead ? 'read' : 'mention', ...(written.recurses && { recurses: true }) });
    }
    if (isProgram(value))
      touches.push(...tokensIn(value).map((path): Touch => ({ path, access: 'text', isInText: true })));
  }
  if (segment.inputText !== undefined && INTERPRETERS.test(basename(values[0] ?? ''))) {
    touches.push(...tokensIn(segment.inputText).map((path): Touch => ({ path, access: 'text', isInText: true })));
  }
  return touches;
}

function toRead(path: string, { recurses, includes, skipsHidden }: ReadOnlyUse): Touch {
  return {
    path,
    access: 'read',
    ...(recurses && { recurses: true }),
    ...(includes !== undefined && { includes }),
    ...(skipsHidden === true && { skipsHidden: true }),
  };
}

/** Programs that run code which is given to them. */
export const INTERPRETERS =
  /^(?:python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|luajit|Rscript|osascript|tclsh|awk|gawk|mawk|nawk|psql|sqlite3|mysql|expect|make|gmake|ed|ex|gdb|lftp|at|batch|crontab)$/;

interface Written {
  writes: ReadonlySet<string>;
  /** The program is in the list, so that its other operands are read. */
  isKnown: boolean;
  recurses: boolean;
}

/** The files that a command is known to write. */
export function writesOf(values: readonly string[], writers: Readonly<Record<string, WriterSpec>>): Written {
  const name = basename(values[0] ?? '');
  const git = name === 'git' ? readGit(values.slice(1)) : undefined;
  const key = git === undefined ? name : `git ${git.subcommand ?? ''}`;
  const spec = Object.hasOwn(writers, key) ? writers[key] : undefined;
  if (spec === undefined) return { writes: new Set(), isKnown: false, recurses: false };
  const args = git === undefined ? values.slice(1) : git.args;
  const writes = new Set<string>();
  const outputs = valuesOf(args, spec.outputs);
  const targets = valuesOf(args, spec.targets);
  for (const value of [...outputs, ...targets]) writes.add(value);
  const isActive = spec.only === undefined || flagged(args, spec.only);
  const operands = operandsOf(args);
  if (isActive && targets.length === 0) for (const path of chosen(operands, spec)) writes.add(path);
  if (spec.named !== undefined) {
    for (const arg of args) if (arg.startsWith(`${spec.named}=`)) writes.add(arg.slice(spec.named.length + 1));
  }
  const recurses = spec.recurses === 'always' || (spec.recurses !== undefined && flagged(args, spec.recurses));
  return { writes, isKnown: true, recurses };
}

function operandsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  return [...before.filter((arg) => !arg.startsWith('-') || arg === '-'), ...(end === -1 ? [] : args.slice(end + 1))];
}

function chosen(operands: readonly string[], { writes }: WriterSpec): readonly string[] {
  switch (writes) {
    case 'all':
      return operands;
    case 'last':
      return operands.slice(-1);
    case 'first':
      return operands.slice(0, 1);
    case 'rest':
      return operands.slice(1);
    case 'none':
      return [];
  }
}

function isFlag(arg: string, flag: string): boolean {
  if (flag.length > 1) return arg === `--${flag}` || arg.startsWith(`--${flag}=`) || arg === `-${flag}`;
  if (!arg.startsWith('-') || arg.startsWith('--')) return false;
  const at = arg.indexOf(flag, 1);
  return at !== -1 && /^[A-Za-z]*$/.test(arg.slice(1, at));
}

const flagged = (args: readonly string[], flags: string): boolean =>
  listed(flags).some((flag) => args.some((arg) => isFlag(arg, flag)));

/** The values of flags, attached or in the next word. */
function valuesOf(args: readonly string[], flags: string | undefined): string[] {
  const found: string[] = [];
  for (const flag of listed(flags)) {
    for (const [at, arg] of args.entries()) {
      // `tar cf x` has its letters without a dash.
      const isBundle = flag === 'f' && at === 0 && /^[a-z]*f$/.test(arg);
      if (!isBundle && !isFlag(arg, flag)) continue;
      const attached = flag.length === 1 ? arg.slice(arg.indexOf(flag) + 1) : (/=([^]*)$/.exec(arg)?.[1] ?? '');
      const value = isBundle || attached === '' ? args[at + 1] : attached.replace(/^=/, '');
      if (value !== undefined) found.push(value);
    }
  }
  return found;
}

const MESSAGE_FLAGS = /^(?:-[a-zA-Z]*m|--message|--body|--title|--subject|--notes|--description|-t|-b)$/;

/** Words that are text for people: messages and titles. */
function textWords(values: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>();
  const name = basename(values[0] ?? '');
  if (name !== 'git' && name !== 'gh' && name !== 'glab') return found;
  for (const [at, value] of values.entries()) {
    if (MESSAGE_FLAGS.test(values[at - 1] ?? '') || /^--(?:message|body|title|subject|notes)=/.test(value))
      found.add(at);
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
