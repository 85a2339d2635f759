/** All of YAML, by the package for it, which is loaded for the first file that needs it. */
import type { Document, Pair } from 'yaml';
import type { Field } from './field.js';
import { type Doubt, findDoubtsBelow, guardedKey } from './guarded.js';

export interface YamlFault {
  /** Counts from 1. */
  line: number;
  text: string;
}

export type YamlOutcome =
  | { fields: Map<string, Field>; faults: readonly YamlFault[]; doubts: readonly Doubt[] }
  /** It is no YAML, or no table of it. */
  | { fields: undefined; fault: YamlFault };

/** Uses of `*name` together; more of them are how a short text becomes a huge value. */
const MAX_ALIASES = 20;
const MAX_DEPTH = 40;
const UNSAFE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** `firstLine` is the line of the file in which the text begins. */
export async function readStrictYaml(text: string, firstLine: number): Promise<YamlOutcome> {
  const deep = findDepth(text);
  if (deep !== undefined) return refuse(firstLine + deep, 'it is nested too deeply');
  const yaml = await import('yaml');
  const { LineCounter, isMap, isScalar, parseDocument } = yaml;
  const lineCounter = new LineCounter();
  const lineAt = (offset: number): number => firstLine + Math.max(0, lineCounter.linePos(offset).line - 1);
  try {
    const document = parseDocument(text, {
      lineCounter,
      logLevel: 'silent',
      prettyErrors: false,
      resolveKnownTags: false,
      schema: 'core',
      stringKeys: true,
    });
    const [error] = document.errors;
    if (error !== undefined) return refuse(lineAt(error.pos[0]), firstSentence(error.message));
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null))
      return { fields: new Map(), faults: [], doubts: [] };
    if (!isMap(contents)) return refuse(firstLine, 'it holds no "key: value" lines');
    const whole: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const faults: YamlFault[] = document.warnings.map(({ pos, message }) => ({
      line: lineAt(pos[0]),
      text: firstSentence(message),
    }));
    const fields = new Map<string, Field>();
    for (const pair of contents.items) {
      const { key } = pair;
      const name = isScalar(key) ? String(key.value) : '';
      const line = isScalar(key) ? lineAt(key.range?.[0] ?? 0) : firstLine;
      if (UNSAFE_KEYS.has(name)) {
        faults.push({ line, text: `the key "${name}" is left out` });
        continue;
      }
      const value = copySafely((whole as Record<string, unknown>)[name]);
      const marked = findMarked(pair, text, yaml);
      if (marked === undefined) fields.set(name, { value, line });
      else if (guardedKey(name) !== undefined) {
        fields.set(name, { value: null, line, fault: `"${marked}" begins with a sign that YAML takes away` });
      } else if (typeof value === 'string' || value === null) fields.set(name, { value: marked, line });
      else fields.set(name, { value, line });
    }
    return { fields, faults, doubts: findDoubts(document, { text, lineAt, yaml }) };
  } catch (error) {
    return refuse(firstLine, firstSentence(error instanceof Error ? error.message : String(error)));
  }
}

type Yaml = typeof import('yaml');

/** The text of `key: &amp; co` and `key: !important`, whose beginning means something else in YAML. */
function findMarked({ key, value }: Pair, text: string, { isScalar }: Yaml): string | undefined {
  if (!isScalar(key) || !isScalar(value) || value.type !== 'PLAIN') return undefined;
  // Tags of YAML itself say what kind a value is.
  const hasTag = value.tag !== undefined && !value.tag.startsWith('tag:yaml.org,');
  if (value.anchor === undefined && !hasTag) return undefined;
  return text
    .slice(key.range?.[1] ?? 0, value.range?.[1] ?? 0)
    .replace(/^\s*:/, '')
    .trim();
}

/** A value may go on in the next line, and swallow what was meant as a field of its own. */
function findDoubts(
  document: Document,
  { text, lineAt, yaml }: { text: string; lineAt: (offset: number) => number; yaml: Yaml },
): Doubt[] {
  const doubts: Doubt[] = [];
  yaml.visit(document, {
    Scalar(_, { type, range }) {
      if (type !== 'PLAIN' || !range) return;
      doubts.push(...findDoubtsBelow(text.slice(range[0], range[1]), lineAt(range[0])));
    },
  });
  return doubts;
}

const refuse = (line: number, text: string): YamlOutcome => ({ fields: undefined, fault: { line, text } });

const firstSentence = (text: string): string => (text.split('\n')[0] ?? '').replace(/[\s:.]+$/, '').slice(0, 200);

/** The parser calls itself for every level: a line that opens thousands of brackets, or is indented by them, is not given to it. */
function findDepth(text: string): number | undefined {
  let open = 0;
  for (const [at, line] of text.split('\n').entries()) {
    const indicators = /^[\s?:-]*/.exec(line)?.[0].replace(/\s/g, '').length ?? 0;
    open += count(line, /[[{]/g) - count(line, /[\]}]/g);
    if (open < 0) open = 0;
    if (open > MAX_DEPTH * 4 || indicators > MAX_DEPTH * 4) return at;
  }
  return undefined;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Plain values, without keys that reach behind an object. What is too deep is left out. */
function copySafely(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? Number(value) : value;
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((each) => copySafely(each, depth + 1));
  const entries = Object.entries(value).filter(([key]) => !UNSAFE_KEYS.has(key));
  return Object.fromEntries(entries.map(([key, each]) => [key, copySafely(each, depth + 1)]));
}
