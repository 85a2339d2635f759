/** Changes one cell of a notebook in its text; all other cells stay byte for byte. */
import { findArray } from './json-span.js';
import type { ArraySpan } from './json-span.js';
import type { Cell, Json, Notebook } from './notebook.js';

export type CellChange =
  | { mode: 'replace'; index: number; source: string; type: string }
  /** The new cell gets this index. `id` is left out where the format knows none. */
  | { mode: 'insert'; index: number; source: string; type: string; id: string }
  | { mode: 'delete'; index: number };

/** The new text of the notebook. */
export function changeCell(notebook: Notebook, change: CellChange): string {
  const { text } = notebook.file;
  const array = findArray(text, 'cells');
  if (array === undefined) throw new Error('The notebook has no list of cells.');
  const style = styleOf(text);
  const { index } = change;
  if (change.mode === 'delete') return removeElement(text, { array, index });
  if (change.mode === 'insert') {
    return insertElement(text, { array, index, style, printed: printCell(newCell(notebook, change), style) });
  }
  const [cell, span] = [notebook.cells[index], array.elements[index]];
  if (cell === undefined || span === undefined) throw new Error(`The notebook has no cell ${index}.`);
  const raw = parseExactly(text.slice(span.start, span.end));
  return text.slice(0, span.start) + printCell(replaceSource({ ...cell, raw }, change), style) + text.slice(span.end);
}

/** Not yet known to the types of the language. */
interface ExactJson {
  parse(text: string, revive: (key: string, value: unknown, context: { source?: string }) => unknown): Json;
  rawJSON(text: string): unknown;
}

/** Numbers are kept as they are spelled: 1.0 and those of more digits than a number can hold. */
function parseExactly(text: string): Json {
  const json = JSON as unknown as ExactJson;
  return json.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? json.rawJSON(source) : value,
  );
}

interface Style {
  /** Of one level. Empty: all of it stands in one line. */
  indent: string;
  newline: string;
}

function styleOf(text: string): Style {
  const [, newline = '\n', indent = ''] = /^\s*\{[ \t]*(\r?\n)([ \t]+)"/.exec(text) ?? [];
  return { indent, newline };
}

/** Cells stand at the second level. */
const cellBreak = ({ indent, newline }: Style): string => (indent === '' ? '' : newline + indent.repeat(2));

const printCell = (cell: Json, style: Style): string =>
  JSON.stringify(cell, null, style.indent).replaceAll('\n', cellBreak(style));

/** A list of lines with their newlines, unless the notebook writes one string. */
const toSource = (source: string, like: unknown): unknown =>
  typeof like === 'string' ? source : source.split(/(?<=\n)/).filter((line) => line !== '');

/** What a cell of another type must not have is dropped; what is unknown stays. */
function replaceSource(cell: Cell, { source, type }: { source: string; type: string }): Json {
  const next: Json = { ...cell.raw, cell_type: type, source: toSource(source, cell.raw.source) };
  if (type === 'code') {
    if (cell.type !== 'code') delete next.attachments;
    return { ...next, execution_count: null, outputs: [] };
  }
  delete next.execution_count;
  delete next.outputs;
  return next;
}

/** Keys in the order in which Jupyter writes them. */
function newCell({ cells, hasIds }: Notebook, { source, type, id }: Extract<CellChange, { mode: 'insert' }>): Json {
  const isCode = type === 'code';
  return {
    cell_type: type,
    ...(isCode ? { execution_count: null } : {}),
    ...(hasIds ? { id } : {}),
    metadata: {},
    ...(isCode ? { outputs: [] } : {}),
    source: toSource(source, cells[0]?.raw.source),
  };
}

function insertElement(text: string, at: { array: ArraySpan; index: number; printed: string; style: Style }): string {
  const { array, index, printed, style } = at;
  const before = array.elements[index - 1];
  if (before !== undefined)
    return `${text.slice(0, before.end)},${cellBreak(style)}${printed}${text.slice(before.end)}`;
  const first = array.elements[0];
  if (first !== undefined)
    return `${text.slice(0, first.start)}${printed},${cellBreak(style)}${text.slice(first.start)}`;
  const close = style.indent === '' ? '' : style.newline + style.indent;
  return `${text.slice(0, array.start)}[${cellBreak(style)}${printed}${close}]${text.slice(array.end)}`;
}

function removeElement(text: string, { array, index }: { array: ArraySpan; index: number }): string {
  const [before, removed, after] = [array.elements[index - 1], array.elements[index], array.elements[index + 1]];
  if (removed === undefined) throw new Error(`The notebook has no cell ${index}.`);
  if (after !== undefined) return text.slice(0, removed.start) + text.slice(after.start);
  if (before !== undefined) return text.slice(0, before.end) + text.slice(removed.end);
  return `${text.slice(0, array.start)}[]${text.slice(array.end)}`;
}
