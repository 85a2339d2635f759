/** Lists of tools as people write them. Pure. Whatever may be a sentence is no list: its words would become permissions. */
import { canonicalToolName } from '../../protocol/plain.js';
import { isKnownTool } from '../permissions/rules/written.js';
import { splitNames } from './field-reader.js';

const ITEM = /^(?:\*|[A-Za-z_][\w.*:@/-]*(?:\(.*\))?)$/s;
/** They stand alone, or in a sentence. */
const WORDS =
  /^(?:\*|all|and|any|anything|but|every|everything|except|excluding|just|never|no|not|none|only|or|without)$/i;
const ALL = /^(?:\*|all|all[ _-]?tools)$/i;

/** Every tool there is, in one word or two. */
export const isAllTools = (value: unknown): boolean =>
  [value].flat().length === 1 && ALL.test([value].flat().join('').trim());

/** Half a rule. Where it denies, it denies all that it may mean. */
const HALF = /^[A-Za-z_][\w.*:@/-]*\([^,)]*$/;

/** Rules that deny, of which some may be halves; `all` is every tool. Undefined when it cannot be read for sure. */
export function readDenials(value: unknown): readonly string[] | undefined {
  if (isAllTools(value)) return ['*'];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const halves = items.filter((item): item is string => typeof item === 'string' && HALF.test(item));
  const others = items.filter((item) => !halves.some((half) => half === item));
  // All of them and some more are all of them.
  const isStar = (item: unknown): boolean => typeof item === 'string' && item.split(',').some(isAllTools);
  const named = others
    .flatMap((item) => (isStar(item) ? String(item).split(',') : [item]))
    .filter((each) => !isAllTools(each));
  const whole = readToolList(named);
  return whole && [...whole, ...halves, ...(others.some(isStar) ? ['*'] : [])];
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
    if (words.length > 1 && !words.every(isUnmistakable)) return undefined;
    names.push(...words);
  }
  return names.length > 1 && names.some((name) => WORDS.test(name)) ? undefined : names;
}

/** Between blanks alone only what cannot be a word of a sentence is a name. */
const isUnmistakable = (word: string): boolean =>
  word !== '*' && isKnownTool(canonicalToolName(word.replace(/\(.*$/s, '')));

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
