/** A work tree whose folder somebody has deleted: git still knows of it, and would make no other there. */
import { basename, join, resolve } from 'node:path';
import { type Git, why } from './worktree-git.js';

export interface GoneTree {
  path: string;
  repository: string;
  branch: string;
}

export interface Forgotten {
  /** The commit that it was at, when no branch names that one. */
  head?: string;
  /** The branch that has what only this tree knew of. */
  left?: string;
}

/** Throws an error for the model where anything would be lost. */
export async function forgetGone(tree: GoneTree, { git, sh }: { git: Git; sh: Git }): Promise<Forgotten> {
  const { path, repository } = tree;
  const listed = await git(repository, ['worktree', 'list', '--porcelain']);
  const lines = listed.out
    .split('\n\n')
    .find((each) => each.split('\n')[0] === `worktree ${path}`)
    ?.split('\n');
  if (lines === undefined) return {};
  const at = lines.find((line) => line.startsWith('HEAD '))?.slice('HEAD '.length);
  const head = lines.includes('detached') ? at : undefined;
  // With the tree git forgets where its head has been, and references of its own.
  const left = await keepCommits(tree, { git, sh, ...(head !== undefined && { head }) });
  const removed = await git(repository, ['worktree', 'remove', path]);
  if (!removed.ok) throw new Error(`git could not make the work tree of the agent again: ${why(removed)}`);
  return {
    ...(head !== undefined && { head }),
    ...(left !== undefined && { left }),
  };
}

/** One branch for all that no other reference has, nor `head`, which the tree will be at again. Gives its name. */
async function keepCommits(
  tree: GoneTree,
  { git, sh, head }: { git: Git; sh: Git; head?: string },
): Promise<string | undefined> {
  const { repository, branch, path } = tree;
  const fail = (reason: string): never => {
    throw new Error(
      `The work tree of the agent, ${path}, was deleted, and what it had committed beside its branch cannot be kept: ${reason}`,
    );
  };
  const commits = await commitsOf(tree, { git, sh });
  if (commits.length === 0) return undefined;
  const elsewhere = [...(head === undefined ? [] : [head]), '--branches', '--tags', '--remotes'];
  const lost = await git(repository, ['rev-list', '--max-count=1', ...commits, '--not', ...elsewhere]);
  if (!lost.ok) return fail(why(lost));
  if (lost.out === '') return undefined;
  const tips = await git(repository, ['merge-base', '--independent', ...commits]);
  const [tip = '', ...more] = tips.out.split('\n');
  if (!tips.ok || tip === '') return fail(why(tips));
  const name = await freeName(git, { repository, name: `${branch}-left` });
  const at =
    more.length === 0 ? { ok: true, out: tip, err: '' } : await joinTips(git, { repository, tips: [tip, ...more] });
  const made = at.ok ? await git(repository, ['branch', '--no-track', name, at.out]) : at;
  return made.ok ? name : fail(why(made));
}

const AS_HEDDLE = ['-c', 'user.name=heddle', '-c', 'user.email=heddle@localhost', '-c', 'commit.gpgSign=false'];

/** A commit that has them all as parents. */
const joinTips = (git: Git, { repository, tips }: { repository: string; tips: readonly string[] }) =>
  git(repository, [
    ...AS_HEDDLE,
    'commit-tree',
    `${tips[0]}^{tree}`,
    '-m',
    'What was left of a work tree',
    ...tips.flatMap((tip) => ['-p', tip]),
  ]);

async function freeName(git: Git, { repository, name }: { repository: string; name: string }): Promise<string> {
  for (let at = 1; ; at += 1) {
    const candidate = at === 1 ? name : `${name}-${at}`;
    const known = await git(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${candidate}`]);
    if (!known.ok) return candidate;
  }
}

/** All that its head has been at, and what its own references name. */
async function commitsOf({ repository, path }: GoneTree, { git, sh }: { git: Git; sh: Git }): Promise<string[]> {
  const answer = await git(repository, ['rev-parse', '--git-common-dir']);
  const common = resolve(repository, answer.out);
  // What git calls it: its own name for a folder whose file says where the tree is.
  const find = 'grep -lxF -e "$1" "$2"/worktrees/*/gitdir';
  const file = (await sh(repository, [find, 'sh', join(path, '.git'), common])).out.split('\n')[0] ?? '';
  const name = file === '' ? basename(path) : basename(join(file, '..'));
  const log = await git(repository, ['log', '--walk-reflogs', '--format=%H', `worktrees/${name}/HEAD`, '--']);
  const cat = 'find "$1" -type f -exec cat {} +';
  const refs = await sh(repository, [cat, 'sh', join(common, 'worktrees', name, 'refs')]);
  const all = `${log.out}\n${refs.out}`.split('\n').filter((line) => /^[0-9a-f]{40,64}$/.test(line));
  return [...new Set(all)];
}
