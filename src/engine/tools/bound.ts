/** The one place where the output of tools is cut. What is cut is kept in a file, and the result says where. */
import type { OutputLimits, ToolOutput, ToolResultContentBlock } from '../../protocol/index.js';

export interface BoundOptions {
  limits?: Partial<OutputLimits> | undefined;
  /** The file's name without its ending. */
  name: string;
  /** Stores a whole and gives its path. */
  keep: (name: string, data: string | Uint8Array) => Promise<string>;
}

const DEFAULT_LIMITS = { text: 100_000, field: 1024 * 1024 };
/** What model APIs take of one image, counted in base64. */
const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;
/** What fits into one request, with room for the conversation. */
const MAX_IMAGES_BASE64 = 15 * 1024 * 1024;
const MAX_IMAGES = 20;

/** The first `length` characters, without half a surrogate pair at the end: model APIs refuse such text. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? length - 1 : length);
}

/** The output as it goes to the model and into the log. */
export async function boundOutput(output: ToolOutput, options: BoundOptions): Promise<ToolOutput> {
  const { text = DEFAULT_LIMITS.text, field = DEFAULT_LIMITS.field } = options.limits ?? {};
  const content =
    typeof output.content === 'string'
      ? await boundText(output.content.toWellFormed(), text, options)
      : await boundBlocks(output.content, text, options);
  const structured = await boundStructured(cutFields(output.structured, field), options);
  return { ...output, content, structured };
}

const count = (value: number): string => value.toLocaleString('en-US');

/** Where the whole is; a disk that is full must not cost the part that can be shown. */
async function store(name: string, data: string | Uint8Array, { keep }: BoundOptions): Promise<string> {
  try {
    return `The whole is kept in ${await keep(name, data)}`;
  } catch (error) {
    return `The rest could not be kept: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Of what is shown of a long text, the part that is its end: what failed often stands there. */
const TAIL_SHARE = 0.3;

/** Keeps head and tail. The note between them says how much was cut, and where the whole is. */
async function boundText(text: string, max: number, options: BoundOptions): Promise<string> {
  if (text.length <= max) return text;
  const where = await store(`${options.name}.txt`, text, options);
  const note = (left: number) =>
    `\n\n[Cut: ${count(left)} of ${count(text.length)} characters are left out. ${where}]\n\n`;
  const room = Math.max(0, max - note(text.length).length);
  const tail = keepEnd(text, Math.floor(room * TAIL_SHARE));
  const head = cutText(text, room - tail.length);
  return head + note(text.length - head.length - tail.length) + tail;
}

/** The last `length` characters, without half a surrogate pair at the start. */
function keepEnd(text: string, length: number): string {
  const first = text.charCodeAt(text.length - length);
  const splitsPair = first >= 0xdc00 && first <= 0xdfff;
  return text.slice(text.length - length + (splitsPair ? 1 : 0));
}

/** A text at the end that is no longer than this says what the others are. */
const MAX_CLOSING = 2_000;

/** The blocks share the limits. What goes beyond them is kept in one file of texts and one of each image. */
async function boundBlocks(
  all: readonly ToolResultContentBlock[],
  limit: number,
  options: BoundOptions,
): Promise<ToolResultContentBlock[]> {
  const last = all.at(-1);
  const isClosed = all.length > 1 && last?.type === 'text' && last.text.length <= Math.min(MAX_CLOSING, limit / 10);
  const closing = isClosed ? [{ ...last, text: last.text.toWellFormed() }] : [];
  const blocks = isClosed ? all.slice(0, -1) : all;
  const max = limit - (isClosed ? last.text.length : 0);
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text.toWellFormed()] : []));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const bounded: ToolResultContentBlock[] = [];
  let left = max;
  let images = 0;
  let imageSize = 0;
  let keptImages: string | undefined;
  for (const [index, block] of blocks.entries()) {
    if (block.type === 'text') {
      const text = block.text.toWellFormed();
      if (text.length <= left) bounded.push({ ...block, text });
      else if (left > 0) bounded.push({ ...block, text: cutText(text, left) });
      left = Math.max(0, left - text.length);
    } else if (block.type === 'image' && block.source.type === 'base64') {
      const { data, media_type } = block.source;
      const fits = images < MAX_IMAGES && imageSize + data.length <= MAX_IMAGES_BASE64;
      if (data.length <= MAX_IMAGE_BASE64 && fits) {
        images += 1;
        imageSize += data.length;
        bounded.push(block);
        continue;
      }
      const ending = /^image\/(\w+)/.exec(media_type)?.[1] ?? 'bin';
      const where = await store(`${options.name}-${index + 1}.${ending}`, Buffer.from(data, 'base64'), options);
      keptImages ??= `[Cut: an image of ${count(data.length)} characters is left out, as may be others. ${where}]`;
    } else {
      bounded.push(block);
    }
  }
  if (length > max) {
    const where = await store(`${options.name}.txt`, texts.join('\n'), options);
    const text = `[Cut: ${count(length - max)} of ${count(length)} characters are left out. ${where}]`;
    bounded.push({ type: 'text', text });
  }
  if (keptImages !== undefined) bounded.push({ type: 'text', text: keptImages });
  return [...bounded, ...closing];
}

/** What is too much would be read again at every resume. The built-in tools say nothing of a limit: theirs is known. */
async function boundStructured(structured: unknown, options: BoundOptions): Promise<unknown> {
  const max = options.limits?.structured;
  const text = max === undefined || structured === undefined ? undefined : JSON.stringify(structured);
  if (max === undefined || text === undefined || text.length <= max) return structured;
  const where = await store(`${options.name}.json`, text, options);
  return `[Cut: ${count(text.length)} characters of JSON are left out. ${where}]`;
}

/** A copy with every long string cut, or the value itself when none is. */
function cutFields(value: unknown, max: number): unknown {
  if (typeof value === 'string') {
    return value.length <= max ? value : `${cutText(value, max)}\n\n[Cut: ${count(value.length)} characters]`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => cutFields(item, max));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const fields = Object.entries(value).map(([key, field]): [string, unknown] => [key, cutFields(field, max)]);
  const changed = fields.some(([key, field]) => field !== (value as Record<string, unknown>)[key]);
  return changed ? Object.fromEntries(fields) : value;
}
