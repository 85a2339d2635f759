import type { PermissionMode } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';
import type { Decision, PermissionCall } from './policy.js';
import { readablePlacesOf } from './readable-places.js';

/**
 * What the rules say about looking at a place for the model, as if Read or Glob were called. Nobody is asked.
 * `mode`: in the place of the session's.
 */
export function judgeRead(
  scope: SessionScope,
  path: string,
  { given = path, kind = 'file', mode }: { given?: string; kind?: 'file' | 'folder'; mode?: PermissionMode } = {},
): Promise<Decision> {
  const isFile = kind === 'file';
  const call = {
    tool: isFile ? 'Read' : 'Glob',
    input: isFile ? { file_path: path } : { pattern: '*', path },
    accesses: [{ path, given, access: 'read' as const, kind: isFile ? ('file' as const) : ('directory' as const) }],
  };
  return judge(scope, call, mode);
}

/** What the rules say about showing the model a resource of a server, as if ReadMcpResourceTool were called. */
export const judgeResource = (scope: SessionScope, input: { server: string; uri: string }): Promise<Decision> =>
  judge(scope, { tool: 'ReadMcpResourceTool', input, accesses: [] });

async function judge(
  scope: SessionScope,
  call: Pick<PermissionCall, 'tool' | 'input' | 'accesses'>,
  mode = scope.state.mode,
): Promise<Decision> {
  const { state, guard, config } = scope;
  const { decidePermission } = await import('./decide.js');
  return decidePermission(
    { ...call, readOnly: true, edits: false },
    {
      mode,
      book: await guard.rules({ deny: config.disallowedTools }),
      roots: state.roots,
      home: guard.home,
      cwd: state.cwd,
      trusted: guard.trusted,
      readable: readablePlacesOf(scope),
    },
  );
}
