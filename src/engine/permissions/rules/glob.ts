import { HOLE } from '../shell/hole.js';

/**
 * Patterns as lists of tokens, matched with at most one step back per star: no pattern takes longer than the product of
 * the two lengths.
 */
export type GlobToken =
  | { kind: 'text'; text: string }
  | { kind: 'many' }
  | { kind: 'one'; accepts?: (char: string) => boolean };

const MANY: GlobToken = { kind: 'many' };

/** `*`, `?`, `[a-z]` and `\x`, as in .gitignore; with `onlyStars` nothing but `*` is special. */
export function parseGlob(pattern: string, { onlyStars = false }: { onlyStars?: boolean } = {}): GlobToken[] {
  const tokens: GlobToken[] = [];
  // Where one set is not closed, none behind it is.
  let isOpen = false;
  const addText = (text: string): void => {
    for (const char of text) tokens.push({ kind: 'text', text: char });
  };
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    if (char === '*') {
      if (tokens.at(-1) !== MANY) tokens.push(MANY);
    } else if (char === '\\' && at + 1 < pattern.length && (!onlyStars || pattern[at + 1] === '*')) {
      at += 1;
      addText(pattern.charAt(at));
    } else if (char === '?' && !onlyStars) {
      tokens.push({ kind: 'one' });
    } else if (char === '[' && !onlyStars) {
      const set = isOpen ? undefined : parseSet(pattern, at);
      if (set === undefined) {
        isOpen = true;
        addText(char);
      } else {
        tokens.push({ kind: 'one', accepts: set.accepts });
        at = set.end;
      }
    } else if (char >= '\ud800' && char <= '\udbff') {
      addText(pattern.slice(at, at + 2));
      at += 1;
    } else addText(char);
  }
  return tokens;
}

function parseSet(pattern: string, start: number): { end: number; accepts: (char: string) => boolean } | undefined {
  const isNegated = pattern[start + 1] === '!' || pattern[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  const ranges: [string, string][] = [];
  let at = first;
  const next = (): string => {
    if (pattern[at] === '\\' && at + 1 < pattern.length) at += 1;
    const char = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    at += char.length;
    return char;
  };
  while (at < pattern.length && (pattern[at] !== ']' || at === first)) {
    CLASS.lastIndex = at;
    const [whole = '', kind = ''] = CLASS.exec(pattern) ?? [];
    if (CLASSES.has(kind)) {
      ranges.push(...(CLASSES.get(kind) ?? []));
      at += whole.length;
      continue;
    }
    const from = next();
    const isRange = pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']';
    if (isRange) at += 1;
    ranges.push([from, isRange ? next() : from]);
  }
  if (at >= pattern.length) return undefined;
  const isListed = (char: string): boolean => ranges.some(([from, to]) => char >= from && char <= to);
  return { end: at, accepts: (char) => isListed(char) !== isNegated };
}

const CLASS = /\[:(\w{5,6}):\]/y;
const CLASSES = new Map<string, [string, string][]>(
  Object.entries({
    alnum: '09AZaz',
    alpha: 'AZaz',
    blank: '  \t\t',
    cntrl: '\u0001\u001f\u007f\u007f',
    digit: '09',
    graph: '!~',
    lower: 'az',
    print: ' ~',
    punct: '!/:@[`{~',
    space: '  \t\r',
    upper: 'AZ',
    xdigit: '09AFaf',
  }).map(([kind, ends]) => [kind, (ends.match(/[^]{2}/g) ?? []).map(([from = '', to = '']) => [from, to])]),
);

/** To ripgrep `?` and a set are one byte, of which other letters than those of ASCII have two to four. */
const WIDE_SIGN = [2, 3, 4].map((bytes) => '[!\u0001-\u007f]'.repeat(bytes)).join(',');
const ANY_SIGN = `{?,${WIDE_SIGN}}`;

/**
 * As ripgrep takes a pattern. Braces, a bracket that is not closed and a space at the end are themselves here, which it
 * would take for more; of sets that it reads in another way any sign may be meant.
 */
export function toSearchGlob(pattern: string): string {
  let glob = '';
  let isOpen = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    const set = char === '[' && !isOpen ? parseSet(pattern, at) : undefined;
    if (char === '\\' && at + 1 < pattern.length) {
      at += 1;
      glob += `\\${pattern.charAt(at)}`;
    } else if (set !== undefined) {
      const text = pattern.slice(at, set.end + 1);
      const isNegated = /^\[[!^]/.test(text);
      if (/[\u0080-\uffff]/.test(text)) glob += '*';
      else if (/\\|\[:/.test(text)) glob += ANY_SIGN;
      else glob += isNegated ? `{${text},${WIDE_SIGN}}` : text;
      at = set.end;
    } else if (char === '?') {
      glob += ANY_SIGN;
    } else {
      isOpen ||= char === '[';
      glob += '{}[\\'.includes(char) || (char === ' ' && at === pattern.length - 1) ? `\\${char}` : char;
    }
  }
  return glob;
}

const takes = (token: GlobToken | undefined, char: string): boolean =>
  token !== undefined &&
  (token.kind === 'text' ? token.text === char : token.kind === 'one' && token.accepts?.(char) !== false);

/** True when the pattern matches all of the text. */
export function matchesGlob(tokens: readonly GlobToken[], text: string): boolean {
  const chars = /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
  let token = 0;
  let at = 0;
  let star = -1;
  let from = 0;
  while (at < chars.length) {
    if (tokens[token]?.kind === 'many') {
      star = token;
      from = at;
      token += 1;
    } else if (takes(tokens[token], chars[at] as string)) {
      token += 1;
      at += 1;
    } else if (star !== -1) {
      token = star + 1;
      from += 1;
      at = from;
    } else return false;
  }
  while (tokens[token]?.kind === 'many') token += 1;
  return token === tokens.length;
}

/** True when what a text with holes stands for could be matched. */
export function mayMatchGlob(tokens: readonly GlobToken[], template: string): boolean {
  const other: GlobToken[] = Array.from(template, toToken);
  // reachable[j]: the first i of one and the first j of the other can stand for the same text.
  let reachable: boolean[] = [];
  for (let i = 0; i <= tokens.length; i += 1) {
    const row: boolean[] = [];
    const mine = tokens[i - 1];
    for (let j = 0; j <= other.length; j += 1) {
      const theirs = other[j - 1];
      row[j] =
        (i === 0 && j === 0) ||
        (mine?.kind === 'many' && (reachable[j] === true || (j > 0 && row[j - 1] === true))) ||
        (theirs?.kind === 'many' && (row[j - 1] === true || (i > 0 && reachable[j] === true))) ||
        (mine !== undefined && theirs !== undefined && reachable[j - 1] === true && meet(mine, theirs));
    }
    reachable = row;
  }
  return reachable[other.length] === true;
}

function toToken(char: string): GlobToken {
  if (char === HOLE.one) return { kind: 'one' };
  return char >= HOLE.any && char <= HOLE.below ? MANY : { kind: 'text', text: char };
}

function meet(mine: GlobToken, theirs: GlobToken): boolean {
  if (mine.kind === 'many' || theirs.kind === 'many') return false;
  if (theirs.kind === 'text') return takes(mine, theirs.text);
  return mine.kind === 'text' ? takes(theirs, mine.text) : true;
}

/** A pattern of nothing but text and stars, in pieces between the stars. */
export interface StarPattern {
  pieces: readonly string[];
  tokens: readonly GlobToken[];
}

export function parseStars(pattern: string): StarPattern {
  const pieces: string[] = [''];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    if (char === '*') pieces.push('');
    else if (char === '\\' && pattern[at + 1] === '*') {
      at += 1;
      pieces[pieces.length - 1] += '*';
    } else pieces[pieces.length - 1] += char;
  }
  return { pieces, tokens: parseGlob(pattern, { onlyStars: true }) };
}

/** True when the pattern matches all of the text. Each piece is looked for once, from where the last one ended. */
export function matchesStars({ pieces }: StarPattern, text: string): boolean {
  const first = pieces[0] ?? '';
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (let index = 1; index < pieces.length - 1; index += 1) {
    const piece = pieces[index] as string;
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
