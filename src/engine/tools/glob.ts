import { join } from 'node:path';
import type { GlobInput, WholeTool } from '../../protocol/index.js';
import { compilePattern, splitPattern, toTypeFilter } from './glob-pattern.js';
import { noteCwd, resolvePath, shortenPath } from './paths.js';
import { runSearch, sortByAge } from './search.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const MAX_FILES = 100;
/** The search ends at so many: who gets more must narrow the pattern, and looking at their age takes longer than finding them. */
const MAX_MATCHES = 5_000;

/** The folder to walk and the pattern for what is in it. A folder means all that is in it. */
function locate(input: GlobInput, cwd: string): { folder: string; rest: string } {
  const { folder, rest } = splitPattern(input.pattern.replace(/\/$/, '/**'));
  return { folder: resolvePath(resolvePath(cwd, input.path ?? '.'), folder === '' ? '.' : folder), rest };
}

export const globTool: WholeTool<GlobInput> = {
  name: 'Glob',
  description:
    'Finds files by name, newest first, 100 at most. Knows * ? [a-z] {a,b} and ** for folders; a pattern without a ' +
    'slash matches at any depth. What .gitignore names is left out.',
  inputSchema: inputSchemaOf('Glob'),
  parse: (input) => parseToolInput('Glob', input),
  isReadOnly: () => true,
  accesses: (input, { cwd }) => [{ path: locate(input, cwd).folder, access: 'read' }],
  async run(input, context) {
    const startedAt = context.clock.monotonic();
    const { cwd, workspace } = context;
    if (input.path !== undefined && (await workspace.stat(resolvePath(cwd, input.path)))?.kind !== 'directory') {
      throw new Error(`${resolvePath(cwd, input.path)} is not a folder. ${noteCwd(cwd)}`);
    }
    const { folder, rest } = locate(input, cwd);
    const real = context.judgedPath(folder);
    const matches = compilePattern(rest);
    const found: string[] = [];
    let complete = true;
    if ((await workspace.stat(real))?.kind === 'directory') {
      const end = await runSearch(context, {
        folder: real,
        args: ['--files', ...toTypeFilter(rest), '--null', '--', './'],
        separator: '\0',
        judged: real,
        onRecord(record) {
          const name = record.slice(2);
          if (matches(name)) found.push(name);
          return found.length < MAX_MATCHES;
        },
      });
      complete = end.complete;
    }
    const sorted = await sortByAge(context, real, found);
    const filenames = sorted.slice(0, MAX_FILES).map((name) => shortenPath(cwd, join(folder, name)));
    const truncated = !complete || sorted.length > filenames.length;
    return {
      content: describe({ filenames, total: sorted.length, complete }),
      structured: {
        filenames,
        durationMs: Math.round(context.clock.monotonic() - startedAt),
        numFiles: filenames.length,
        truncated,
        totalMatches: sorted.length,
        countIsComplete: complete,
      },
    };
  },
};

function describe(result: { filenames: readonly string[]; total: number; complete: boolean }): string {
  const { filenames, total, complete } = result;
  const parts = [filenames.length === 0 ? 'No files found' : filenames.join('\n')];
  if (!complete)
    parts.push('(The search was not finished: there is too much to look at. Give a narrower path or pattern.)');
  else if (total > filenames.length)
    parts.push(`(${filenames.length} of ${total} files. Give a narrower path or pattern.)`);
  return parts.join('\n');
}
