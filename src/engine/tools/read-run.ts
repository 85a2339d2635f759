import type { ReadInput, ToolContext, ToolOutput } from '../../protocol/index.js';
import {
  findPdfHeader,
  imageTypeOf,
  isNamedPdf,
  isNotebook,
  MAX_NOTEBOOK_BYTES,
  MAX_PDF_BYTES,
  UnshowableFile,
} from './file-kind.js';
import { readOrdinary } from './ordinary-file.js';
import { resolvePath } from './paths.js';
import { readText } from './read-text.js';

/** The largest file of which a part can be read. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export async function runRead(input: ReadInput, context: ToolContext): Promise<ToolOutput> {
  const path = resolvePath(context.cwd, input.file_path);
  const real = context.judgedPath(path);
  const bytes = await readOrdinary({ path, real, action: 'read', ...sizeLimitOf(path) }, context);
  const note = () => context.ledger.note(real, bytes);
  const output = await show({ path, bytes, input }, context).catch((error: unknown) => {
    if (error instanceof UnshowableFile) note();
    throw error;
  });
  note();
  return output;
}

function sizeLimitOf(path: string): { maxBytes: number; advice: string } {
  if (isNotebook(path))
    return { maxBytes: MAX_NOTEBOOK_BYTES, advice: 'Use a program such as jq to get a part of it.' };
  if (isNamedPdf(path)) return { maxBytes: MAX_PDF_BYTES, advice: 'Split it, for example with qpdf in Bash.' };
  return { maxBytes: MAX_FILE_BYTES, advice: 'Use Grep, or a command such as sed -n, to get the part you need.' };
}

interface ReadFile {
  path: string;
  bytes: Uint8Array;
  input: ReadInput;
}

async function show(file: ReadFile, context: ToolContext): Promise<ToolOutput> {
  const { path, bytes, input } = file;
  if (bytes.length === 0) return readText(file);
  if (isNamedPdf(path) || findPdfHeader(bytes) === 0) {
    const { readPdf } = await import('./read-pdf.js');
    return readPdf({ path, bytes, pages: input.pages }, context);
  }
  if (input.pages !== undefined) {
    throw new Error('The parameter `pages` is only for PDF files. Use offset and limit for a part of a text.');
  }
  const type = imageTypeOf(bytes);
  if (type !== undefined) {
    const { readImage } = await import('./read-image.js');
    return readImage({ path, bytes, type }, context);
  }
  if (!isNotebook(path)) return readText(file);
  const { readNotebook } = await import('./read-notebook.js');
  return readNotebook({ path, bytes }, context);
}
