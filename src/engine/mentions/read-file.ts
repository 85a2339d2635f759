/** A mentioned file as Read shows it: by Read itself, so that both have the same bounds and words. */
import type { ReadInput, ToolContext, ToolOutput, UserContentBlock } from '../../protocol/index.js';
import { isNamedPdf, UnshowableFile } from '../tools/file-kind.js';
import { showSize } from '../tools/ordinary-file.js';
import { MAX_TEXT_BYTES } from '../tools/read-text.js';
import type { LineRange } from './parse.js';

export interface MentionedFile {
  /** Absolute, links not resolved. */
  path: string;
  size: number;
  lines?: LineRange;
}

/** What can be shown of it, or one line about why nothing is. */
export type ShownFile = { text: string; images: Extract<UserContentBlock, { type: 'image' }>[] } | { remark: string };

/** Of a text that is too large to be shown whole, so many lines are tried. */
const FIRST_LINES = 2_000;

/** What Read does. */
export type RunRead = (input: ReadInput, context: ToolContext) => Promise<ToolOutput>;

/** Throws when the file cannot be read. What was read is noted in the ledger of the context. */
export async function readMentioned(file: MentionedFile, context: ToolContext, run: RunRead): Promise<ShownFile> {
  const { path, size, lines } = file;
  if (isNamedPdf(path)) return toPdfRemark(size);
  const input = { file_path: path, ...(lines && { offset: lines.from, limit: lines.to - lines.from + 1 }) };
  try {
    return toShown(await run(input, context), { size });
  } catch (error) {
    if (error instanceof UnshowableFile) {
      return { remark: `It is no text and no image that can be shown (${showSize(size)}). Read says more.` };
    }
    if (lines !== undefined || size <= MAX_TEXT_BYTES || context.signal.aborted) throw error;
    const part = await run({ file_path: path, offset: 1, limit: FIRST_LINES }, context).catch(() => undefined);
    if (part === undefined) throw error;
    return toShown(part, { size, isPart: true });
  }
}

const toPdfRemark = (size: number): ShownFile => ({
  remark: `It is a PDF file (${showSize(size)}). Use Read to see its pages.`,
});

/** The parts of what Read gives beside the text that say how much it is. */
interface Structured {
  type?: string;
  file?: { numLines?: number; totalLines?: number };
}

function toShown({ content, structured }: ToolOutput, about: { size: number; isPart?: boolean }): ShownFile {
  const { type, file = {} } = (structured ?? {}) as Structured;
  if (type === 'pdf') return toPdfRemark(about.size);
  if (type === 'text' && typeof content === 'string') {
    const { numLines = 0, totalLines = 0 } = file;
    if (totalLines === 0) return { remark: 'It is empty.' };
    if (numLines === 0) return { remark: `It has only ${totalLines} ${totalLines === 1 ? 'line' : 'lines'}.` };
    const isCut = about.isPart === true && numLines < totalLines;
    const rest = isCut ? `\n\n[Lines 1 to ${numLines} of ${totalLines}. Use Read for more.]` : '';
    return { text: content + rest, images: [] };
  }
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  return {
    text: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    images: blocks.flatMap((block) => (block.type === 'image' ? [block] : [])),
  };
}
