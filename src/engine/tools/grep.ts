import type { GrepInput, WholeTool } from '../../protocol/index.js';
import { inputError } from '../../protocol/plain.js';
import { findTooLong } from './glob-pattern.js';
import { placesOf } from './grep-place.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const MAX_TEXT = 30_000;

export const grepTool: WholeTool<GrepInput> = {
  name: 'Grep',
  description:
    'Searches file contents with a ripgrep regular expression. What .gitignore names is left out, hidden files are not.',
  inputSchema: inputSchemaOf('Grep'),
  async parse(input) {
    const parsed = await parseToolInput('Grep', input);
    const problems = findTooLong({ path: parsed.path, glob: parsed.glob });
    if (problems.length > 0) throw inputError('Grep', problems);
    return parsed;
  },
  isReadOnly: () => true,
  limits: { text: MAX_TEXT, field: MAX_TEXT },
  accesses: (input, { cwd }) => placesOf(input, cwd).map((path) => ({ path, access: 'read' })),
  run: async (input, context) => (await import('./grep-run.js')).runGrep(input, context),
};
