/** What a session looks at on its disk before a shell line is judged. Loaded with the first one. */
import type { SessionScope } from '../scope.js';
import { findSeen } from './disk-look.js';
import type { Disk } from './disk-walk.js';
import { findLinked, type LinkedPath } from './links.js';
import type { PermissionCall } from './policy.js';
import type { RuleBook } from './rules/book.js';
import { lookupsOf } from './seek.js';
import type { Seen } from './seen.js';
import { toPolicy } from './session-policy.js';

/** Where links lead that the patterns of a line match. */
export const findLinks = (scope: SessionScope, line: string): Promise<LinkedPath[]> =>
  findLinked(line, { cwd: scope.state.cwd, home: scope.guard.home }, diskOf(scope));

/** Variables by which programs look at other places than the disk tells. */
const LEADS_ELSEWHERE =
  /^(?:GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|CONFIG.*|DISCOVERY_.*|CEILING_DIRECTORIES)|RIPGREP_CONFIG_PATH|GREP_OPTIONS|CDPATH)$/;

/** What of a line was looked for; nothing counts where something that still runs may change it before the line ends. */
export async function findSeenBy(scope: SessionScope, call: PermissionCall, book: RuleBook): Promise<Seen[]> {
  if (scope.tasks.running.length > 0 || Object.keys(scope.childEnv).some((name) => LEADS_ELSEWHERE.test(name)))
    return [];
  const lookups = lookupsOf(call, toPolicy(scope, book));
  return lookups.length === 0 ? [] : findSeen(lookups, scope.state.roots, diskOf(scope));
}

const diskOf = ({ workspace }: SessionScope): Disk => ({
  list: async (folder) => workspace.list?.(folder),
  realPath: (path) => workspace.realPath(path),
  readFile: (path, options) => workspace.readFile(path, options),
});
