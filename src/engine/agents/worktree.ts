/** A work tree of the repository for one agent: what it changes stays there until somebody takes it over. */
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { toHeddleError } from '../../protocol/plain.js';
import type { SessionScope } from '../scope.js';
import type { KeptWorktree } from '../sessions/entry.js';
import { makeFolders } from '../workspace/folders.js';
import { type Git, gitIn, shellIn, why } from './worktree-git.js';
import { findUsers, type WorktreeUsersParts } from './worktree-users.js';
import { findWork } from './worktree-work.js';

/** What was on a head that no branch names is found in this log, also where the configuration does not want one. */
const ADD = ['-c', 'core.logAllRefUpdates=always', 'worktree', 'add', '--quiet'];

/** A hook may make it, for whoever works without git; else git does. Throws an error for the model when there can be none. */
export async function openWorktree(parent: SessionScope, agentId: string, signal: AbortSignal): Promise<KeptWorktree> {
  refuseUntrusted(parent);
  refusePlanning(parent);
  const made = await askHooks(parent, agentId, signal);
  if (made !== undefined) return made;
  const { state, workspace, config } = parent;
  await refuseMade(parent);
  const git = gitIn(parent, signal);
  const repository = await git(state.cwd, ['rev-parse', '--show-toplevel']);
  if (!repository.ok) {
    throw new Error(`An agent can have a work tree of its own only in a git repository: ${why(repository)}`);
  }
  const base = await git(repository.out, ['rev-parse', '--verify', 'HEAD^{commit}']);
  if (!base.ok) throw new Error('The repository has no commit yet that a work tree could begin with.');
  const folder = join(config.configDir, 'worktrees');
  makeFolders(folder);
  const path = join(await workspace.realPath(folder), `${basename(repository.out)}-${agentId}`);
  const branch = `heddle/${agentId}`;
  // The tree that this is called from may be that of an agent, and gone before this one is.
  const home = await findHome(git, repository.out);
  const added = await git(home, [...ADD, '-b', branch, path, base.out]);
  if (!added.ok) {
    const left = await undoAdd(parent, { path, repository: home, branch, base: base.out });
    throw new Error(`git could not make a work tree: ${why(added)}${left}`);
  }
  const inside = relative(repository.out, await workspace.realPath(state.cwd));
  const cwd = join(path, inside);
  const hasCwd = (await workspace.stat(cwd))?.kind === 'directory';
  return { path, cwd: hasCwd ? cwd : path, repository: home, branch, base: base.out };
}

/** Where the repository is itself, whichever of its work trees is asked. */
async function findHome(git: Git, tree: string): Promise<string> {
  const { ok, out } = await git(tree, ['rev-parse', '--git-common-dir']);
  const common = ok ? resolve(tree, out) : tree;
  return basename(common) === '.git' ? dirname(common) : common;
}

/**
 * What git was stopped at is taken away again: nobody has worked in it. Says what is left all the same. Of a tree that is
 * made again the branch is older, and stays.
 */
async function undoAdd(
  parent: SessionScope,
  { path, repository, branch, base }: { path: string; repository: string; branch?: string; base?: string },
): Promise<string> {
  const git = gitIn(parent, new AbortController().signal);
  const listed = await git(repository, ['worktree', 'list', '--porcelain']);
  // One that git was stopped in is locked.
  const isThere = listed.out.split('\n').includes(`worktree ${path}`);
  const removed = isThere ? await git(repository, ['worktree', 'remove', '--force', '--force', path]) : listed;
  if (branch !== undefined && base !== undefined) await removeBranch(git, { repository, branch, base });
  return removed.ok ? '' : ` What is left of it is in ${path}.`;
}

export interface ReopenedWorktree {
  tree: KeptWorktree;
  /** What whoever goes on with the agent must know. */
  note?: string;
}

/** That of an agent that is gone on with: the one that was kept, or one on its branch as that is now. */
export async function reopenWorktree(
  parent: SessionScope,
  old: KeptWorktree,
  signal: AbortSignal,
): Promise<ReopenedWorktree> {
  refuseUntrusted(parent);
  const { workspace } = parent;
  const { path, cwd, repository, branch, base } = old;
  const git = gitIn(parent, signal);
  const isThere = (await workspace.stat(path))?.kind === 'directory';
  // A folder that somebody has put in its place is not the tree.
  if (isThere && (repository === undefined || (await isTreeOf(git, { path, repository })))) return { tree: old };
  if (repository === undefined || branch === undefined || base === undefined) {
    throw new Error(`The work tree of the agent, ${path}, is gone.`);
  }
  refusePlanning(parent);
  const { forgetGone } = await import('./worktree-gone.js');
  const { head, left } = await forgetGone({ path, repository, branch }, { git, sh: shellIn(parent, signal) });
  const known = await git(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`]);
  // Only where its branch was removed with it there was nothing on it.
  const start = known.ok ? [path, branch] : ['-b', branch, path, base];
  const added = await git(repository, [...ADD, ...(head === undefined ? start : ['--detach', path, head])]);
  const ofOld = left === undefined ? '' : `Commits of its old work tree are on the branch ${left}.`;
  if (!added.ok) {
    const rest = isThere ? '' : await undoAdd(parent, { path, repository, ...(!known.ok && { branch, base }) });
    throw new Error(`git could not make the work tree of the agent again: ${why(added)}${rest} ${ofOld}`.trim());
  }
  const tree = { ...old, cwd: (await workspace.stat(cwd))?.kind === 'directory' ? cwd : path };
  return { tree, ...(ofOld && { note: `The work tree of the agent was deleted. ${ofOld}` }) };
}

async function isTreeOf(git: Git, { path, repository }: { path: string; repository: string }): Promise<boolean> {
  const top = await git(path, ['rev-parse', '--show-toplevel']);
  return top.ok && top.out === path && (await findHome(git, path)) === (await findHome(git, repository));
}

/** Removes it when there is nothing in it that is not elsewhere, and nobody; else says where it is. Never throws. */
export async function closeWorktree(
  parent: SessionScope,
  tree: KeptWorktree,
  who: Pick<WorktreeUsersParts, 'agents' | 'id'>,
): Promise<string | undefined> {
  const { path, repository, branch, base } = tree;
  // An agent that was stopped has its work tree put in order all the same.
  const { signal } = new AbortController();
  const git = gitIn(parent, signal);
  try {
    const on = branch === undefined ? '' : `, on the branch ${branch}`;
    if ((await parent.workspace.stat(path)) === undefined) {
      const stays = branch === undefined ? '' : ` Its branch ${branch} stays.`;
      return `The agent worked in a work tree of its own, ${path}, which was deleted meanwhile.${stays}`;
    }
    const users = await findUsers(parent, { path, ...who, run: shellIn(parent, signal) });
    const work = users === undefined ? await findWork(git, tree, parent.workspace) : `still in use by ${users}`;
    if (work !== undefined) {
      return `The agent worked in a work tree of its own, which is kept: ${path}${on}${work && ` (${work})`}.`;
    }
    await parent.hooks.fire('WorktreeRemove', { worktree_path: path }, { signal });
    if (repository === undefined || branch === undefined || base === undefined) return undefined;
    const removed = await removeTree(parent, { git, path, repository });
    if (!removed.ok) return `The work tree of the agent, ${path}, could not be removed: ${why(removed)}`;
    await removeBranch(git, { repository, branch, base });
    return undefined;
  } catch (thrown) {
    return `The work tree of the agent, ${path}, is kept: ${toHeddleError(thrown).message}`;
  }
}

/** Not by force: what has come since it was looked at keeps it. But git refuses where there are submodules, filled or not. */
async function removeTree(
  { workspace }: SessionScope,
  { git, path, repository }: { git: Git; path: string; repository: string },
) {
  const modules = await git(path, ['rev-parse', '--git-path', 'modules']);
  const removed = await git(repository, ['worktree', 'remove', path]);
  if (removed.ok || !modules.ok || !/containing submodules/.test(removed.err)) return removed;
  const isFilled = (await workspace.stat(resolve(path, modules.out))) !== undefined;
  return isFilled ? removed : git(repository, ['worktree', 'remove', '--force', path]);
}

/** A branch that is where it began, and that nobody else is on. */
async function removeBranch(
  git: Git,
  { repository, branch, base }: { repository: string; branch: string; base: string },
): Promise<void> {
  const removed = await git(repository, ['branch', '--quiet', '-d', branch]);
  // git compares it with the head of the repository, which may be anywhere by now; this with where it began.
  if (!removed.ok && /not fully merged/.test(removed.err)) {
    await git(repository, ['update-ref', '-d', `refs/heads/${branch}`, base]);
  }
}

/** git runs what the configuration of a repository names. */
function refuseUntrusted({ guard }: SessionScope): void {
  if (guard.trusted) return;
  throw new Error(
    'An agent can have a work tree of its own only in a folder that is trusted. Start it without isolation.',
  );
}

/** Nor may that be the work of commands that could run nothing outside themselves. */
async function refuseMade({ sandbox, state }: SessionScope): Promise<void> {
  if (sandbox === undefined || (await sandbox.isOwnPlace(state))) return;
  throw new Error(
    `Commands in the sandbox may have made the repository at ${state.cwd}, and git would run outside what that names. ` +
      'Go to a working directory first (cd), or start the agent without isolation.',
  );
}

/** A branch, a folder and the hooks of the repository are more than looking around. */
function refusePlanning({ state }: SessionScope): void {
  if (state.mode !== 'plan') return;
  throw new Error(
    'In plan mode no work tree is made for an agent. Start one without isolation, or leave plan mode first.',
  );
}

async function askHooks(parent: SessionScope, agentId: string, signal: AbortSignal): Promise<KeptWorktree | undefined> {
  const { hooks, workspace } = parent;
  if (!hooks.has('WorktreeCreate')) return undefined;
  const { worktreePath, block } = await hooks.fire('WorktreeCreate', { name: agentId }, { signal });
  if (block !== undefined) throw new Error(`A hook does not want a work tree to be made: ${block.reason}`);
  if (worktreePath === undefined) return undefined;
  const path = isAbsolute(worktreePath) ? await workspace.realPath(worktreePath) : worktreePath;
  if (!isAbsolute(path) || (await workspace.stat(path))?.kind !== 'directory') {
    throw new Error(`A WorktreeCreate hook answers with a folder that is not there: ${worktreePath}`);
  }
  const head = await gitIn(parent, signal)(path, ['rev-parse', '--verify', 'HEAD^{commit}']);
  return { path, cwd: path, ...(head.ok && { base: head.out }) };
}
