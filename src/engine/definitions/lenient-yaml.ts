/**
 * Files that were never strict YAML and that people use all the same: read field by field, and what was done is said. Only
 * texts take the lines below them that are no fields; whatever grants or restricts is read for sure, or not at all.
 */
import type { Field } from './field.js';
import { type Doubt, findDoubt, findDoubtsBelow, guardedKey, TOOL_LISTS } from './guarded.js';
import { readPlainYaml } from './plain-yaml.js';
import { readStrictYaml, type YamlFault } from './strict-yaml.js';
import { readWrittenList } from './tool-list.js';

/** They may hold lines such as `user: ...`. */
const TEXTS = new Set(
  'description when_to_use when-to-use initialPrompt initial-prompt criticalSystemReminder_EXPERIMENTAL'.split(' '),
);
/** Beside those that are guarded: the keys by which a field is told from a line of a text. */
const KEYS = new Set(
  [
    'name model argument-hint argumentHint arguments skills color effort background memory context agent',
    'keep-coding-instructions keepCodingInstructions version license author metadata tags category compatibility',
    'homepage repository title',
  ].flatMap((line) => line.split(' ')),
);
const TOP = /^([A-Za-z_][\w-]*)[ \t]*:(?=\s|$)/;

export interface LenientOutcome {
  /** In the order in which they stand; a key may be there more than once. */
  fields: readonly (readonly [string, Field])[];
  /** What was done, each with its line. */
  notes: readonly YamlFault[];
  doubts: readonly Doubt[];
}

interface Part {
  key: string;
  /** `stray`: nobody knows the key. */
  kind: 'text' | 'line' | 'guarded' | 'stray';
  line: number;
  lines: string[];
}

/** Undefined when nothing in it looks like a field. */
export async function readLenientYaml(text: string, firstLine: number): Promise<LenientOutcome | undefined> {
  const { parts, doubts: before } = splitParts(text, firstLine);
  if (!parts.some(({ kind }) => kind !== 'stray')) return undefined;
  const outcomes: LenientOutcome[] = [];
  for (const part of parts) outcomes.push(await readPart(part));
  return {
    fields: outcomes.flatMap(({ fields }) => fields),
    notes: outcomes.flatMap(({ notes }) => notes),
    doubts: [...before, ...outcomes.flatMap(({ doubts }) => doubts)],
  };
}

function kindOf(key: string): Part['kind'] {
  if (guardedKey(key) !== undefined) return 'guarded';
  if (TEXTS.has(key)) return 'text';
  return KEYS.has(key) ? 'line' : 'stray';
}

/** Every key begins a part, but in a text only one that is known does. */
function splitParts(text: string, firstLine: number): { parts: Part[]; doubts: Doubt[] } {
  const parts: Part[] = [];
  const doubts: Doubt[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const key = TOP.exec(line)?.[1];
    const kind = key === undefined ? undefined : kindOf(key);
    const last = parts.at(-1);
    const isText = kind === undefined || (kind === 'stray' && last?.kind === 'text');
    if (key !== undefined && kind !== undefined && !isText) {
      parts.push({ key, kind, line: firstLine + at, lines: [line] });
    } else if (last === undefined) doubts.push(...findDoubt(line, firstLine + at));
    else last.lines.push(line);
  }
  return { parts, doubts };
}

async function readPart(part: Part): Promise<LenientOutcome> {
  const { key, line, lines } = part;
  const written = lines.join('\n');
  const plain = readPlainYaml(written, line);
  if (plain !== undefined) return { fields: [...plain], notes: [], doubts: [] };
  const strict = await readStrictYaml(written, line);
  if (strict.fields !== undefined) return { ...strict, fields: [...strict.fields], notes: strict.faults };
  const spaced = lines.map((each) => each.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  '))).join('\n');
  if (spaced !== written) {
    const again = await readStrictYaml(spaced, line);
    if (again.fields !== undefined) {
      const text = `"${key}" is indented with tabs, which YAML does not allow; they were read as spaces`;
      const notes = [{ line: firstTab(lines, line), text }, ...again.faults];
      return { ...again, fields: [...again.fields], notes };
    }
  }
  return readAsWritten(part, strict.fault);
}

function readAsWritten({ key, kind, line, lines }: Part, fault: YamlFault): LenientOutcome {
  const note = (done: string): YamlFault => ({
    line: fault.line,
    text: `"${key}" is not strict YAML (${fault.text}); ${done}`,
  });
  const inQuotes = `Put it in quotes, or write "${key}: |" and indent the text below.`;
  const own = toText(lines.slice(0, 1));
  const isAlone = lines.slice(1).every((each) => /^\s*(?:#|$)/.test(each));
  const doubts = findDoubtsBelow(lines.join('\n'), line);
  switch (kind) {
    case 'text': {
      const notes = [note(`it was read as plain text. ${inQuotes}`)];
      return { fields: [[key, { value: toText(lines), line }]], notes, doubts };
    }
    case 'line': {
      const done = isAlone ? `it was read as plain text. ${inQuotes}` : 'its own line counts, those below it do not';
      return { fields: [[key, { value: own, line }]], notes: [note(done)], doubts };
    }
    case 'guarded': {
      const isList = TOOL_LISTS.has(guardedKey(key) ?? '');
      const names = isList && isAlone ? readWrittenList(lines[0]?.replace(TOP, '') ?? '') : undefined;
      if (names === undefined) return { fields: [[key, { value: null, line, fault: fault.text }]], notes: [], doubts };
      return { fields: [[key, { value: names, line }]], notes: [note(`it was read as ${names.join(', ')}`)], doubts };
    }
    case 'stray':
      return { fields: [], notes: [note('it is no field that is known, and was passed over')], doubts };
  }
}

const firstTab = (lines: readonly string[], line: number): number =>
  line +
  Math.max(
    0,
    lines.findIndex((each) => /^[ ]*\t/.test(each)),
  );

/** The value as it stands there, without the mark of a block or quotes around the whole. */
function toText([first = '', ...rest]: readonly string[]): string {
  const start = first.replace(TOP, '').trim();
  const lines = [/^[|>][-+]?$/.test(start) ? '' : start, ...rest.map((line) => line.trim())];
  const text = lines.join('\n').trim();
  const quoted = /^(["'])([\s\S]*)\1$/.exec(text);
  return (quoted?.[2] ?? text).trim();
}
