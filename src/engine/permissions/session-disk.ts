/** What a session looks at on its disk before a shell line is judged. Loaded with the first one. */
import type { SessionScope } from '../scope.js';
import { findSeen } from './disk-look.js';
import type { Disk } from './disk-walk.js';
import { findLinked } from './links.js';
import { lookupsOf } from './seek.js';
import type { Seen } from './seen.js';
import { type Known, type Place, type ToolCall, toPermissionCall } from './session-case.js';
import { toPolicy } from './session-policy.js';

/** Where links lead that the patterns of a line match. */
export async function linkedPlaces(scope: SessionScope, { input }: ToolCall): Promise<Place[]> {
  const place = { cwd: scope.state.cwd, home: scope.guard.home };
  const found = await findLinked(input.command as string, place, diskOf(scope));
  return found.map((each) => ({ ...each, access: 'read' }));
}

export async function findSeenBy(scope: SessionScope, call: ToolCall, { places, book }: Known): Promise<Seen[]> {
  const lookups = lookupsOf(toPermissionCall(scope, call, { places }), toPolicy(scope, book));
  return lookups.length === 0 ? [] : findSeen(lookups, scope.state.roots, diskOf(scope));
}

const diskOf = ({ workspace }: SessionScope): Disk => ({
  list: async (folder) => workspace.list?.(folder),
  realPath: (path) => workspace.realPath(path),
  readFile: (path, options) => workspace.readFile(path, options),
});
