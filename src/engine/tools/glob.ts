import type { GlobInput, WholeTool } from '../../protocol/index.js';
import { inputError } from '../../protocol/plain.js';
import { findTooLong } from './glob-pattern.js';
import { locate } from './glob-place.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export const globTool: WholeTool<GlobInput> = {
  name: 'Glob',
  description:
    'Finds files by name, newest first, 100 at most. Knows * ? [a-z] {a,b} and ** for folders; a pattern without a ' +
    'slash matches at any depth. What .gitignore names is left out.',
  inputSchema: inputSchemaOf('Glob'),
  async parse(input) {
    const parsed = await parseToolInput('Glob', input);
    const problems = findTooLong({ pattern: parsed.pattern, path: parsed.path });
    if (problems.length > 0) throw inputError('Glob', problems);
    return parsed;
  },
  isReadOnly: () => true,
  accesses: (input, { cwd }) => [{ path: locate(input, cwd).folder, access: 'read' }],
  run: async (input, context) => (await import('./glob-run.js')).runGlob(input, context),
};
