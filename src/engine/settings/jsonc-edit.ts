/** Changes single values in a text of JSON with comments. Everything else keeps its place: comments, order, layout. */
import type { Edit, JSONScanner, Node } from 'jsonc-parser';
import { HeddleError } from '../../protocol/plain.js';

type Path = readonly (string | number)[];

export interface ValueChange {
  path: Path;
  /** The new value; undefined takes it away. A path that leads to nothing yet is made. */
  value: unknown;
}

/** At the end of a list, where the path names one with this as its last part. */
export const END = -1;

/** Kinds of tokens: the numbers of the scanner, whose own names exist for the compiler alone. */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const SPACE = 15;

type Jsonc = typeof import('jsonc-parser');

export interface TextChange {
  text: string;
  /** Made one after the other; a path means the text that the ones before have left. */
  changes: readonly ValueChange[];
  /** Names the text in errors. */
  file: string;
}

interface Draft {
  text: string;
  file: string;
  /** One step of indentation. */
  unit: string;
  eol: string;
  jsonc: Jsonc;
}

/** Throws `invalid_settings` where a path leads through something that holds no values. The text must be JSON. */
export async function changeText({ text, changes, file }: TextChange): Promise<string> {
  const jsonc = await import('jsonc-parser');
  const unit = /\n([ \t]+)["[{]/.exec(text)?.[1] ?? '  ';
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  return changes.reduce((current, change) => changeOne({ text: current, file, unit, eol, jsonc }, change), text);
}

function changeOne(draft: Draft, { path, value }: ValueChange): string {
  const root = draft.jsonc.parseTree(draft.text, [], { allowTrailingComma: true });
  if (root === undefined) throw new Error('a text without a value cannot be changed');
  let node = root;
  for (const [at, part] of path.entries()) {
    const next = childOf(node, part);
    if (next === undefined) {
      if (value === undefined) return draft.text;
      if (node.type !== (typeof part === 'number' ? 'array' : 'object')) throw misfit(draft, path.slice(0, at));
      return apply(draft, insert(draft, { container: node, key: part, value: nest(path.slice(at + 1), value) }));
    }
    node = next;
  }
  if (value === undefined) return apply(draft, remove(draft, node));
  const { offset, length } = node;
  return apply(draft, [{ offset, length, content: print(draft, { value, at: offset }) }]);
}

const misfit = ({ file }: Draft, path: Path): HeddleError =>
  new HeddleError('invalid_settings', `${file}: ${path.join('.')} cannot be added to. It was not changed.`, {
    hint: 'It must be a list or an object. Correct the file by hand, then try again.',
  });

const apply = ({ text, jsonc }: Draft, edits: Edit[]): string => jsonc.applyEdits(text, edits);

function childOf(node: Node, part: string | number): Node | undefined {
  if (node.type === 'array') return typeof part === 'number' ? node.children?.[part] : undefined;
  // Of a key that stands there twice the last one counts.
  return node.children?.findLast((property) => property.children?.[0]?.value === part)?.children?.[1];
}

/** What must be written for a path that does not exist yet. */
const nest = (path: Path, value: unknown): unknown =>
  path.toReversed().reduce<unknown>((inner, part) => (typeof part === 'number' ? [inner] : { [part]: inner }), value);

// ---- Writing -------------------------------------------------------------------------------------------------------

function print({ text, unit, eol }: Draft, { value, at }: { value: unknown; at: number }): string {
  const isOneLine = !text.includes('\n') && !isBare(text);
  if (isOneLine) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indentAt(text, at)}`);
}

/** The white space that the line of this offset begins with. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}

interface Insertion {
  container: Node;
  key: string | number;
  value: unknown;
}

function insert(draft: Draft, { container, key, value }: Insertion): Edit[] {
  const { text, unit, eol } = draft;
  const inner = { from: container.offset + 1, to: container.offset + container.length - 1 };
  const between = text.slice(inner.from, inner.to);
  const own = indentAt(text, container.offset);
  const last = container.children?.at(-1);
  const spreads = between.includes('\n') || (between.trim() === '' && text.includes('\n')) || isBare(text);
  const lastIndent = last !== undefined && startsLine(text, last.offset) ? indentAt(text, last.offset) : undefined;
  const indent = lastIndent ?? `${own}${unit}`;
  const name = container.type === 'object' ? `${JSON.stringify(String(key))}: ` : '';
  const printed = spreads
    ? JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`)
    : JSON.stringify(value);
  const child = `${name}${printed}`;
  if (last === undefined) {
    if (between.trim() === '') {
      const content = spreads ? `${eol}${indent}${child}${eol}${own}` : child;
      return [{ offset: inner.from, length: between.length, content }];
    }
    const offset = inner.from + between.trimEnd().length;
    return [{ offset, length: 0, content: spreads ? `${eol}${indent}${child}` : ` ${child}` }];
  }
  const end = last.offset + last.length;
  const { comma, lineEnd } = lookBehind(draft, { from: end, to: inner.to });
  const content = spreads ? `${eol}${indent}${child}` : ` ${child}`;
  if (comma !== undefined) return [{ offset: Math.max(lineEnd, comma + 1), length: 0, content: `${content},` }];
  return [
    { offset: end, length: 0, content: ',' },
    { offset: lineEnd, length: 0, content },
  ];
}

/** A document that is nothing but `{}` so far. */
const isBare = (text: string): boolean => text.trim().length <= 2;

const startsLine = (text: string, offset: number): boolean =>
  text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '';

interface Behind {
  /** The comma after the child. */
  comma: number | undefined;
  /** The end of the comments that follow on the same line: they belong to the child. */
  lineEnd: number;
}

function lookBehind({ text, jsonc }: Draft, { from, to }: { from: number; to: number }): Behind {
  const scanner: JSONScanner = jsonc.createScanner(text, false);
  scanner.setPosition(from);
  let comma: number | undefined;
  let lineEnd = from;
  let isSameLine = true;
  while (scanner.getPosition() < to) {
    const kind: number = scanner.scan();
    const start = scanner.getTokenOffset();
    if (kind === COMMA) {
      if (comma !== undefined) break;
      comma = start;
      if (isSameLine) lineEnd = scanner.getPosition();
    } else if (kind === LINE_BREAK) {
      if (comma !== undefined) break;
      isSameLine = false;
    } else if (kind === LINE_COMMENT || kind === BLOCK_COMMENT) {
      if (isSameLine) lineEnd = scanner.getPosition();
    } else if (kind !== SPACE) break;
  }
  return { comma, lineEnd };
}

// ---- Taking away ---------------------------------------------------------------------------------------------------

function remove(draft: Draft, value: Node): Edit[] {
  const { text } = draft;
  const child = value.parent?.type === 'property' ? value.parent : value;
  const container = child.parent;
  if (container === undefined) throw new Error('the value as a whole cannot be taken away');
  const siblings = container.children ?? [];
  const index = siblings.indexOf(child);
  const to = container.offset + container.length - 1;
  const end = child.offset + child.length;
  const { comma, lineEnd } = lookBehind(draft, { from: end, to });
  const previous = siblings[index - 1];
  const isLast = index === siblings.length - 1;
  const before = isLast && previous !== undefined ? commaBetween(draft, previous, child) : undefined;
  // A comma that only stands because this child follows goes with it; one that closes the list moves up.
  const dropsBefore = before !== undefined && comma === undefined ? [{ offset: before, length: 1, content: '' }] : [];
  const own = ownLines(text, { from: child.offset, to: Math.max(lineEnd, (comma ?? -1) + 1, end) });
  if (own !== undefined) return [...dropsBefore, { ...own, content: '' }];
  const dropsComma = comma === undefined ? [] : [{ offset: comma, length: 1, content: '' }];
  const from = index === 0 ? child.offset : child.offset - spacesBefore(text, child.offset);
  const spaces = index === 0 && comma !== undefined ? spacesAfter(text, comma + 1) : 0;
  if (comma !== undefined && text.slice(end, comma).trim() === '') {
    return [{ offset: from, length: comma + 1 + spaces - from, content: '' }];
  }
  return [...dropsBefore, { offset: from, length: end - from, content: '' }, ...dropsComma];
}

function commaBetween(draft: Draft, one: Node, other: Node): number | undefined {
  return lookBehind(draft, { from: one.offset + one.length, to: other.offset }).comma;
}

/** The whole lines of a stretch, if nothing else stands on them. */
function ownLines(text: string, { from, to }: { from: number; to: number }) {
  const rest = /^[ \t]*\r?\n/.exec(text.slice(to));
  if (!startsLine(text, from) || rest === null || from === 0) return undefined;
  const offset = text.lastIndexOf('\n', from - 1) + 1;
  return { offset, length: to + rest[0].length - offset };
}

const spacesBefore = (text: string, offset: number): number => /[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0;
const spacesAfter = (text: string, offset: number): number => /^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0;
