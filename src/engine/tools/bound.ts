/** The one place where the output of tools is cut. What is cut is kept in a file, and the result says where. */
import type { OutputLimits, ToolOutput, ToolResultContentBlock } from '../../protocol/index.js';

export interface BoundOptions {
  limits?: Partial<OutputLimits> | undefined;
  /** The file's name without its ending. */
  name: string;
  /** Stores a whole and gives its path. */
  keep: (name: string, data: string | Uint8Array) => Promise<string>;
}

const DEFAULT_LIMITS: OutputLimits = { text: 100_000, field: 1024 * 1024 };
/** What model APIs take of one image, counted in base64. */
const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;

/** The first `length` characters, without half a surrogate pair at the end: model APIs refuse such text. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? length - 1 : length);
}

/** The output as it goes to the model and into the log. */
export async function boundOutput(output: ToolOutput, options: BoundOptions): Promise<ToolOutput> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const content =
    typeof output.content === 'string'
      ? await boundText(output.content, limits.text, options)
      : await boundBlocks(output.content, limits.text, options);
  return { ...output, content, structured: cutFields(output.structured, limits.field) };
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

/** Keeps the head. The note at its end says how much was cut, and where the whole is. */
async function boundText(text: string, max: number, options: BoundOptions): Promise<string> {
  if (text.length <= max) return text;
  const where = await store(`${options.name}.txt`, text, options);
  const note = (shown: number) => `\n\n[Cut: the first ${count(shown)} of ${count(text.length)} characters. ${where}]`;
  const head = cutText(text, Math.max(0, max - note(max).length));
  return head + note(head.length);
}

/** The blocks share one limit; a file for each block that is cut. */
async function boundBlocks(
  blocks: readonly ToolResultContentBlock[],
  max: number,
  options: BoundOptions,
): Promise<ToolResultContentBlock[]> {
  let left = max;
  const bounded: ToolResultContentBlock[] = [];
  for (const [index, block] of blocks.entries()) {
    const name = `${options.name}-${index + 1}`;
    if (block.type === 'text') {
      const text = await boundText(block.text, left, { ...options, name });
      left = Math.max(0, left - text.length);
      bounded.push({ ...block, text });
    } else {
      bounded.push(await boundImage(block, { ...options, name }));
    }
  }
  return bounded;
}

async function boundImage(block: ToolResultContentBlock, options: BoundOptions): Promise<ToolResultContentBlock> {
  if (block.type !== 'image' || block.source.type !== 'base64') return block;
  const { data, media_type } = block.source;
  if (data.length <= MAX_IMAGE_BASE64) return block;
  const ending = /^image\/(\w+)/.exec(media_type)?.[1] ?? 'bin';
  const where = await store(`${options.name}.${ending}`, Buffer.from(data, 'base64'), options);
  return { type: 'text', text: `[An image of ${count(data.length)} characters is too large to be shown. ${where}]` };
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
