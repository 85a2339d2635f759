import type { SessionScope } from '../scope.js';
import type { Decision, PermissionCall } from './policy.js';
import { readablePlacesOf } from './readable-places.js';

/** What the rules say about looking at a place for the model, as if Read or Glob were called. Nobody is asked. */
export function judgeRead(
  scope: SessionScope,
  path: string,
  { given = path, kind = 'file' }: { given?: string; kind?: 'file' | 'folder' } = {},
): Promise<Decision> {
  const isFile = kind === 'file';
  return judge(scope, {
    tool: isFile ? 'Read' : 'Glob',
    input: isFile ? { file_path: path } : { pattern: '*', path },
    accesses: [{ path, given, access: 'read', kind: isFile ? 'file' : 'directory' }],
  });
}

/** What the rules say about showing the model a resource of a server, as if ReadMcpResourceTool were called. */
export const judgeResource = (scope: SessionScope, input: { server: string; uri: string }): Promise<Decision> =>
  judge(scope, { tool: 'ReadMcpResourceTool', input, accesses: [] });

async function judge(
  scope: SessionScope,
  call: Pick<PermissionCall, 'tool' | 'input' | 'accesses'>,
): Promise<Decision> {
  const { state, guard, config } = scope;
  const { decidePermission } = await import('./decide.js');
  return decidePermission(
    { ...call, readOnly: true, edits: false },
    {
      mode: state.mode,
      book: await guard.rules({ deny: config.disallowedTools }),
      roots: state.roots,
      home: guard.home,
      cwd: state.cwd,
      trusted: guard.trusted,
      readable: readablePlacesOf(scope),
    },
  );
}
