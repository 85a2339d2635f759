import type { NotebookEditInput, WholeTool } from '../../protocol/index.js';
import { resolvePath } from './paths.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export const notebookEditTool: WholeTool<NotebookEditInput> = {
  name: 'NotebookEdit',
  description:
    'Changes one cell of a notebook (.ipynb) that has been read before: replaces its source, deletes it, or inserts a ' +
    'new cell after it (without cell_id: at the start). Replacing a code cell clears its outputs.',
  inputSchema: inputSchemaOf('NotebookEdit'),
  parse: (input) => parseToolInput('NotebookEdit', input),
  isReadOnly: () => false,
  edits: true,
  accesses: (input, { cwd }) => [{ path: resolvePath(cwd, input.notebook_path), access: 'write' }],
  enforce: async (input, context) => (await import('./notebook-edit-run.js')).refuseNotebookEdit(input, context),
  run: async (input, context) => (await import('./notebook-edit-run.js')).runNotebookEdit(input, context),
};
