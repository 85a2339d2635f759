/** Whether there is anything in the work tree of an agent that was not there when it began. */
import { join } from 'node:path';
import type { Workspace } from '../../protocol/index.js';
import type { KeptWorktree } from '../sessions/entry.js';
import type { Git } from './worktree-git.js';

/** What makes git believe that nothing has changed does not count here. */
const HONEST = [
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.checkStat=default',
  'core.trustctime=true',
  'sparse.expectFilesOutsideOfPatterns=false',
].flatMap((setting) => ['-c', setting]);
/**
 * Every file that is there, whatever the configuration hides: work that git does not look at is work, too. Not what is in
 * submodules: they name programs of their own.
 */
const STATUS = ['status', '--porcelain', '--untracked-files=all', '--ignored', '--ignore-submodules=dirty'];

/** Undefined where it is proven that there is none; else what it is, when that is not plain to see there. Never rejects. */
export async function findWork(
  git: Git,
  tree: KeptWorktree,
  workspace: Pick<Workspace, 'stat'>,
): Promise<string | undefined> {
  const { path, base, branch } = tree;
  if (base === undefined) return '';
  if (await hasFilled(git, path, workspace)) return 'with a submodule that was filled';
  const [changes, head] = await Promise.all([git(path, [...HONEST, ...STATUS]), git(path, ['rev-parse', 'HEAD'])]);
  if (!changes.ok || changes.out !== '' || !head.ok || head.out !== base) return '';
  const tip =
    branch === undefined ? undefined : await git(path, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]);
  if (tip?.ok && tip.out !== base) return '';
  if (await isMidway(git, path)) return 'in the middle of a merge or the like';
  if (await hidesFiles(git, path)) return 'git was told not to look at some of its files';
  const heads = await headsOf(git, tree);
  if (heads === undefined || (await hasOthers(git, { tree, heads })))
    return 'with commits that are not on that branch now';
  if (await hasOwnRefs(git, path)) return 'with references of its own';
  return (await hasStash(git, { tree, heads })) ? 'with something in the stash' : undefined;
}

/** Of a new work tree all submodules are empty. */
async function hasFilled(git: Git, path: string, workspace: Pick<Workspace, 'stat'>): Promise<boolean> {
  const listed = await git(path, ['ls-files', '--stage'], { wants: (line) => line.startsWith('160000 ') });
  if (!listed.ok) return true;
  const names = listed.out.split('\n').flatMap((line) => line.split('\t').slice(1));
  // A name in quotes is another on the disk.
  const filled = names.map(
    async (name) => name.startsWith('"') || (await workspace.stat(join(path, name, '.git'))) !== undefined,
  );
  return (await Promise.all(filled)).includes(true);
}

/** What git has begun and not brought to an end goes with the tree, also where no file is another. */
async function isMidway(git: Git, path: string): Promise<boolean> {
  const names = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'];
  const found = await Promise.all(names.map((name) => git(path, ['rev-parse', '--verify', '--quiet', name])));
  return found.some(({ ok }) => ok);
}

/** In a sparse work tree files that are left out are marked so, and those that are there all the same are looked at. */
async function hidesFiles(git: Git, path: string): Promise<boolean> {
  const sparse = await git(path, ['config', '--type=bool', 'core.sparseCheckout']);
  const mark = sparse.ok && sparse.out === 'true' ? /^[a-z] / : /^[a-zS] /;
  const marked = await git(path, ['ls-files', '-v'], { wants: (line) => mark.test(line) });
  return !marked.ok || marked.out !== '';
}

/** All commits that the tree has been at, without the first one. Undefined when that cannot be known. */
async function headsOf(git: Git, { path, base, branch }: KeptWorktree): Promise<string[] | undefined> {
  const seen = new Set<string>();
  const log = await git(path, ['log', '--walk-reflogs', '--format=%H', 'HEAD'], {
    wants(commit) {
      seen.add(commit);
      return false;
    },
  });
  // One that a hook has made may keep no such log.
  if (!log.ok || (seen.size === 0 && branch !== undefined)) return undefined;
  return [...seen].filter((commit) => commit !== '' && commit !== base);
}

interface Seen {
  tree: KeptWorktree;
  /** Commits that the tree has been at. */
  heads: readonly string[];
}

/** What other branches have stays whatever a hook does with its tree; of our own trees all that is new is told of. */
async function hasOthers(git: Git, { tree, heads }: Seen): Promise<boolean> {
  const { path, base = '', branch } = tree;
  if (heads.length === 0) return false;
  const elsewhere = branch === undefined ? ['--branches', '--tags', '--remotes'] : [];
  const others = await git(path, ['rev-list', '--max-count=1', ...heads, '--not', base, ...elsewhere]);
  return !others.ok || others.out !== '';
}

/** They go with the tree. */
async function hasOwnRefs(git: Git, path: string): Promise<boolean> {
  const refs = await git(path, ['for-each-ref', '--count=1', 'refs/worktree', 'refs/bisect', 'refs/rewritten']);
  return !refs.ok || refs.out !== '';
}

/** The stash is one for all trees of a repository; what was put there names the branch that it was on, if any. */
async function hasStash(git: Git, { tree, heads }: Seen): Promise<boolean> {
  const { path, base, branch } = tree;
  const wants = (line: string): boolean => {
    const [said = '', parents = ''] = line.split('\t');
    const on = said.replace(/^(?:WIP on|On) /, '');
    if (branch !== undefined && on.startsWith(`${branch}:`)) return true;
    const [parent = ''] = parents.split(' ');
    return on.startsWith('(no branch):') && (parent === base || heads.includes(parent));
  };
  // It fails where there is none.
  const stashed = await git(path, ['log', '--walk-reflogs', '--format=%gs%x09%P', 'refs/stash', '--'], { wants });
  return stashed.out !== '';
}
