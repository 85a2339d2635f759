/** Lists of tools as people write them. Pure. Whatever may be a sentence is no list: its words would become permissions. */
import { splitNames } from './field-reader.js';

const ITEM = /^(?:\*|[A-Za-z_][\w.*:@/-]*(?:\(.*\))?)$/s;
/** Between blanks alone only what cannot be a word of a sentence is a name. */
const UNMISTAKABLE = /^(?:[A-Z]|mcp__)/;

/** Half a rule. Where it denies, it denies all that it may mean. */
const HALF = /^[A-Za-z_][\w.*:@/-]*\([^,)]*$/;

/** Rules that deny, of which some may be halves. Undefined when it cannot be read for sure. */
export function readDenials(value: unknown): readonly string[] | undefined {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const halves = items.filter((item): item is string => typeof item === 'string' && HALF.test(item));
  if (halves.length === 0) return readToolList(value);
  const whole = readToolList(items.filter((item) => !halves.some((half) => half === item)));
  return whole && [...whole, ...halves];
}

/** Undefined when it cannot be read for sure. */
export function readToolList(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.trim() === '' ? [] : readItems(splitAtCommas(value));
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return undefined;
  if (value.some((item) => item.trim() === '')) return undefined;
  return readItems(value.flatMap(splitAtCommas));
}

/** In what is no YAML: the items may stand in quotes of their own. */
export function readWrittenList(text: string): readonly string[] | undefined {
  const inner = /^\[(.*)\]$/s.exec(text.trim())?.[1] ?? text;
  const items = splitAtCommas(inner).map((item) => /^(["'`])([^"'`]*)\1$/.exec(item)?.[2] ?? item);
  return items.length === 0 ? undefined : readItems(items);
}

/** Of a field that is there twice. A list is the same however it is written. */
export function saysSame(one: unknown, other: unknown): boolean {
  const [first, second] = [one, other].map((value) => JSON.stringify(readToolList(value) ?? value));
  return first === second;
}

function readItems(items: readonly string[]): readonly string[] | undefined {
  const names: string[] = [];
  for (const item of items) {
    const words = splitNames(item);
    if (!words.every((word) => ITEM.test(word))) return undefined;
    if (words.length > 1 && !words.every((word) => UNMISTAKABLE.test(word))) return undefined;
    names.push(...words);
  }
  return names;
}

/** Outside of brackets; a comma at the end is one too many, and means nothing. */
function splitAtCommas(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let item = '';
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && char === ',') {
      items.push(item.trim());
      item = '';
    } else item += char;
  }
  return [...items, item.trim()].filter((each) => each !== '');
}
