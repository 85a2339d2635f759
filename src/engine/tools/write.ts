import type { WholeTool, WriteInput } from '../../protocol/index.js';
import { resolvePath } from './paths.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export const writeTool: WholeTool<WriteInput> = {
  name: 'Write',
  description: 'Creates a file, or replaces all of one that has been read before. Use Edit to change a part of a file.',
  inputSchema: inputSchemaOf('Write'),
  parse: (input) => parseToolInput('Write', input),
  isReadOnly: () => false,
  edits: true,
  accesses: (input, { cwd }) => [{ path: resolvePath(cwd, input.file_path), access: 'write' }],
  enforce: async (input, context) => (await import('./write-run.js')).refuseWrite(input, context),
  run: async (input, context) => (await import('./write-run.js')).runWrite(input, context),
};
