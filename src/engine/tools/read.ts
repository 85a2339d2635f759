import type { ReadInput, ToolContext, ToolOutput, WholeTool } from '../../protocol/index.js';
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
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** The largest file of which a part can be read. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export const readTool: WholeTool<ReadInput> = {
  name: 'Read',
  description:
    'Reads a file. Text comes as number<TAB>line, 2,000 lines unless offset and limit say otherwise; very long lines ' +
    'are cut. Shows images (PNG, JPEG, GIF, WebP), the cells of notebooks (.ipynb) and the text of PDF files; of more ' +
    'than 10 pages say which, at most 20.',
  inputSchema: inputSchemaOf('Read'),
  // The text is bounded here by lines; an image in base64 is one field.
  limits: { text: 512 * 1024, field: 6 * 1024 * 1024 },
  parse: (input) => parseToolInput('Read', input),
  isReadOnly: () => true,
  accesses: (input, { cwd }) => [{ path: resolvePath(cwd, input.file_path), access: 'read' }],
  async run(input, context) {
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
  },
};

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
