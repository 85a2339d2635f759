import { basename } from 'node:path/posix';
import { type ReadFlags, readFlags } from '../command-flags.js';
import { listed } from '../programs/listed.js';
import { HOLE, hasHole, isFree, isPattern, literalStart } from './hole.js';
import type { ShellWord } from './word.js';
import type { WrapperSpec } from './wrapper-table.js';

/** Something that a wrapper runs: the words of a command, or a line for a shell. */
export interface Inner {
  words?: readonly ShellWord[];
  script?: ShellWord;
  /** Names set in its environment. */
  assignments?: readonly string[];
  /** The folder it runs in; an empty one is not known. */
  folder?: ShellWord;
  /** The line is for a shell that does not speak as bash does. */
  foreign?: boolean;
  /** How many words of the wrapper stand before its own. */
  at: number;
}

export interface Unwrapped {
  inner: readonly Inner[];
  trust: WrapperSpec['trust'];
  /** Its own words, without what it runs, where they must be judged too. */
  own?: readonly ShellWord[];
  /** What it may run, where that is not certain: only forbidding looks at it. */
  guesses?: readonly Inner[];
  doubt?: string | undefined;
  /** It runs what comes on its standard input. */
  runsInput?: boolean;
  /** Not all that it may run was looked at. */
  cut?: boolean;
}

type Wrappers = Readonly<Record<string, WrapperSpec>>;

const UNKNOWN_FLAG = 'what it runs could not be told from its flags';

/** Takes one wrapper off; undefined for a command that is none. */
export function unwrap(
  words: readonly ShellWord[],
  wrappers: Wrappers,
  input?: readonly string[],
): Unwrapped | undefined {
  const found = findSpec(words, wrappers);
  if (found === undefined) return undefined;
  const { spec, start } = found;
  const name = words[0]?.value ?? '';
  const unwrapped = shapeOf(words, { spec, start, ...(input !== undefined && { input }) });
  // `./env` is not the program that we know.
  const isElsewhere = name.includes('/') && unwrapped.own === undefined;
  return isElsewhere && spec.trust === 'clear' ? { ...unwrapped, own: words.slice(0, start) } : unwrapped;
}

interface Found {
  spec: WrapperSpec;
  /** Where its flags begin. */
  start: number;
  /** The paths that come on its standard input. */
  input?: readonly string[];
}

function findSpec(words: readonly ShellWord[], wrappers: Wrappers): Found | undefined {
  const name = basename(words[0]?.value ?? '');
  if (Object.hasOwn(wrappers, name)) return { spec: wrappers[name] as WrapperSpec, start: 1 };
  let possible: Found | undefined;
  for (const key of longKeys(wrappers).get(name) ?? []) {
    const parts = key.split(' ');
    const spec = wrappers[key] as WrapperSpec;
    const find = (at: number, part: string): number => (at === -1 ? -1 : findSubcommand(words, { part, at, spec }));
    const start = parts.slice(1).reduce(find, 1);
    if (start !== -1) return { spec, start };
    // What it does is only known when it runs.
    const second = words[1];
    if (second !== undefined && (second.splits || isFree(second.value.charAt(0)))) {
      possible ??= { spec: { shape: 'anywhere', trust: spec.trust }, start: 2 };
    }
  }
  return possible;
}

/** After flags and their values; how many of these there are is not known for every program. */
function findSubcommand(
  words: readonly ShellWord[],
  { part, at, spec }: { part: string; at: number; spec: WrapperSpec },
): number {
  for (let index = at; index < words.length; index += 1) {
    const { value } = words[index] as ShellWord;
    if (value === part || (spec.abbreviates === true && value !== '' && part.startsWith(value))) return index + 1;
    const followsFlag = index > at && (words[index - 1]?.value ?? '').startsWith('-');
    if (!value.startsWith('-') && !followsFlag) return -1;
  }
  return -1;
}

const LONG_KEYS = new WeakMap<Wrappers, ReadonlyMap<string, readonly string[]>>();

function longKeys(wrappers: Wrappers): ReadonlyMap<string, readonly string[]> {
  let keys = LONG_KEYS.get(wrappers);
  if (keys === undefined) {
    keys = Map.groupBy(
      Object.keys(wrappers).filter((key) => key.includes(' ')),
      (key) => key.slice(0, key.indexOf(' ')),
    );
    LONG_KEYS.set(wrappers, keys);
  }
  return keys;
}

function shapeOf(words: readonly ShellWord[], found: Found): Unwrapped {
  const { spec, start } = found;
  if (spec.shape === 'find') return unwrapFind(words, spec);
  if (spec.shape === 'anywhere') return guess(words, found);
  const read = readLeading(words, found);
  if (read === undefined) return guess(words, found);
  const { flags, at, operands } = read;
  const { trust } = spec;
  if (isUnclear(read, { ...found, words })) return guess(words, found);
  if (listed(spec.asks).some((flag) => flags.has(flag))) return { inner: [], trust, own: words };
  const scripts = listed(spec.scripts).flatMap((flag) => flags.get(flag) ?? []);
  const inner = scripts.map((script): Inner => ({ script: asWord(words, script), at: words.length }));
  const own = trust === 'clear' ? {} : { own: words };
  const rest = words.slice(at);
  switch (spec.shape) {
    case 'shell':
      // What takes back a flag, or ends them, comes before the line.
      if (/^(?:\+|-$)/.test(words[at]?.value ?? '')) return guess(words, found);
      return unwrapShell(words, { spec, flags, at });
    case 'lines': {
      const lines = rest.slice(0, spec.lines ?? rest.length).filter(({ value }) => value !== '-' && value !== '');
      return { inner: [...inner, ...lines.map((script): Inner => ({ script, at }))], trust, ...own };
    }
    case 'login':
      if (listed(spec.commands).some((flag) => flags.has(flag))) {
        return unwrapCommand(words, { spec, flags, at, inner, start });
      }
      // Behind the name of the user, or of the file, come arguments of a shell, or a command.
      if (operands.filter((value) => value !== '-').length > 1 || words.some(({ value }) => value === '--')) {
        return guess(words, found);
      }
      return { inner, trust, ...own };
    case 'xargs':
      return unwrapXargs(rest, { flags, at, input: found.input ?? [HOLE.output] });
    case 'parallel':
      return unwrapParallel(words, at);
    case 'line':
      if (flags.has('x') || flags.has('exec')) return { inner: [{ words: rest, at }], trust, ...own };
      return { inner: rest.length === 0 ? [] : [{ script: join(rest), at }], trust, ...own };
    case 'command':
      return unwrapCommand(words, { spec, flags, at, inner, start });
  }
}

/** With each line that it is known to read; where others may come too, those that are known are guesses. */
function unwrapXargs(
  rest: readonly ShellWord[],
  { flags, at, input }: { flags: ReadFlags['flags']; at: number; input: readonly string[] },
): Unwrapped {
  const run = (item: string): Inner => ({ words: fillXargs(rest, { flags, item }), at });
  const isOpen = input.some(isFree) || cutsNames(flags);
  if (!isOpen) return { inner: input.map(run), trust: 'clear' };
  return { inner: [run(HOLE.output)], guesses: input.filter((item) => !isFree(item)).map(run), trust: 'clear' };
}

/** It parts what it reads at a mark of its own, so that pieces of names are no names of files that were found. */
const cutsNames = (flags: ReadFlags['flags']): boolean =>
  [...(flags.get('d') ?? []), ...(flags.get('delimiter') ?? [])].some((mark) => !/^(?:\n|\\n|\\0)$/.test(mark));

/** Of these xargs takes the last, and one that gives a number may take back one that gives a mark. */
const XARGS_MARKS = new Set('I i replace'.split(' '));
const XARGS_COUNTS = new Set('L l n max-lines max-args'.split(' '));

/** Flags are known, but not what becomes of them together. */
function isUnclear(
  { flags, given, at }: Leading,
  { spec, start, words }: Found & { words: readonly ShellWord[] },
): boolean {
  if (spec.shape === 'xargs') {
    const marks = given.filter((name) => XARGS_MARKS.has(name));
    const isOpen = [...XARGS_MARKS].some((name) => flags.get(name)?.some(hasHole));
    return isOpen || (marks.length > 0 && given.some((name) => XARGS_COUNTS.has(name))) || marks.length > 1;
  }
  // What is split goes on with the words right behind it, flags or not.
  const splits = given.filter((name) => listed(spec.splits).includes(name));
  if (splits.length > 1 || (splits.length === 1 && splits[0] !== given.at(-1))) return true;
  if (spec.mixes !== true) return false;
  const end = words.findIndex(({ value }, index) => index >= start && value === '--');
  return words.slice(at, end === -1 ? words.length : end).some(({ value }) => value.startsWith('-'));
}

interface Leading {
  flags: ReadFlags['flags'];
  given: ReadFlags['given'];
  /** Where what it runs begins. */
  at: number;
  /** Words that are no flags, of a program that takes both in any order. */
  operands: readonly string[];
}

function readLeading(words: readonly ShellWord[], { spec, start }: Found): Leading | undefined {
  const values = words.slice(start).map(({ value }) => value);
  const asks = listed(spec.asks).join('');
  const known = asks === '' ? spec : { ...spec, short: `${spec.short ?? ''}${asks}` };
  const leading = readFlags(values, known, { stopsAtOperand: true });
  // Flags of these may stand behind their operands.
  const isMixed = spec.shape === 'login' && !listed(spec.commands).some((flag) => leading?.flags.has(flag) === true);
  const read = isMixed ? readFlags(values, known) : leading;
  if (read === undefined) return undefined;
  const operands = spec.operands ?? 0;
  const first = spec.shape === 'shell' ? 1 : 0;
  const flagWords = isMixed ? words.slice(start) : words.slice(start, start + read.read + operands + first);
  // A hole in front of the command may hide flags, or be the command; a pattern may become several words.
  const isLoose = ({ value, splits }: ShellWord, index: number): boolean =>
    splits ||
    isFree(value.charAt(0)) ||
    (isPattern(value) && (literalStart(value) === '' || index < flagWords.length - first));
  if (flagWords.some(isLoose)) return undefined;
  let at = start + read.read + operands;
  if (operands > 0 && words[at]?.value === '--') at += 1;
  // With operands in between flags may go on, and the command would begin later.
  if (operands > 0 && spec.trust !== 'clear' && words[at]?.value.startsWith('-')) return undefined;
  return { flags: read.flags, given: read.given, at, operands: read.operands };
}

interface CommandShape {
  spec: WrapperSpec;
  flags: ReadFlags['flags'];
  at: number;
  inner: readonly Inner[];
  start: number;
}

/** Any word with an equals sign, whatever stands before it. */
const ASSIGNMENT = /^([^=]+)=/;

function unwrapCommand(words: readonly ShellWord[], { spec, flags, at, inner, start }: CommandShape): Unwrapped {
  const { trust } = spec;
  const split = listed(spec.splits).flatMap((flag) => flags.get(flag) ?? [])[0];
  if (split !== undefined) return unwrapSplit(words, { spec, split, at });
  const assignments: string[] = [];
  let from = at;
  while (spec.assigns === true && from < words.length) {
    const name = ASSIGNMENT.exec(words[from]?.value ?? '')?.[1];
    if (name === undefined) break;
    assignments.push(name);
    from += 1;
  }
  const given = words.slice(from);
  const rest = spec.program === undefined ? given : [{ value: spec.program, splits: false }, ...given];
  const folders = listed(spec.folders).flatMap((flag) => flags.get(flag) ?? []);
  const folder = folders.length > 1 ? '' : folders[0];
  const common = { assignments, at: from, ...(folder !== undefined && { folder: asWord(words, folder) }) };
  const own = trust === 'clear' && (given.length > 0 || words[0]?.value !== 'env') ? {} : { own: words };
  if (listed(spec.joined).some((flag) => flags.has(flag))) {
    if (given.length === 0) return { inner, trust, ...own, runsInput: true };
    return { inner: [...inner, { ...common, script: join(rest) }], trust, ...own };
  }
  if (given.length === 0) return { inner, trust, ...(start > 0 && own) };
  const command = { ...common, words: rest };
  // A package may have a program of any name: a rule for who runs it is enough, but for what is forbidden.
  if (spec.packages === true || inner.length > 0)
    return { inner, guesses: [command, ...withoutVersion(command)], trust, ...own };
  return { inner: [command], trust, ...own };
}

/** `yarn@1 run x`: the program is called as the package. */
function withoutVersion(command: Inner & { words: readonly ShellWord[] }): Inner[] {
  const [first, ...rest] = command.words;
  const [, name] = /^([^@]+)@/.exec(first?.value ?? '') ?? [];
  return name === undefined ? [] : [{ ...command, words: [{ value: name, splits: false }, ...rest] }];
}

/** `env -S 'a b' c`: the text is cut into words, flags and all. */
function unwrapSplit(
  words: readonly ShellWord[],
  { spec, split, at }: { spec: WrapperSpec; split: string; at: number },
): Unwrapped {
  const pieces = split.split(/\s+/).filter((piece) => piece !== '');
  const all = [...pieces.map((value) => ({ value, splits: false })), ...words.slice(at)];
  const inner: Inner = { words: [{ value: 'env', splits: false }, ...all], at: words.length };
  if (/["'\\$#]/.test(split) || hasHole(split)) {
    return { inner: [], guesses: [inner, { words: all, at }], trust: spec.trust, doubt: UNKNOWN_FLAG };
  }
  return { inner: [inner], trust: spec.trust };
}

interface ShellShape {
  spec: WrapperSpec;
  flags: ReadFlags['flags'];
  at: number;
}

function unwrapShell(words: readonly ShellWord[], { spec, flags, at }: ShellShape): Unwrapped {
  const { trust, foreign = false } = spec;
  const [first] = words.slice(at);
  const own = foreign ? { own: words } : {};
  if (flags.has('c')) {
    if (first === undefined) return { inner: [], trust, own: words };
    return { inner: [{ script: first, foreign, at }], trust, ...own };
  }
  const isInput = first === undefined || flags.has('s') || first.value === '-' || /^\/(?:dev|proc)\//.test(first.value);
  return { inner: [], trust, own: words, ...(isInput && { runsInput: true }) };
}

function fillXargs(
  rest: readonly ShellWord[],
  { flags, item }: { flags: ReadFlags['flags']; item: string },
): ShellWord[] {
  const words = rest.length === 0 ? [{ value: 'echo', splits: false }] : [...rest];
  const replaced = flags.get('I')?.[0] ?? flags.get('i')?.[0] ?? flags.get('replace')?.[0];
  const mark = replaced ?? (flags.has('i') || flags.has('replace') ? '{}' : undefined);
  if (mark === undefined || mark === '') return [...words, { value: item, splits: true }];
  return words.map(({ value, splits }) => ({ value: value.replaceAll(mark, item), splits }));
}

function unwrapParallel(words: readonly ShellWord[], at: number): Unwrapped {
  const rest = words.slice(at);
  const found = { trust: 'clear', own: words } as const;
  const end = rest.findIndex(({ value }) => PARALLEL_MARK.test(value));
  const command = end === -1 ? rest : rest.slice(0, end);
  if (command.length > 0) {
    const filled = command.map(({ value, splits }) => ({ value: value.replace(/\{[^}]*\}/g, HOLE.output), splits }));
    const isFilled = filled.some(({ value }) => value.includes(HOLE.output));
    return {
      ...found,
      inner: [{ script: join(isFilled ? filled : [...filled, { value: HOLE.output, splits: true }]), at }],
    };
  }
  // Without a command each line is one.
  if (end === -1) return { ...found, inner: [], runsInput: true };
  const given = rest.filter(({ value }) => !PARALLEL_MARK.test(value));
  const readsFiles = rest.some(({ value }) => value.startsWith('::::'));
  return { ...found, inner: given.map((script) => ({ script, at })), ...(readsFiles && { doubt: UNKNOWN_FLAG }) };
}

const PARALLEL_MARK = /^:{3,4}\+?$/;

const MAX_ROOTS = 4;

/** What find or fd runs, and the program itself without it. */
function unwrapFind(words: readonly ShellWord[], spec: WrapperSpec): Unwrapped {
  const own: ShellWord[] = [];
  const clauses: { command: readonly ShellWord[]; name: string; at: number }[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as ShellWord;
    const clause = at === 0 ? undefined : clauseOf(word.value, spec);
    if (clause === undefined) {
      own.push(word);
      continue;
    }
    const end = words.findIndex(
      ({ value }, index) => index > at && (value === ';' || (value === '+' && words[index - 1]?.value === '{}')),
    );
    const rest = words.slice(at + 1, end === -1 ? words.length : end);
    if (clause.value === undefined) clauses.push({ command: rest, name: clause.name, at: at + 1 });
    // Its first word is not one of the line, so that no rule can name it there.
    else {
      const first = { value: clause.value, splits: word.splits };
      clauses.push({ command: [first, ...rest], name: clause.name, at: Infinity });
    }
    at = end === -1 ? words.length : end;
  }
  const appends = spec.appends === true;
  const found = appends ? pathsAnywhere(own) : pathsFound(words);
  const inner = clauses.flatMap(({ command, name, at }): Inner[] => {
    const isInFolder = name === '-execdir' || name === '-okdir';
    const folder = isInFolder ? { folder: { value: '', splits: false } } : {};
    // Where nothing is asked of it, what it starts from is found as well.
    const before = appends ? [] : words.slice(1, at - 1).map(({ value }) => value);
    const isPlain = before.length <= MAX_ROOTS && before.every((value) => /^[^-(!]/.test(value));
    const roots = isInFolder ? [`./${HOLE.below}`] : [...found, ...(isPlain ? before : [])];
    return roots.map((root) => ({ words: fill(command, { root, appends }), at, ...folder }));
  });
  const hides = own.slice(1).some(({ value, splits }) => splits || (isFree(value) && literalStart(value) === ''));
  return { inner, trust: spec.trust, own, ...(hides && { doubt: UNKNOWN_FLAG }) };
}

/** Whether a word begins a command, and what of it stands in the word itself. */
function clauseOf(word: string, spec: WrapperSpec): { name: string; value?: string } | undefined {
  for (const name of listed(spec.clauses)) {
    if (word === name) return { name };
    if (name.startsWith('--') && word.startsWith(`${name}=`)) return { name, value: word.slice(name.length + 1) };
  }
  if (spec.appends !== true || !/^-[^-]/.test(word)) return undefined;
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    const value = word.slice(at + 1);
    if (listed(spec.clauses).includes(name)) return { name, ...(value !== '' && { value: value.replace(/^=/, '') }) };
    if (spec.shortValue?.includes(word.charAt(at))) return undefined;
  }
  return undefined;
}

function fill(
  command: readonly ShellWord[],
  { root, appends }: { root: string; appends: boolean },
): readonly ShellWord[] {
  if (!appends) return command.map(({ value, splits }) => ({ value: value.replaceAll('{}', root), splits }));
  const filled = command.map(({ value, splits }) => ({ value: value.replace(/\{[/.]{0,2}\}/g, root), splits }));
  const isFilled = filled.some(({ value }, at) => value !== command[at]?.value);
  return isFilled ? filled : [...filled, { value: root, splits: false }];
}

/** Of a program whose folders are not told from other words. */
function pathsAnywhere(words: readonly ShellWord[]): string[] {
  const folders = words.slice(1).flatMap(({ value }) => (/^[-;]/.test(value) ? [] : [value]));
  const roots = ['.', ...folders.filter((value) => value.includes('/') || value === '..')];
  return roots.length > MAX_ROOTS ? [HOLE.any] : roots.map((root) => root + HOLE.below);
}

const ACTION = /^-(?:exec|execdir|ok|okdir|print|print0|printf|ls|fls|fprint|fprint0|fprintf|delete)$/;

/** What find finds: paths that begin with one of its folders, and end as `-name` says. */
export function pathsFound(words: readonly ShellWord[]): string[] {
  const values = words.map(({ value }) => value);
  const action = values.findIndex((value) => ACTION.test(value));
  // What stands behind an action limits what comes after it alone.
  const tests = values.slice(0, action === -1 ? values.length : action);
  const isNot = (at: number): boolean => /^(?:!|-not)$/.test(values[at] ?? '');
  const names = tests.filter((_, at) => values[at - 1] === '-name' && !isNot(at - 2));
  // That a path is not wanted only takes away.
  const isOpen = (value: string, at: number): boolean =>
    /^(?:-o|-or|,)$/.test(value) || (isNot(at) && !/^-i?(?:path|name|wholename)$/.test(values[at + 1] ?? ''));
  const isPlain = names.length === 1 && !values.some(isOpen);
  return rootsOf(words).map((root) => root + HOLE.below + (isPlain ? endOf(names[0] ?? '', root) : ''));
}

/** How names end that fit. Of any other pattern than `*.ts` that is the end of a name which may be a whole one. */
function endOf(name: string, root: string): string {
  const end = /[^*?[\]\\/\uE000-\uE005]*$/.exec(name)?.[0] ?? '';
  // The folder that it begins in is found itself if it is called so.
  if (end === '' || root.replace(/\/+$/, '').endsWith(end)) return '';
  if (/^[*\uE002]$/.test(name.slice(0, name.length - end.length))) return end;
  return hasHole(root) ? '' : HOLE.below + end;
}

function rootsOf(words: readonly ShellWord[]): string[] {
  const roots: string[] = [];
  for (const { value } of words.slice(1)) {
    if (/^-[HLP]$/.test(value)) continue;
    if (/^[-(!]/.test(value)) break;
    roots.push(value);
  }
  if (roots.length === 0) return ['.'];
  return roots.length > MAX_ROOTS ? [HOLE.any] : roots;
}

const MAX_GUESSED = 100_000;
/** A command, or a line, that is the value of a flag. */
const ATTACHED =
  /^--(?:exec|command|coreutils-prog(?:-shebang)?|entrypoint|call|run|shell)=([^]+)$|^-[A-Za-z](?=[^]*\s)([^]+)$/;

/** With flags that are not known any word may be where the command begins. */
function guess(words: readonly ShellWord[], { spec, start }: Found): Unwrapped {
  const guesses: Inner[] = [];
  const isLine = spec.shape !== 'command' && spec.shape !== 'xargs';
  let length = 0;
  let at = start;
  for (; at < words.length && length < MAX_GUESSED; at += 1) {
    const word = words[at] as ShellWord;
    const rest = words.slice(at);
    // As words they are looked at anyway.
    const isPlain = !isLine || rest.every(({ value, splits }) => !splits && /^[\w@%+=:,./-]*$/.test(value));
    if (!isPlain) guesses.push({ script: join(rest), at });
    if (/\s/.test(word.value)) guesses.push({ script: word, at });
    if (!word.value.startsWith('-')) guesses.push({ words: rest, at });
    const attached = ATTACHED.exec(word.value)
      ?.slice(1)
      .find((value) => value !== undefined);
    if (attached !== undefined) guesses.push({ script: { value: attached, splits: word.splits }, at });
    length += rest.length;
  }
  const isCut = at < words.length;
  const found = { inner: [], guesses, own: words, trust: spec.trust, ...(isCut && { cut: true }) };
  return spec.trust === 'remote' ? found : { ...found, doubt: UNKNOWN_FLAG };
}

const join = (words: readonly ShellWord[]): ShellWord => ({
  value: words.map(({ value }) => value).join(' '),
  splits: words.some(({ splits }) => splits),
});

/** A value of a flag is the end of one of the words. */
const asWord = (words: readonly ShellWord[], value: string): ShellWord =>
  words.find((word) => word.value === value) ?? { value, splits: false };
