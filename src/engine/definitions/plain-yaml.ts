/**
 * The plainest part of YAML, which is what nearly all files hold: `key: value` by lines, lists, one table in another.
 * The package that reads all of YAML takes 100 ms to load; whatever is not plain beyond doubt is left to it.
 */
import type { Field } from './field.js';

const KEY = /^([A-Za-z_][\w-]*):(?: +(.*))?$/;
const WORDS_OF_YAML = /^(?:true|false|null|~)$/i;
// Tabs and other control characters mean something else in YAML, or nothing good.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/;
const MAX_DEPTH = 4;

/** Signals that a text is not plain. Not an error: the text may be fine. */
const NOT_PLAIN = Symbol('not plain');
type Maybe<T> = T | typeof NOT_PLAIN;

interface Lines {
  readonly all: readonly string[];
  /** With the blanks at their ends, which count in blocks. */
  readonly whole: readonly string[];
  at: number;
}

/** The fields with their lines, counted from `firstLine`; undefined when the text is more than plain. */
export function readPlainYaml(text: string, firstLine: number): Map<string, Field> | undefined {
  if (CONTROL.test(text)) return undefined;
  const fields = new Map<string, Field>();
  const whole = text.split('\n');
  const lines: Lines = { all: whole.map((line) => line.trimEnd()), whole, at: 0 };
  const isRead = readTable(lines, {
    indent: 0,
    depth: 0,
    take: (key, value, line) => fields.set(key, { value, line: firstLine + line }),
  });
  return isRead && lines.at === lines.all.length ? fields : undefined;
}

interface TableOptions {
  indent: number;
  depth: number;
  take(key: string, value: unknown, line: number): void;
}

/** False when it is not plain. Ends at the first line that stands further to the left. */
function readTable(lines: Lines, { indent, depth, take }: TableOptions): boolean {
  const seen = new Set<string>();
  for (let line = nextLine(lines); line !== undefined; line = nextLine(lines)) {
    const own = indentOf(line);
    if (own < indent) return true;
    const match = own === indent ? KEY.exec(line.slice(indent)) : null;
    const key = match?.[1];
    if (key === undefined || seen.has(key) || WORDS_OF_YAML.test(key) || key === '__proto__') return false;
    seen.add(key);
    const at = lines.at;
    lines.at += 1;
    const value = readValue(match?.[2]?.trim() ?? '', lines, { indent, depth });
    if (value === NOT_PLAIN) return false;
    take(key, value, at);
  }
  return true;
}

/** The next line that says something; the ones before it are passed. */
function nextLine(lines: Lines): string | undefined {
  for (; lines.at < lines.all.length; lines.at += 1) {
    const line = lines.all[lines.at] ?? '';
    if (line !== '' && !line.startsWith('#')) return line;
  }
  return undefined;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

function readValue(text: string, lines: Lines, place: { indent: number; depth: number }): Maybe<unknown> {
  if (text === '') return readBelow(lines, place);
  if (/^[|>]-?$/.test(text)) return readBlock(text, lines, place.indent);
  const next = lines.all[lines.at];
  // A value that goes on in the next line, or an empty line within one.
  if (next !== undefined && next !== '' && indentOf(next) > place.indent) return NOT_PLAIN;
  if (next === '' && indentOf(nextLine({ ...lines }) ?? '') > place.indent) return NOT_PLAIN;
  return text.startsWith('[') ? readFlowList(text) : readScalar(text);
}

/** A list or a table in the lines below, or nothing. */
function readBelow(lines: Lines, { indent, depth }: { indent: number; depth: number }): Maybe<unknown> {
  const first = nextLine(lines);
  if (first === undefined) return null;
  const own = indentOf(first);
  if (own >= indent && first.startsWith('- ', own)) return readList(lines, own, indent);
  if (own <= indent) return null;
  if (depth >= MAX_DEPTH) return NOT_PLAIN;
  const table: Record<string, unknown> = {};
  const take = (key: string, value: unknown): void => void (table[key] = value);
  return readTable(lines, { indent: own, depth: depth + 1, take }) ? table : NOT_PLAIN;
}

function readList(lines: Lines, own: number, indent: number): Maybe<unknown[]> {
  const list: unknown[] = [];
  for (let line = nextLine(lines); line !== undefined; line = nextLine(lines)) {
    const at = indentOf(line);
    const isItem = /^- +\S/.test(line.slice(at));
    if (at < own || (at === indent && !isItem)) break;
    if (at !== own || !isItem) return NOT_PLAIN;
    const item = readScalar(line.slice(own + 1).trim());
    if (item === NOT_PLAIN) return NOT_PLAIN;
    list.push(item);
    lines.at += 1;
  }
  return list;
}

/** Lines of the same indent without an empty one between them. */
function readBlock(mark: string, lines: Lines, indent: number): Maybe<string> {
  const own = indentOf(lines.all[lines.at] ?? '');
  if (own <= indent) return NOT_PLAIN;
  const first = lines.at;
  const texts: string[] = [];
  for (; lines.at < lines.all.length; lines.at += 1) {
    const line = lines.all[lines.at] ?? '';
    if (line === '' || indentOf(line) < own) break;
    if (indentOf(line) > own) return NOT_PLAIN;
    texts.push(line.slice(own));
  }
  const after = { ...lines };
  const next = nextLine(after);
  if (next !== undefined && indentOf(next) > indent) return NOT_PLAIN;
  for (let at = first; at < after.at; at += 1) if (lines.whole[at] !== lines.all[at]) return NOT_PLAIN;
  return texts.join(mark.startsWith('|') ? '\n' : ' ') + (mark.endsWith('-') ? '' : '\n');
}

function readFlowList(text: string): Maybe<unknown[]> {
  const inner = /^\[([^[\]{}"'\\]*)\]$/.exec(text)?.[1];
  if (inner === undefined) return NOT_PLAIN;
  if (inner.trim() === '') return [];
  const list: unknown[] = [];
  for (const part of inner.split(',')) {
    const each = part.trim();
    // What a colon means inside of brackets depends on what follows.
    const item = /:(?![\w*/(-])/.test(each) || each.includes('#') ? NOT_PLAIN : readScalar(each);
    if (item === NOT_PLAIN) return NOT_PLAIN;
    list.push(item);
  }
  return list;
}

function readScalar(text: string): Maybe<unknown> {
  if (text.startsWith('"')) return /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : readEscaped(text);
  if (text.startsWith("'")) return /^'(?:[^']|'')*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : NOT_PLAIN;
  if (!/^[\p{L}\p{N}_/(.<$~+]/u.test(text) || /:(?:\s|$)|\s#/.test(text)) return NOT_PLAIN;
  if (/^(?:null|~)$/i.test(text)) return /^(?:null|Null|NULL|~)$/.test(text) ? null : text;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (!/^[+.\d]/.test(text) || /[ /]/.test(text) || /^\d+(?:\.\d+){2,}$/.test(text)) return text;
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/.test(text) ? Number(text) : NOT_PLAIN;
}

/** Only the escapes that JSON has too. */
function readEscaped(text: string): Maybe<string> {
  return /^"(?:[^"\\]|\\["\\nt])*"$/.test(text) ? (JSON.parse(text) as string) : NOT_PLAIN;
}
