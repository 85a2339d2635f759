/** A work tree of the repository for one agent: what it changes stays there until somebody takes it over. */
import { basename, isAbsolute, join, relative } from 'node:path';
import { toHeddleError } from '../../protocol/plain.js';
import type { SessionScope } from '../scope.js';
import type { KeptWorktree } from '../sessions/entry.js';
import { makeFolders } from '../workspace/folders.js';

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 64 * 1024;
/** Every file that is there, whatever the configuration hides: work that git does not look at is work, too. */
const STATUS = ['status', '--porcelain', '--untracked-files=all', '--ignored', '--ignore-submodules=none'];

/** A hook may make it, for whoever works without git; else git does. Throws an error for the model when there can be none. */
export async function openWorktree(parent: SessionScope, agentId: string, signal: AbortSignal): Promise<KeptWorktree> {
  refuseUntrusted(parent);
  refusePlanning(parent);
  const made = await askHooks(parent, agentId, signal);
  if (made !== undefined) return made;
  const { state, workspace, config } = parent;
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
  const added = await git(repository.out, ['worktree', 'add', '--quiet', '-b', branch, path, base.out]);
  if (!added.ok) throw new Error(`git could not make a work tree: ${why(added)}`);
  const inside = relative(repository.out, await workspace.realPath(state.cwd));
  const cwd = join(path, inside);
  const hasCwd = (await workspace.stat(cwd))?.kind === 'directory';
  return { path, cwd: hasCwd ? cwd : path, repository: repository.out, branch, base: base.out };
}

/** That of an agent that is gone on with: the one that was kept, or the same made anew. */
export async function reopenWorktree(
  parent: SessionScope,
  old: KeptWorktree,
  signal: AbortSignal,
): Promise<KeptWorktree> {
  refuseUntrusted(parent);
  const { workspace } = parent;
  const { path, cwd, repository, branch, base } = old;
  if ((await workspace.stat(path))?.kind === 'directory') return old;
  if (repository === undefined || branch === undefined || base === undefined) {
    throw new Error(`The work tree of the agent, ${path}, is gone.`);
  }
  refusePlanning(parent);
  // It was removed because nothing was changed in it, and its branch with it.
  const git = gitIn(parent, signal);
  const added = await git(repository, ['worktree', 'add', '--quiet', '-B', branch, path, base]);
  if (!added.ok) throw new Error(`git could not make the work tree of the agent again: ${why(added)}`);
  return { ...old, cwd: (await workspace.stat(cwd))?.kind === 'directory' ? cwd : path };
}

/** Removes it when nothing was changed in it; else says where it is. Never throws. */
export async function closeWorktree(parent: SessionScope, tree: KeptWorktree): Promise<string | undefined> {
  const { path, repository, branch, base } = tree;
  // An agent that was stopped has its work tree put in order all the same.
  const { signal } = new AbortController();
  const git = gitIn(parent, signal);
  try {
    const [changes, head] = [await git(path, STATUS), await git(path, ['rev-parse', 'HEAD'])];
    const isSame = changes.ok && changes.out === '' && head.ok && head.out === base;
    if (!isSame) {
      const on = branch === undefined ? '' : `, on the branch ${branch}`;
      return `The agent worked in a work tree of its own, which is kept: ${path}${on}.`;
    }
    await parent.hooks.fire('WorktreeRemove', { worktree_path: path }, { signal });
    if (repository === undefined || branch === undefined) return undefined;
    const removed = await git(repository, ['worktree', 'remove', '--force', path]);
    if (!removed.ok) return `The work tree of the agent, ${path}, could not be removed: ${why(removed)}`;
    await git(repository, ['branch', '--quiet', '-D', branch]);
    return undefined;
  } catch (thrown) {
    return `The work tree of the agent, ${path}, is kept: ${toHeddleError(thrown).message}`;
  }
}

/** git runs what the configuration of a repository names. */
function refuseUntrusted({ guard }: SessionScope): void {
  if (guard.trusted) return;
  throw new Error(
    'An agent can have a work tree of its own only in a folder that is trusted. Start it without isolation.',
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

interface GitAnswer {
  ok: boolean;
  out: string;
  err: string;
}

const why = ({ err, out }: GitAnswer): string => (err || out || 'it gave no reason').split('\n').slice(-3).join(' ');

function gitIn({ workspace, childEnv }: SessionScope, signal: AbortSignal) {
  // Whatever repository the host works in is not meant.
  const own = Object.entries(childEnv).filter(([name]) => !name.startsWith('GIT_'));
  const env = { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  return async (cwd: string, args: readonly string[]): Promise<GitAnswer> => {
    const texts = { stdout: '', stderr: '' };
    const run = workspace.run({
      argv: ['git', ...args],
      cwd,
      env,
      signal,
      timeoutMs: TIMEOUT_MS,
      onOutput(chunk, stream) {
        if (texts[stream].length < MAX_OUTPUT) texts[stream] += Buffer.from(chunk).toString();
      },
    });
    const exit = await run.catch((error: unknown) => {
      texts.stderr = error instanceof Error ? error.message : String(error);
      return undefined;
    });
    return { ok: exit?.code === 0, out: texts.stdout.trim(), err: texts.stderr.trim() };
  };
}
