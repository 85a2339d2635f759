import type { ToolOutput, ToolResultContentBlock } from '../../protocol/index.js';
import { isJson, joinText, parseNotebook } from './notebook.js';
import type { Cell, Json } from './notebook.js';
import { imageTypeOf } from './file-kind.js';
import { showImage } from './read-image.js';
import { remind } from './read-text.js';

/** Of the outputs of one cell, and of all cells together. */
const MAX_OUTPUT_TEXT = 10_000;
const MAX_ALL_OUTPUT_TEXT = 200_000;
const MAX_IMAGES = 10;
const MAX_IMAGE_BASE64 = 12 * 1024 * 1024;
/** Sources are shown whole; no person writes as much. */
const MAX_SOURCE_TEXT = 2 * 1024 * 1024;

interface ShownOutput {
  output_type: string;
  text?: string;
  image?: { image_data: string; media_type: string };
}

/** What may still be shown of a notebook. */
interface Budget {
  text: number;
  images: number;
  imageBase64: number;
}

export async function readNotebook(
  file: { path: string; bytes: Uint8Array },
  options: { signal: AbortSignal },
): Promise<ToolOutput> {
  const { cells, language } = parseNotebook(file.path, file.bytes);
  const sourceLength = cells.reduce((sum, { source }) => sum + source.length, 0);
  if (sourceLength > MAX_SOURCE_TEXT) {
    throw new Error(
      `The cells of ${file.path} hold too much text to be shown. Read a part of it with Bash, such as jq '.cells[0:5]'.`,
    );
  }
  const budget: Budget = { text: MAX_ALL_OUTPUT_TEXT, images: MAX_IMAGES, imageBase64: MAX_IMAGE_BASE64 };
  const blocks: ToolResultContentBlock[] = [];
  const shownCells: object[] = [];
  for (const cell of cells) {
    const outputs = await showOutputs(cell, { budget, signal: options.signal });
    addCell(blocks, { cell, language, outputs });
    shownCells.push(describeCell(cell, { language, outputs }));
  }
  return {
    content: toContent(blocks),
    structured: { type: 'notebook', file: { filePath: file.path, cells: shownCells } },
  };
}

function toContent(blocks: ToolResultContentBlock[]): ToolOutput['content'] {
  const [first] = blocks;
  if (first === undefined) return remind('the notebook has no cells.');
  return blocks.length === 1 && first.type === 'text' ? first.text : blocks;
}

function describeCell(cell: Cell, { language, outputs }: { language: string; outputs: ShownOutput[] }): object {
  const shared = { cellType: cell.type, source: cell.source.toWellFormed(), cell_id: cell.id };
  if (cell.type !== 'code') return shared;
  const count = cell.raw.execution_count;
  return {
    ...shared,
    language,
    ...(typeof count === 'number' ? { execution_count: count } : {}),
    ...(outputs.length > 0 ? { outputs } : {}),
  };
}

/** Text goes on in the last block, so that only images part it. */
function addText(blocks: ToolResultContentBlock[], text: string): void {
  const last = blocks.at(-1);
  if (last?.type === 'text') last.text += `\n${text}`;
  else blocks.push({ type: 'text', text });
}

function addCell(
  blocks: ToolResultContentBlock[],
  shown: { cell: Cell; language: string; outputs: readonly ShownOutput[] },
): void {
  const { cell, outputs } = shown;
  const type = cell.type === 'code' ? '' : `<cell_type>${cell.type}</cell_type>`;
  const language = cell.type !== 'code' || shown.language === 'python' ? '' : `<language>${shown.language}</language>`;
  addText(blocks, `<cell id="${cell.id}">${type}${language}${cell.source.toWellFormed()}</cell id="${cell.id}">`);
  for (const { text, image } of outputs) {
    if (text !== undefined) addText(blocks, `<output>\n${text}\n</output>`);
    if (image !== undefined) {
      const source = { type: 'base64' as const, media_type: image.media_type, data: image.image_data };
      blocks.push({ type: 'image', source });
    }
  }
}

async function showOutputs(cell: Cell, at: { budget: Budget; signal: AbortSignal }): Promise<ShownOutput[]> {
  const outputs = cell.type === 'code' && Array.isArray(cell.raw.outputs) ? cell.raw.outputs.filter(isJson) : [];
  const shown: ShownOutput[] = [];
  let room = Math.min(MAX_OUTPUT_TEXT, at.budget.text);
  for (const [index, output] of outputs.entries()) {
    const output_type = String(output.output_type);
    const image = await showOutputImage(output, at);
    if (typeof image === 'object') {
      shown.push({ output_type, image });
      continue;
    }
    const text = image ?? textOf(output);
    if (text.trim() === '') continue;
    if (room <= 0) {
      shown.push({ output_type, text: `[${outputs.length - index} more outputs are left out.]` });
      break;
    }
    const kept = shorten(text, room);
    room -= text.length;
    at.budget.text -= Math.min(text.length, kept.length);
    shown.push({ output_type, text: kept });
  }
  return shown;
}

/** Head and tail, for the last lines of an output often say how it ended. */
function shorten(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const head = text.slice(0, Math.ceil((most * 2) / 3)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(most / 3)).toWellFormed();
  return `${head}\n[... ${(text.length - most).toLocaleString('en-US')} characters are left out ...]\n${tail}`;
}

const ESC = '\u001b';
const BEL = '\u0007';
/** Colours and links. Takes linear time, which `stripVTControlCharacters` of Node does not. */
const TERMINAL_CODES = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\))`, 'g');

const toPlain = (value: unknown): string => joinText(value).replace(TERMINAL_CODES, '').trimEnd();

const TEXT_TYPES = ['text/plain', 'text/markdown', 'text/latex'];

function textOf(output: Json): string {
  if (output.output_type === 'stream') return toPlain(output.text);
  if (output.output_type === 'error') return errorOf(output);
  if (!isJson(output.data)) return '';
  const { data } = output;
  const type = TEXT_TYPES.find((name) => name in data);
  if (type !== undefined) return toPlain(data[type]);
  const types = Object.keys(data);
  return types.length === 0 ? '' : `[An output of type ${types.join(', ')} is not shown.]`;
}

function errorOf({ ename, evalue, traceback }: Json): string {
  const lines = Array.isArray(traceback) ? traceback.filter((line) => typeof line === 'string') : [];
  const name = `${joinText(ename)}: ${joinText(evalue)}`;
  return toPlain(lines.length === 0 ? name : lines.join('\n'));
}

/** The image of an output; a text when it has one that cannot be shown; undefined when it has none. */
async function showOutputImage(
  output: Json,
  at: { budget: Budget; signal: AbortSignal },
): Promise<ShownOutput['image'] | string> {
  if (!isJson(output.data)) return undefined;
  const encoded = joinText(output.data['image/png'] ?? output.data['image/jpeg']);
  if (encoded === '') return undefined;
  const { budget, signal } = at;
  if (budget.images <= 0 || budget.imageBase64 <= 0) return '[An image is left out: the notebook has many.]';
  const bytes = Buffer.from(encoded, 'base64');
  const type = imageTypeOf(bytes);
  if (type === undefined) return '[An image is left out: it is damaged.]';
  try {
    const { base64, type: media_type } = await showImage({ name: 'of the output', bytes, type }, { signal });
    budget.images -= 1;
    budget.imageBase64 -= base64.length;
    return { image_data: base64, media_type };
  } catch (error) {
    if (signal.aborted) throw error;
    return `[${error instanceof Error ? error.message : String(error)}]`;
  }
}
