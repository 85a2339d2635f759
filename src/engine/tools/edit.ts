import type { EditInput, WholeTool } from '../../protocol/index.js';
import { resolvePath } from './paths.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export const editTool: WholeTool<EditInput> = {
  name: 'Edit',
  description:
    'Replaces exact text in a file that has been read before. old_string must match to the character, without the ' +
    'line numbers that Read adds, and occur once unless replace_all is set. An empty old_string creates a new file.',
  inputSchema: inputSchemaOf('Edit'),
  parse: (input) => parseToolInput('Edit', input),
  isReadOnly: () => false,
  edits: true,
  accesses: (input, { cwd }) => [{ path: resolvePath(cwd, input.file_path), access: 'write' }],
  enforce: async (input, context) => (await import('./edit-run.js')).refuseEdit(input, context),
  run: async (input, context) => (await import('./edit-run.js')).runEdit(input, context),
};
