import type { ReadInput, WholeTool } from '../../protocol/index.js';
import { resolvePath } from './paths.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

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
  run: async (input, context) => (await import('./read-run.js')).runRead(input, context),
};
