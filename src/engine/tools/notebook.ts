/** A Jupyter notebook (.ipynb): JSON with cells. */
import { UnshowableFile } from './file-kind.js';
import { decodeText } from './text-file.js';
import type { TextFile } from './text-file.js';

const MAX_CELLS = 10_000;

export type Json = Record<string, unknown>;

export interface Cell {
  /** `cell-<index>` where the file has none. */
  id: string;
  /** `code`, `markdown` or `raw`. */
  type: string;
  source: string;
  raw: Json;
}

export interface Notebook {
  file: TextFile;
  cells: Cell[];
  language: string;
  /** Whether the format knows ids of cells: from 4.5 on. */
  hasIds: boolean;
}

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Notebooks keep a text as one string or as a list of lines. */
export function joinText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : '';
}

/** Throws an error that says what is wrong with the file. */
export function parseNotebook(path: string, bytes: Uint8Array): Notebook {
  const fail = (reason: string): Error =>
    new UnshowableFile(
      `${path} is not a notebook: ${reason}. Look at it with Bash, for example with sed -n, and repair it with Edit or ` +
        'Bash; Write may replace all of it.',
    );

  const file = decodeText(bytes);
  if (file.encoding === 'windows1252' || file.encoding === 'bytes') throw fail('it is not valid UTF-8');
  let json: unknown;
  try {
    json = JSON.parse(file.text);
  } catch (error) {
    throw fail(`it is not valid JSON (${explainFault(file.text, error)})`);
  }
  if (!isJson(json)) throw fail('its JSON is not an object');
  const { cells } = json;
  if (!Array.isArray(cells)) {
    throw fail(`it has no list of cells${json.worksheets === undefined ? '' : ' (its format is older than 4)'}`);
  }
  if (cells.length > MAX_CELLS) {
    throw new Error(`${path} has ${cells.length} cells, more than ${MAX_CELLS}. Use a program such as jq with Bash.`);
  }
  const wrong = cells.findIndex((cell) => !isJson(cell));
  if (wrong !== -1) throw fail(`cell ${wrong} of its list is not an object`);
  return {
    file,
    cells: cells.filter(isJson).map(toCell),
    language: languageOf(json),
    hasIds: knowsIds(json),
  };
}

function explainFault(text: string, error: unknown): string {
  const conflict = /^<{7} /m.exec(text);
  if (conflict !== null)
    return `line ${text.slice(0, conflict.index).split('\n').length} is the mark of a merge conflict`;
  return error instanceof Error ? error.message : String(error);
}

const toCell = (raw: Json, index: number): Cell => ({
  id: typeof raw.id === 'string' ? raw.id : `cell-${index}`,
  type: typeof raw.cell_type === 'string' ? raw.cell_type : 'code',
  source: joinText(raw.source),
  raw,
});

function languageOf(notebook: Json): string {
  const { metadata } = notebook;
  if (!isJson(metadata)) return 'python';
  const { language_info: info, kernelspec: kernel } = metadata;
  const language = (isJson(info) ? info.name : undefined) ?? (isJson(kernel) ? kernel.language : undefined);
  return typeof language === 'string' ? language : 'python';
}

function knowsIds({ nbformat, nbformat_minor: minor }: Json): boolean {
  if (typeof nbformat !== 'number') return false;
  return nbformat > 4 || (nbformat === 4 && typeof minor === 'number' && minor >= 5);
}
