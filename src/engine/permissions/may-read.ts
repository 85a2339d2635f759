import type { SessionScope } from '../scope.js';
import type { Decision } from './policy.js';

/** What the rules say about looking at a place for the model, as if Read or Glob were called. Nobody is asked. */
export async function judgeRead(
  { state, guard, kept, config }: SessionScope,
  path: string,
  { given = path, kind = 'file' }: { given?: string; kind?: 'file' | 'folder' } = {},
): Promise<Decision> {
  const { decidePermission } = await import('./decide.js');
  const isFile = kind === 'file';
  return decidePermission(
    {
      tool: isFile ? 'Read' : 'Glob',
      input: isFile ? { file_path: path } : { pattern: '*', path },
      readOnly: true,
      edits: false,
      accesses: [{ path, given, access: 'read', kind: isFile ? 'file' : 'directory' }],
    },
    {
      mode: state.mode,
      book: await guard.rules({ deny: config.disallowedTools }),
      roots: state.roots,
      home: guard.home,
      cwd: state.cwd,
      trusted: guard.trusted,
      ...(kept.folder !== undefined && { ownFolder: kept.folder }),
    },
  );
}
