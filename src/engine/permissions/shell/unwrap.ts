import { basename } from 'node:path/posix';
import { type ReadFlags, readFlags } from '../command-flags.js';
import { listed } from '../programs/listed.js';
import { HOLE, hasHole, isFree, literalStart } from './hole.js';
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
  for (const key of longKeys(wrappers).get(name) ?? []) {
    const parts = key.split(' ');
    const start = parts.slice(1).reduce((at, part) => (at === -1 ? -1 : findSubcommand(words, { part, at })), 1);
    if (start !== -1) return { spec: wrappers[key] as WrapperSpec, start };
  }
  return undefined;
}

/** After flags and their values; how many of these there are is not known for every program. */
function findSubcommand(words: readonly ShellWord[], { part, at }: { part: string; at: number }): number {
  for (let index = at; index < words.length; index += 1) {
    const { value } = words[index] as ShellWord;
    if (value === part) return index + 1;
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
  if (spec.trust === 'remote') return { ...guess(words, found), doubt: undefined };
  const read = readLeading(words, found);
  if (read === undefined) return guess(words, found);
  const { flags, at } = read;
  const { trust } = spec;
  if (listed(spec.asks).some((flag) => flags.has(flag))) return { inner: [], trust, own: words };
  const scripts = listed(spec.scripts).flatMap((flag) => flags.get(flag) ?? []);
  const inner = scripts.map((script): Inner => ({ script: asWord(words, script), at: words.length }));
  const own = trust === 'clear' ? {} : { own: words };
  const rest = words.slice(at);
  switch (spec.shape) {
    case 'shell':
      return unwrapShell(words, { spec, flags, at });
    case 'lines': {
      const lines = rest.slice(0, spec.lines ?? rest.length).filter(({ value }) => value !== '-' && value !== '');
      return { inner: [...inner, ...lines.map((script): Inner => ({ script, at }))], trust, ...own };
    }
    case 'xargs':
      return {
        inner: (found.input ?? [HOLE.output]).map((item) => ({ words: fillXargs(rest, { flags, item }), at })),
        trust,
      };
    case 'parallel':
      return { inner: unwrapParallel(rest, at), trust, own: words };
    case 'line':
      if (flags.has('x') || flags.has('exec')) return { inner: [{ words: rest, at }], trust, ...own };
      return { inner: rest.length === 0 ? [] : [{ script: join(rest), at }], trust, ...own };
    case 'command':
      return unwrapCommand(words, { spec, flags, at, inner, start });
  }
}

function readLeading(words: readonly ShellWord[], { spec, start }: Found) {
  const values = words.slice(start).map(({ value }) => value);
  const asks = listed(spec.asks).join('');
  const known = asks === '' ? spec : { ...spec, short: `${spec.short ?? ''}${asks}` };
  // Flags of these may stand behind their operands.
  const isMixed = spec.lines === 0;
  const read = readFlags(values, known, { stopsAtOperand: !isMixed });
  if (read === undefined) return undefined;
  const operands = spec.operands ?? 0;
  const first = spec.shape === 'shell' ? 1 : 0;
  const flagWords = isMixed ? words.slice(start) : words.slice(start, start + read.read + operands + first);
  // A hole in front of the command may hide flags, or be the command.
  if (flagWords.some(({ value, splits }) => splits || (isFree(value) && hasHole(value.charAt(0))))) return undefined;
  let at = start + read.read + operands;
  if (operands > 0 && words[at]?.value === '--') at += 1;
  // With operands in between flags may go on, and the command would begin later.
  if (operands > 0 && spec.trust !== 'clear' && words[at]?.value.startsWith('-')) return undefined;
  return { flags: read.flags, at };
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
  const rest = words.slice(from);
  const folder = listed(spec.folders).flatMap((flag) => flags.get(flag) ?? [])[0];
  const common = { assignments, at: from, ...(folder !== undefined && { folder: asWord(words, folder) }) };
  const own = trust === 'clear' && (rest.length > 0 || words[0]?.value !== 'env') ? {} : { own: words };
  if (listed(spec.joined).some((flag) => flags.has(flag))) {
    if (rest.length === 0) return { inner, trust, ...own, runsInput: true };
    return { inner: [...inner, { ...common, script: join(rest) }], trust, ...own };
  }
  if (rest.length === 0) return { inner, trust, ...(start > 0 && own) };
  const afterScript = inner.length > 0 && listed(spec.scripts).length > 0;
  return { inner: afterScript ? inner : [{ ...common, words: rest }], trust, ...own };
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

function unwrapParallel(rest: readonly ShellWord[], at: number): Inner[] {
  const end = rest.findIndex(({ value }) => /^:{3,4}\+?$/.test(value));
  const command = end === -1 ? rest : rest.slice(0, end);
  const given = end === -1 ? [] : rest.slice(end + 1);
  if (command.length === 0) return given.map((script) => ({ script, at }));
  const words = command.map(({ value, splits }) => ({ value: value.replace(/\{[^}]*\}/g, HOLE.output), splits }));
  const isFilled = words.some(({ value }) => value.includes(HOLE.output));
  return [{ script: join(isFilled ? words : [...words, { value: HOLE.output, splits: true }]), at }];
}

const MAX_ROOTS = 4;

/** What find runs, and find itself without it. */
function unwrapFind(words: readonly ShellWord[], spec: WrapperSpec): Unwrapped {
  const clauses = new Set(listed(spec.clauses));
  const own: ShellWord[] = [];
  const inner: Inner[] = [];
  const found = pathsFound(words);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as ShellWord;
    if (!clauses.has(word.value)) {
      own.push(word);
      continue;
    }
    const end = words.findIndex(
      ({ value }, index) => index > at && (value === ';' || (value === '+' && words[index - 1]?.value === '{}')),
    );
    const command = words.slice(at + 1, end === -1 ? words.length : end);
    const isInFolder = word.value === '-execdir' || word.value === '-okdir';
    for (const root of isInFolder ? [`./${HOLE.below}`] : found) {
      const filled = command.map(({ value, splits }) => ({ value: value.replaceAll('{}', root), splits }));
      inner.push({ words: filled, at: at + 1, ...(isInFolder && { folder: { value: '', splits: false } }) });
    }
    at = end === -1 ? words.length : end;
  }
  const hides = own.slice(1).some(({ value, splits }) => splits || (isFree(value) && literalStart(value) === ''));
  return { inner, trust: spec.trust, own, ...(hides && { doubt: UNKNOWN_FLAG }) };
}

/** What find finds: paths that begin with one of its folders, and end as `-name` says. */
export function pathsFound(words: readonly ShellWord[]): string[] {
  const values = words.map(({ value }) => value);
  const names = values.filter((_, index) => values[index - 1] === '-name');
  const isPlain = names.length === 1 && !values.some((value) => /^(?:!|-not|-o|-or|,)$/.test(value));
  const end = isPlain ? (/^[*\uE002]([^*?[\]\\/\uE000-\uE005]+)$/.exec(names[0] ?? '')?.[1] ?? '') : '';
  return rootsOf(words).map((root) => root + HOLE.below + end);
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

/** With flags that are not known any word may be where the command begins. */
function guess(words: readonly ShellWord[], { spec, start }: Found): Unwrapped {
  const guesses: Inner[] = [];
  for (let at = start; at < words.length; at += 1) {
    const word = words[at] as ShellWord;
    if (spec.shape !== 'command' && spec.shape !== 'xargs') guesses.push({ script: join(words.slice(at)), at });
    if (/\s/.test(word.value)) guesses.push({ script: word, at });
    if (!word.value.startsWith('-')) guesses.push({ words: words.slice(at), at });
    if (guesses.length > 40) break;
  }
  return { inner: [], guesses, own: words, trust: spec.trust, doubt: UNKNOWN_FLAG };
}

const join = (words: readonly ShellWord[]): ShellWord => ({
  value: words.map(({ value }) => value).join(' '),
  splits: words.some(({ splits }) => splits),
});

/** A value of a flag is the end of one of the words. */
const asWord = (words: readonly ShellWord[], value: string): ShellWord =>
  words.find((word) => word.value === value) ?? { value, splits: false };
