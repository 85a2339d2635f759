import type { NotebookEditInput, ToolContext, ToolOutput } from '../../protocol/index.js';
import { refuseUnknown } from './ledger.js';
import { changeCell } from './notebook-change.js';
import type { CellChange } from './notebook-change.js';
import { isNotebook, MAX_NOTEBOOK_BYTES } from './file-kind.js';
import { parseNotebook } from './notebook.js';
import type { Cell, Notebook } from './notebook.js';
import { readOrdinary } from './ordinary-file.js';
import { resolvePath } from './paths.js';
import { originalFor, refusing, replaceFile } from './replace-file.js';
import { encodeText } from './text-file.js';

/** More names than these help nobody. */
const MAX_NAMED_CELLS = 50;

interface Plan {
  path: string;
  real: string;
  bytes: Uint8Array;
  notebook: Notebook;
  change: CellChange;
  /** Undefined for an insert. */
  before?: Cell;
  /** Of the cell that was changed, inserted or deleted. */
  cellId: string;
  cellType: string;
}

/** Works out the change on the notebook as it is now. A text refuses. */
async function planEdit(input: NotebookEditInput, context: ToolContext): Promise<Plan | string> {
  const path = resolvePath(context.cwd, input.notebook_path);
  if (!isNotebook(path)) return `${path} is not a notebook (.ipynb). Use Edit for other files.`;
  const real = context.judgedPath(path);
  const advice = 'Change it with a program in Bash.';
  const bytes = await readOrdinary({ path, real, maxBytes: MAX_NOTEBOOK_BYTES, action: 'edit', advice }, context);
  const unknown = refuseUnknown(context.ledger.compare(real, bytes));
  if (unknown !== undefined) return unknown;

  const notebook = parseNotebook(path, bytes);
  const change = input.edit_mode === 'insert' ? planInsert(notebook, { input, context }) : planChange(notebook, input);
  return typeof change === 'string' ? change : { path, real, bytes, notebook, ...change };
}

type CellPlan = Pick<Plan, 'change' | 'before' | 'cellId' | 'cellType'>;

function planInsert(
  notebook: Notebook,
  { input, context }: { input: NotebookEditInput; context: ToolContext },
): CellPlan | string {
  const { cell_id: after, cell_type: type, new_source: source } = input;
  if (type === undefined) return 'edit_mode insert needs cell_type: code or markdown.';
  const found = after === undefined ? -1 : findCell(notebook, after);
  if (typeof found === 'string') return found;
  const index = found + 1;
  // The end of an id, for it differs even where ids are counted up.
  const id = context.clock.uuid().replaceAll('-', '').slice(-8);
  const change: CellChange = { mode: 'insert', index, source, type, id };
  return { change, cellId: notebook.hasIds ? id : `cell-${index}`, cellType: type };
}

function planChange(notebook: Notebook, input: NotebookEditInput): CellPlan | string {
  const mode = input.edit_mode === 'delete' ? 'delete' : 'replace';
  if (input.cell_id === undefined) return `edit_mode ${mode} needs cell_id. ${nameCells(notebook)}`;
  const index = findCell(notebook, input.cell_id);
  if (typeof index === 'string') return index;
  const before = notebook.cells[index];
  if (before === undefined) return explainUnknownCell(notebook, input.cell_id);
  if (mode === 'delete') return { change: { mode, index }, before, cellId: before.id, cellType: before.type };
  const cellType = input.cell_type ?? before.type;
  return {
    change: { mode, index, source: input.new_source, type: cellType },
    before,
    cellId: before.id,
    cellType,
  };
}

/** The index of a cell by id, else by `cell-<index>`. A text refuses. */
function findCell(notebook: Notebook, id: string): number | string {
  const { cells } = notebook;
  const [, counted] = /^cell-(\d{1,9})$/.exec(id) ?? [];
  const place = counted === undefined ? -1 : Number(counted);
  const named = [...cells.keys()].filter((index) => cells[index]?.id === id);
  const [first, ...others] = named;
  if (first === undefined) return place >= 0 && place < cells.length ? place : explainUnknownCell(notebook, id);
  if (others.length === 0) return first;
  // A cell without an id is called by its place, and another may have that name for an id.
  return named.includes(place) ? place : explainSharedId(id, named);
}

function explainSharedId(id: string, named: readonly number[]): string {
  const places = named.slice(0, MAX_NAMED_CELLS).map((index) => `cell-${index}`);
  return `${named.length} cells have the id "${id}". Name the one you mean by its place: ${places.join(', ')}.`;
}

const explainUnknownCell = (notebook: Notebook, id: string): string =>
  `There is no cell with the id "${id}". ${nameCells(notebook)}`;

function nameCells({ cells }: Notebook): string {
  if (cells.length === 0) return 'The notebook has no cells.';
  const names = cells.slice(0, MAX_NAMED_CELLS).map(({ id }) => id);
  const more = cells.length > names.length ? ` and ${cells.length - names.length} more` : '';
  return `The cells are: ${names.join(', ')}${more}.`;
}

export const refuseNotebookEdit = (input: NotebookEditInput, context: ToolContext): Promise<string | undefined> =>
  refusing(() => planEdit(input, context));

/** Changes one cell. Throws what refuses it. */
export async function runNotebookEdit(input: NotebookEditInput, context: ToolContext): Promise<ToolOutput> {
  // Time may have passed since `enforce`, for a person was asked: the change is made on what is there now.
  const edit = await planEdit(input, context);
  if (typeof edit === 'string') throw new Error(edit);
  const { path, real, bytes, notebook, change } = edit;
  const text = changeCell(notebook, change);
  const data = encodeText({ ...notebook.file, text });
  await replaceFile(context, { real, before: bytes, data });

  return {
    content: describeEdit(edit, input.new_source),
    structured: {
      new_source: change.mode === 'delete' ? '' : input.new_source,
      ...(edit.before === undefined ? {} : { old_source: edit.before.source }),
      cell_type: edit.cellType,
      language: notebook.language,
      edit_mode: change.mode,
      cell_id: edit.cellId,
      error: '',
      notebook_path: path,
      original_file: originalFor(notebook.file.text),
      updated_file: originalFor(text),
    },
  };
}

function describeEdit({ change, cellId }: Plan, source: string): string {
  if (change.mode === 'delete') return `Deleted cell ${cellId}`;
  return `${change.mode === 'insert' ? 'Inserted' : 'Updated'} cell ${cellId} with ${source}`;
}
