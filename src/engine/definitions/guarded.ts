/** The fields that grant or restrict. However they are written, they are known; and what may be one is never text. */

/** By the names under which readers look for them. */
const GUARDED = [
  'tools',
  'allowed-tools',
  'disallowedTools',
  'permissionMode',
  'hooks',
  'mcpServers',
  'maxTurns',
  'maxBudgetUsd',
  'maxTokens',
  'maxSeconds',
  'isolation',
  'disable-model-invocation',
  'hide-from-slash-command-tool',
  'user-invocable',
] as const;
export type GuardedKey = (typeof GUARDED)[number];

export const TOOL_LISTS: ReadonlySet<string> = new Set<GuardedKey>(['tools', 'allowed-tools', 'disallowedTools']);

/** Letter case, hyphens, blanks and signs that nobody sees make no other key. */
const normalize = (key: string): string =>
  key
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

/** `tool` for `tools`, and other words for tools that are denied: they can mean nothing else. */
const BY_NORMAL: ReadonlyMap<string, GuardedKey> = new Map<string, GuardedKey>([
  ...GUARDED.flatMap((key) => [key, key.replace(/s$/, '')].map((each) => [normalize(each), key] as const)),
  ...['denied', 'blocked', 'excluded', 'forbidden'].flatMap((word) =>
    ['tools', 'tool'].map((noun) => [word + noun, 'disallowedTools'] as const),
  ),
]);

export const guardedKey = (written: string): GuardedKey | undefined => BY_NORMAL.get(normalize(written));

/** A line that is no field, and looks as if it was meant as one that is guarded. */
export interface Doubt {
  key: GuardedKey;
  /** Counts from 1, in the file. */
  line: number;
}

export const describeDoubt = (key: GuardedKey): string =>
  `this line looks like the field "${key}", and cannot be read as one: begin it at the start of the line, as "${key}: "`;

/** Whatever stands before it that is no letter: bullets, stars, brackets, numbers. */
const SIGNED = /^[^A-Za-z]*([A-Za-z][^:=\uff1a]{2,40}?)["'`*_]*\s*(?:[:=\uff1a]|->)/;
/** Such a word begins no sentence. */
const COMPOUND = /^[\s>*+\u2022-]*([a-z]+(?:[-_][a-z]+|[A-Z][a-z]+)+)(?:\s|$)/;
/** Others take these for the ends of lines. */
const ODD_BREAKS = /[\v\f\u0085\u2028\u2029]/;

/** `disallowedTools:Bash`, `disallowedTools = Bash`, one that is indented or a bullet, one without its colon. */
export const findDoubt = (text: string, line: number): Doubt[] =>
  text.split(ODD_BREAKS).flatMap((piece) => findInPiece(piece, line));

/** In all lines of a text but the first, which is that of its own field. */
export const findDoubtsBelow = (text: string, line: number): Doubt[] =>
  text.split('\n').flatMap((each, at) => {
    const [, ...behind] = each.split(ODD_BREAKS);
    return (at === 0 ? behind : [each]).flatMap((piece) => findDoubt(piece, line + at));
  });

function findInPiece(piece: string, line: number): Doubt[] {
  // A table in one line has its keys behind brackets and commas.
  const parts = piece.includes('{') ? piece.split(/[{,]/) : [piece];
  const keys = parts.map((part) => guardedKey(SIGNED.exec(part)?.[1] ?? COMPOUND.exec(part)?.[1] ?? ''));
  return keys.flatMap((key) => (key === undefined ? [] : [{ key, line }]));
}

/** Their tables have keys of their own, among them such that are called like fields. */
const OWN_TABLES: ReadonlySet<string> = new Set<GuardedKey>(['hooks', 'mcpServers']);

/** A field with signs before its key, and guarded keys in the table that it holds. `lineOf` says where a key is written. */
export function findInside(field: string, value: unknown, lineOf: (key: string) => number): Doubt[] {
  const own = guardedKey(field) === undefined ? [field] : [];
  const below = OWN_TABLES.has(field) ? findFlatKeys(value) : findKeys(value);
  return [...own, ...below].flatMap((written) => {
    const key = guardedKey(written.replace(/^[^A-Za-z]+/, ''));
    return key === undefined ? [] : [{ key, line: lineOf(written) }];
  });
}

function findKeys(value: unknown, depth = 0): string[] {
  if (!isObject(value) || depth > 40) return [];
  const below = Object.values(value).flatMap((each) => findKeys(each, depth + 1));
  return Array.isArray(value) ? below : [...Object.keys(value), ...below];
}

/** Of the outermost table alone, and without those that hold a table. */
const findFlatKeys = (value: unknown): string[] =>
  [value].flat().flatMap((table) => {
    if (!isObject(table)) return [];
    return Object.keys(table).filter((key) => !isObject(table[key]) || Array.isArray(table[key]));
  });

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
