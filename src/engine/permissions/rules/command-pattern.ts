import { basename } from 'node:path/posix';
import { hasHole, literalStart } from '../shell/hole.js';
import type { ShellWord } from '../shell/word.js';
import { matchesStars, mayMatchGlob, parseGlob, parseStars, type StarPattern } from './glob.js';

/** What a rule says of commands. */
export interface CommandPattern {
  /** `any`: every command. `exact`: these words. `prefix`: these words first. `glob`: a text with stars. */
  kind: 'any' | 'exact' | 'prefix' | 'glob';
  /** What stands in the brackets. */
  text: string;
  /** The words it names, without their quotes; of a glob those before its first star. */
  words: readonly string[];
  /** For globs. The second list allows for a star between two words to stand for none. */
  globs: readonly StarPattern[];
}

/** Stands for a space inside of a word, so that it is not taken for one between words. */
const INNER_SPACE = '\u0001';
const MAX_VARIANTS = 8;

/** Compiles what stands in the brackets of a `Bash` rule; a string says why it can never match. */
export function compileCommandPattern(specifier: string): CommandPattern | string {
  const text = specifier.trim();
  if (text === '') return 'it names no command';
  if (text === '*' || text === ':*') return { kind: 'any', text, words: [], globs: [] };
  const isPrefix = text.endsWith(':*') || /[^\\]\s\*$/.test(text);
  const body = isPrefix ? text.replace(/(?::|\s+)\*$/, '') : text;
  const hasStar = /(?<!\\)\*/.test(body);
  if ((isPrefix || hasStar) && joinsCommands(body)) {
    return 'it names more than one command, and each command of a line is judged by itself';
  }
  if (!hasStar) {
    const words = splitWords(body).map((word) => word.replaceAll('\\*', '*'));
    return { kind: isPrefix ? 'prefix' : 'exact', text, words, globs: [] };
  }
  const flat = splitWords(body)
    .map((word) => word.replace(/\s/g, INNER_SPACE))
    .join(' ');
  const open = isPrefix ? [flat, `${flat} *`] : [flat];
  const globs = open.flatMap(withoutEmptyWords).map(parseStars);
  const literal = flat.slice(0, flat.search(/(?<!\\)\*/));
  const words = literal.split(' ').slice(0, -1);
  return { kind: 'glob', text, words, globs };
}

/** `a * b` also as `a b`: the one as it is written comes first. */
function withoutEmptyWords(pattern: string): string[] {
  let variants = [pattern];
  for (
    let at = pattern.indexOf(' * ');
    at !== -1 && variants.length < MAX_VARIANTS;
    at = pattern.indexOf(' * ', at + 2)
  ) {
    const rest = pattern.slice(at + 2);
    variants = [...variants, ...variants.map((variant) => variant.slice(0, variant.length - rest.length - 2) + rest)];
  }
  return variants;
}

/** A list or a pipe outside of quotes. */
const joinsCommands = (text: string): boolean => /[;|&\n]/.test(text.replace(/\\.|'[^']*'|"(?:\\.|[^"\\])*"/g, ''));

/** The words of a rule, as a shell would take off their quotes; as they are where the quotes do not match up. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  const pieces = /(?:\\[^*]|\\\*|'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"\\])+/gy;
  let at = 0;
  while (at < text.length) {
    const space = /\s*/y;
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
    if (at >= text.length) break;
    pieces.lastIndex = at;
    const piece = pieces.exec(text)?.[0];
    if (piece === undefined) return text.trim().split(/\s+/);
    words.push(unquote(piece));
    at += piece.length;
  }
  return words;
}

const unquote = (piece: string): string =>
  piece.replace(
    /'([^']*)'|"((?:\\.|[^"\\])*)"|\\([^*])/g,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? (double === undefined ? (escaped ?? '') : double.replace(/\\(["\\$`])/g, '$1')),
  );

const flatten = (words: readonly string[]): string =>
  words.map((word) => (/\s/.test(word) ? word.replace(/\s/g, INNER_SPACE) : word)).join(' ');

/**
 * For allowing: the words must be just these. Gives how many of them the pattern names itself, or undefined when it does
 * not match. Words with holes are matched only by what covers anything.
 */
export function allowsWords(pattern: CommandPattern, words: readonly ShellWord[], text: string): number | undefined {
  const { kind } = pattern;
  if (kind === 'any') return 0;
  if (kind === 'exact' && words.length !== pattern.words.length) return undefined;
  for (let at = 0; at < pattern.words.length; at += 1) {
    if (words[at]?.value !== pattern.words[at] || words[at]?.splits) return undefined;
  }
  if (kind !== 'glob') return pattern.words.length;
  const [written, open] = pattern.globs;
  const matches =
    (written !== undefined && matchesStars(written, text)) ||
    (open !== undefined && pattern.text.endsWith(':*') && matchesStars(open, text));
  return matches ? pattern.words.length : undefined;
}

export type Match = 'yes' | 'maybe' | 'no';

/** For forbidding: any spelling of the command counts, and what may be the command counts as maybe. */
export function forbidsWords(
  pattern: CommandPattern,
  words: readonly ShellWord[],
  forms: readonly CommandText[],
): Match {
  if (pattern.kind === 'any') return 'yes';
  if (pattern.kind === 'glob') return forbidsText(pattern, forms);
  const plain = compareWords(pattern, words);
  if (plain === 'yes' || pattern.kind === 'exact') return plain;
  return hasTheseFlags(pattern, words) ? 'yes' : plain;
}

function compareWords({ kind, words: wanted }: CommandPattern, words: readonly ShellWord[]): Match {
  let at = 0;
  let match: Match = 'yes';
  for (let index = 0; index < wanted.length; index += 1) {
    const word = wanted[index] as string;
    if (index === 1) at = skipOptions(words, { at, word });
    const given = words[at];
    if (given === undefined) return 'no';
    if (given.splits) return mayBe(given.value, word) ? 'maybe' : 'no';
    if (hasHole(given.value)) {
      if (!mayBe(given.value, word)) return 'no';
      match = 'maybe';
    } else if (given.value !== word && !(index === 0 && basename(given.value) === basename(word))) return 'no';
    at += 1;
  }
  if (kind === 'prefix' || at === words.length) return match;
  return words.slice(at).every(({ splits }) => splits) ? 'maybe' : 'no';
}

/** `git -C folder push` pushes: options between a program and its subcommand hide nothing. */
function skipOptions(words: readonly ShellWord[], { at, word }: { at: number; word: string }): number {
  for (let index = at; index < words.length; index += 1) {
    const value = words[index]?.value ?? '';
    if (value === word) return index;
    const isValue = index > at && (words[index - 1]?.value ?? '').startsWith('-');
    if (!value.startsWith('-') && !isValue) return index === at || hasHole(value) ? index : at;
  }
  return at;
}

const mayBe = (template: string, word: string): boolean =>
  word.startsWith(literalStart(template)) &&
  mayMatchGlob(parseGlob(word.replace(/[\\*]/g, '\\$&'), { onlyStars: true }), template);

const SAME_FLAGS: Readonly<Record<string, string>> = { '--force': '-f', '--recursive': '-r', '-R': '-r' };

/** `rm -rf` is also `rm -fr` and `rm -r x --force`. */
function hasTheseFlags({ words: wanted }: CommandPattern, words: readonly ShellWord[]): boolean {
  const rule = takeFlags(wanted);
  if (rule.flags.size === 0) return false;
  const end = words.findIndex(({ value }) => value === '--');
  const given = takeFlags((end === -1 ? words : words.slice(0, end)).map(({ value }) => value));
  const [name = '', ...operands] = rule.operands;
  if (basename(given.operands[0] ?? '') !== basename(name)) return false;
  return (
    [...rule.flags].every((flag) => given.flags.has(flag)) &&
    operands.every((word, at) => given.operands[at + 1] === word)
  );
}

function takeFlags(words: readonly string[]): { flags: Set<string>; operands: string[] } {
  const flags = new Set<string>();
  const operands: string[] = [];
  for (const word of words) {
    if (/^--[a-z]/.test(word)) flags.add(SAME_FLAGS[word] ?? word);
    else if (/^-[A-Za-z]+$/.test(word))
      for (const letter of word.slice(1)) flags.add(SAME_FLAGS[`-${letter}`] ?? `-${letter}`);
    else operands.push(word);
  }
  return { flags, operands };
}

/** A text that rules with stars are held against. */
interface CommandText {
  text: string;
  isOpen: boolean;
}

/** The text of a command as rules with stars are held against it: as it is, by the bare name, without its first options. */
export function textsOf(words: readonly ShellWord[]): CommandText[] {
  const values = words.map(({ value }) => value);
  const [name = '', ...rest] = values;
  const bare = basename(name);
  const options = rest.findIndex((value) => !value.startsWith('-'));
  const forms = [values];
  if (bare !== name) forms.push([bare, ...rest]);
  if (options > 0) forms.push([bare, ...rest.slice(options)], [bare, ...rest.slice(options + 1)]);
  return forms.map((form) => {
    const text = flatten(form);
    return { text, isOpen: hasHole(text) };
  });
}

export const textOf = (words: readonly ShellWord[]): string => flatten(words.map(({ value }) => value));

function forbidsText({ globs }: CommandPattern, forms: readonly CommandText[]): Match {
  let match: Match = 'no';
  for (const { text, isOpen } of forms) {
    for (const glob of globs) {
      if (!isOpen && matchesStars(glob, text)) return 'yes';
      if (isOpen && match === 'no' && mayMatchGlob(glob.tokens, text)) match = 'maybe';
    }
  }
  return match;
}
