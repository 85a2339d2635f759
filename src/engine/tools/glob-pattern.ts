/**
 * Name patterns: `*`, `?`, `[a-z]`, `{a,b}`, `**` for any number of folders, `\` before a plain character. Matched by
 * hand in bounded time; ripgrep's own filter would bring back files that .gitignore leaves out.
 */
import { PROBLEM_TEXTS } from '../../protocol/plain.js';

type Token = { kind: 'char'; char: string } | { kind: 'any' } | { kind: 'star' } | { kind: 'class'; test: ClassTest };
type ClassTest = (char: string) => boolean;
type NameTest = (name: string) => boolean;
type Segment = NameTest | '**';

const MAX_ALTERNATIVES = 256;
/** As long as the longest path that a system takes. */
const MAX_PATTERN = 4_096;
const MAGIC = /[*?[\]{}\\]/;

export interface SplitPattern {
  /** The leading folders that are plain names; empty when there are none. */
  folder: string;
  /** What is left. Starts with a slash when it must match from `folder` on. */
  rest: string;
}

/** Why these patterns or paths cannot be used, in words for the model. */
export const findTooLong = (fields: Readonly<Record<string, string | undefined>>): string[] =>
  Object.entries(fields).flatMap(([field, text = '']) =>
    text.length <= MAX_PATTERN
      ? []
      : [PROBLEM_TEXTS.input.notValid([field], `it has ${text.length} characters; ${MAX_PATTERN} are the most`)],
  );

/** Takes the plain folders off the front, so that only those are searched. */
export function splitPattern(pattern: string): SplitPattern {
  const parts = pattern.replace(/^(\.\/)+/, '').split('/');
  const magic = parts.findIndex((part) => MAGIC.test(part));
  const plain = magic === -1 ? parts.length - 1 : Math.min(magic, parts.length - 1);
  if (plain === 0) return { folder: '', rest: parts.join('/') };
  const folder = parts.slice(0, plain).join('/');
  return { folder: folder === '' ? '/' : folder, rest: `/${parts.slice(plain).join('/')}` };
}

/** Patterns may be listed with commas, outside of braces and brackets. */
export function splitList(list: string): string[] {
  const patterns = [''];
  let depth = 0;
  for (const [piece] of list.matchAll(/\\[^]|\[[!^]?[^][^\]]*\]|[^]/g)) {
    if (piece === ',' && depth === 0) {
      patterns.push('');
      continue;
    }
    if (piece === '{') depth += 1;
    else if (piece === '}') depth = Math.max(0, depth - 1);
    patterns[patterns.length - 1] += piece;
  }
  if (patterns.length === 1) return patterns;
  return patterns.map((pattern) => pattern.trim()).filter((pattern) => pattern !== '');
}

/** Tests paths relative to the searched folder. A pattern without a slash matches at any depth. */
export function compilePattern(pattern: string): NameTest {
  const alternatives = expandBraces(pattern).map(toSegments).map(toPathTest);
  const [first] = alternatives;
  if (first !== undefined && alternatives.length === 1) return first;
  return (path) => alternatives.some((matches) => matches(path));
}

const toSegments = (pattern: string): Segment[] => {
  const parts = pattern.replace(/^\//, '').split('/');
  const segments = parts.map((part): Segment => (part === '**' ? '**' : toNameTest(toTokens(part))));
  return pattern.includes('/') ? segments : ['**', ...segments];
};

/** Most paths fail at their last name already, so that they need not be taken apart. */
function toPathTest(segments: readonly Segment[]): NameTest {
  const last = segments.at(-1);
  if (last === undefined || last === '**') return (path) => matchSegments(segments, path.split('/'));
  const nameAlone = segments.length === 2 && segments[0] === '**';
  return (path) =>
    last(path.slice(path.lastIndexOf('/') + 1)) && (nameAlone || matchSegments(segments, path.split('/')));
}

/** Names of the usual shapes (`*`, `name`, `*.ts`, `name*`, `a*b`) are compared as they are. */
function toNameTest(tokens: readonly Token[]): NameTest {
  const stars = tokens.filter(({ kind }) => kind === 'star').length;
  const isPlain = tokens.every(({ kind }) => kind === 'star' || kind === 'char');
  if (!isPlain || stars > 1) return (name) => matchName(tokens, Array.from(name));
  const at = tokens.findIndex(({ kind }) => kind === 'star');
  const text = tokens.map((token) => (token.kind === 'char' ? token.char : ''));
  const whole = text.join('');
  if (stars === 0) return (name) => name === whole;
  const [head, tail] = [text.slice(0, at).join(''), text.slice(at).join('')];
  return (name) => name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail);
}

/**
 * Arguments that have ripgrep leave out most of what the pattern does not take, and nothing of what it takes. By a file
 * type, since a `--glob` would overrule .gitignore. None where ripgrep might read the pattern in another way.
 */
export function toTypeFilter(pattern: string): string[] {
  const name = pattern.slice(pattern.lastIndexOf('/') + 1);
  const isSame = /^(?:[\w.*?{},@+~% -]|\[[!^]?[\w-]+\])+$/.test(name) && !name.includes('**') && name !== '*';
  // An empty alternative means nothing to ripgrep.
  const hasWholeBraces = !/[{}]/.test(pattern.replace(/\{[^{}/]*\}/g, '')) && !/[{,][,}]/.test(name);
  return isSame && hasWholeBraces ? [`--type-add=heddle:${name}`, '--type=heddle'] : [];
}

/** The first group of braces: where it opens and closes, and its alternatives. */
function findBraces(pattern: string): { open: number; close: number; options: string[] } | undefined {
  let depth = 0;
  let open = -1;
  let from = 0;
  let options: string[] = [];
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern[i];
    if (char === '\\') i += 1;
    else if (char === '{') {
      if (depth === 0) [open, from, options] = [i, i + 1, []];
      depth += 1;
    } else if (char === ',' && depth === 1) {
      options.push(pattern.slice(from, i));
      from = i + 1;
    } else if (char === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0) return { open, close: i, options: [...options, pattern.slice(from, i)] };
    }
  }
  return undefined;
}

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const braces = findBraces(next);
    if (braces === undefined) {
      done.push(next);
      continue;
    }
    const [before, after] = [next.slice(0, braces.open), next.slice(braces.close + 1)];
    open.push(...braces.options.map((option) => before + option + after));
    if (open.length + done.length > MAX_ALTERNATIVES) {
      throw new Error(`The pattern stands for more than ${MAX_ALTERNATIVES} patterns. Use fewer braces.`);
    }
  }
  return done;
}

function toTokens(part: string): Token[] {
  const chars = Array.from(part);
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? '';
    const next = chars[i + 1];
    if (char === '\\' && next !== undefined) {
      tokens.push({ kind: 'char', char: next });
      i += 1;
    } else if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (char === '?') tokens.push({ kind: 'any' });
    else if (char === '[') {
      const found = readClass(chars, i);
      tokens.push(found === undefined ? { kind: 'char', char } : { kind: 'class', test: found.test });
      i = found?.end ?? i;
    } else tokens.push({ kind: 'char', char });
  }
  return tokens;
}

/** `[abc]`, `[a-z]`, `[!a]`, `[^a]`; a bracket that is never closed is a plain character. */
function readClass(chars: readonly string[], start: number): { test: ClassTest; end: number } | undefined {
  const negated = chars[start + 1] === '!' || chars[start + 1] === '^';
  const from = start + (negated ? 2 : 1);
  const end = chars.indexOf(']', from + 1);
  if (end === -1) return undefined;
  const body = chars.slice(from, end);
  const test: ClassTest = (char) => {
    for (let i = 0; i < body.length; i += 1) {
      const low = body[i] ?? '';
      const high = body[i + 2];
      if (body[i + 1] === '-' && high !== undefined) {
        if (char >= low && char <= high) return true;
        i += 2;
      } else if (char === low) return true;
    }
    return false;
  };
  return { test: negated ? (char) => !test(char) : test, end };
}

const matchesOne = (token: Token, char: string): boolean => {
  if (token.kind === 'char') return token.char === char;
  return token.kind === 'class' ? token.test(char) : true;
};

/** On a mismatch only the last star has to take one more character, so the time is at most product of the lengths. */
function matchName(tokens: readonly Token[], name: readonly string[]): boolean {
  let [t, n] = [0, 0];
  let [star, mark] = [-1, 0];
  while (n < name.length) {
    const token = tokens[t];
    if (token?.kind === 'star') {
      [star, mark] = [t, n];
      t += 1;
    } else if (token !== undefined && matchesOne(token, name[n] ?? '')) {
      t += 1;
      n += 1;
    } else if (star !== -1) {
      mark += 1;
      [t, n] = [star + 1, mark];
    } else return false;
  }
  while (tokens[t]?.kind === 'star') t += 1;
  return t === tokens.length;
}

/** The same with folders for characters and `**` for the star; at the end `**` needs at least a file name. */
function matchSegments(segments: readonly Segment[], parts: readonly string[]): boolean {
  let [s, p] = [0, 0];
  let [star, mark] = [-1, 0];
  while (p < parts.length) {
    const segment = segments[s];
    if (segment === '**') {
      if (s === segments.length - 1) return true;
      [star, mark] = [s, p];
      s += 1;
    } else if (segment !== undefined && segment(parts[p] ?? '')) {
      s += 1;
      p += 1;
    } else if (star !== -1) {
      mark += 1;
      [s, p] = [star + 1, mark];
    } else return false;
  }
  return s === segments.length;
}
