import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultText, scratch } from '../engine/kit.js';
import { agentIdIn, bash, ofSubtype, routed, task } from './kit.js';
import { COMMIT, git, isolated, repository, trees, weave } from './worktree-kit.js';

/** What an agent in a work tree answers that has run this. */
async function answerAfter(cwd: string, command: string): Promise<string> {
  const run = await weave(cwd, [{ toolUse: isolated('t1') }, { toolUse: bash('b1', command) }, 'ok', 'Done.']);
  await run.ask('go');
  return resultText(run.messages, 't1');
}

const branches = (cwd: string): string => git(cwd, 'branch', '--list', 'heddle/*').trim();
/** The answer of a monitor that has seen no change. */
const SILENT = `printf 'x\\0'; true`;

describe('what is not in the base is never deleted', () => {
  it.each([
    ['a commit, with the head put back', `${COMMIT} && git checkout -q --detach HEAD~1`],
    ['a commit on a head without a branch', `git checkout -q --detach && ${COMMIT} && git checkout -q -`],
    ['a commit that was reset', `${COMMIT} && git reset -q --hard HEAD~1`],
    ['a commit on another branch', `git checkout -q -b other && ${COMMIT} && git checkout -q -`],
    ['a stash', 'echo x > a.txt && git stash -q'],
    ['a stash with a name', 'echo x > a.txt && git stash push -q -m mine'],
    ['a stash without a branch', 'git checkout -q --detach && echo x > a.txt && git stash -q && git checkout -q -'],
    ['a file that is assumed unchanged', 'git update-index --assume-unchanged a.txt && echo x > a.txt'],
    ['a file that git skips', 'git update-index --skip-worktree a.txt && echo x > a.txt'],
    ['a reference of its own', 'git update-ref refs/worktree/mine $(git commit-tree -m x HEAD^{tree})'],
    ['a log that was thrown away', 'git reflog expire --expire=now --all; git reflog delete --rewrite HEAD@{0}; true'],
  ])('%s', async (_, command) => {
    const cwd = repository();
    const answer = await answerAfter(cwd, command);
    const id = agentIdIn(answer);
    expect(answer).toContain(`on the branch heddle/${id}`);
    const [, path = ''] = /is kept: (.+), on the branch/.exec(answer) ?? [];
    expect(existsSync(join(path, 'a.txt'))).toBe(true);
    expect(branches(cwd)).toContain(id);
  });

  it.each([
    [
      'a log that the configuration does not want',
      'core.logAllRefUpdates',
      'false',
      `git checkout -q --detach && ${COMMIT} && git checkout -q -`,
    ],
    [
      'files that are taken for unchanged',
      'core.ignoreStat',
      'true',
      'rm a.txt; git checkout -q -- a.txt; echo x > a.txt',
    ],
    ['a monitor that says nothing', 'core.fsmonitor', SILENT, 'git status -s; git status -s; echo x > a.txt'],
  ])('%s: the work is kept', async (_, name, value, command) => {
    const cwd = repository();
    git(cwd, 'config', name, value);
    expect(await answerAfter(cwd, command)).toContain('is kept');
    expect(trees(cwd)).toHaveLength(1);
  });

  it('what only looks around leaves nothing, also when the repository is elsewhere by then', async () => {
    const cwd = repository();
    git(cwd, 'checkout', '-q', '--orphan', 'apart');
    git(cwd, 'commit', '-q', '--allow-empty', '-m', 'apart');
    git(cwd, 'checkout', '-q', 'main');
    const answer = await answerAfter(cwd, `git log; git -C '${cwd}' checkout -q apart`);
    expect(answer).not.toContain('kept');
    expect(trees(cwd)).toEqual([]);
    expect(branches(cwd)).toBe('');
  });

  it('a branch that somebody else is on stays', async () => {
    const cwd = repository();
    const answer = await answerAfter(
      cwd,
      `b=$(git branch --show-current); git checkout -q --detach; git -C '${cwd}' checkout -q $b`,
    );
    expect(answer).not.toContain('kept');
    expect(git(cwd, 'branch', '--show-current')).toContain('heddle/');
    expect(git(cwd, 'status', '--porcelain', '--untracked-files=no')).toBe('');
  });

  it('a tree with submodules that nobody has filled is removed, one with a filled one is not', async () => {
    const cwd = repository();
    const inner = repository();
    git(cwd, 'submodule', '--quiet', 'add', inner, 'inner');
    const ran = join(scratch(), 'ran');
    const fill = [
      'git -c protocol.file.allow=always submodule --quiet update --init',
      'cd inner',
      'echo "* filter=own" > "$(git rev-parse --git-dir)/info/attributes"',
      `git config filter.own.clean "touch ${ran}; cat"`,
      'touch -d yesterday a.txt',
    ];
    writeFileSync(join(cwd, 'fill.sh'), fill.join('\n'));
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-q', '-m', 'second');
    expect(await answerAfter(cwd, 'ls')).not.toContain('work tree');
    expect(trees(cwd)).toEqual([]);
    expect(await answerAfter(cwd, 'sh fill.sh')).toContain('with a submodule that was filled');
    expect(trees(cwd)).toHaveLength(1);
    // Whoever filled it has said what runs when git looks into it.
    expect(existsSync(ran)).toBe(false);
  });

  it('in a sparse repository files that are left out are not taken for hidden ones', async () => {
    const cwd = repository();
    mkdirSync(join(cwd, 'far'));
    writeFileSync(join(cwd, 'far', 'b.txt'), 'two\n');
    git(cwd, 'add', '.');
    git(cwd, 'commit', '-q', '-m', 'second');
    expect(await answerAfter(cwd, 'git sparse-checkout set --cone near; ls')).not.toContain('kept');
    const answer = await answerAfter(cwd, 'git sparse-checkout set --cone near; mkdir far; echo x > far/b.txt');
    expect(answer).toContain('is kept');
  });
});

describe('an agent that goes on', () => {
  const goesOn = async (between: (cwd: string, path: string) => void, first = COMMIT) => {
    const cwd = repository();
    const run = await weave(cwd, [
      { toolUse: isolated('t1') },
      { toolUse: bash('b1', first) },
      'changed',
      () => {
        const answer = resultText(run.messages, 't1');
        between(cwd, /is kept: (.+), on the branch/.exec(answer)?.[1] ?? '');
        return { toolUse: task('t2', { resume: agentIdIn(answer) }) };
      },
      { toolUse: bash('b2', 'ls; git status -bs') },
      'again',
      'Done.',
    ]);
    await run.ask('go');
    return { cwd, run, id: agentIdIn(resultText(run.messages, 't1')) };
  };

  it.each([
    ['was removed', (cwd: string, path: string) => void git(cwd, 'worktree', 'remove', path)],
    ['was deleted', (_: string, path: string) => rmSync(path, { recursive: true })],
  ])('takes its branch up as it is when its work tree %s', async (_, between) => {
    const { cwd, run, id } = await goesOn(between);
    expect(resultText(run.messages, 'b2')).toBe(`a.txt\nnew\n## heddle/${id}`);
    expect(resultText(run.messages, 't2')).toContain(`is kept`);
    expect(git(cwd, 'log', '--format=%s', `heddle/${id}`)).toBe('work\nfirst\n');
  });

  it('takes up a head that no branch names', async () => {
    const { run, id } = await goesOn(
      (_, path) => rmSync(path, { recursive: true }),
      `git checkout -q --detach && ${COMMIT}`,
    );
    expect(resultText(run.messages, 'b2')).toBe('a.txt\nnew\n## HEAD (no branch)');
    expect(resultText(run.messages, 't2')).toContain(`on the branch heddle/${id}`);
  });

  it('does not take away a branch that somebody works on', async () => {
    const { cwd, run, id } = await goesOn((where, path) => {
      git(where, 'worktree', 'remove', path);
      git(where, 'checkout', '-q', agentBranch(where));
    });
    expect(resultText(run.messages, 't2')).toContain('could not make the work tree of the agent again');
    expect(git(cwd, 'log', '--format=%s', `heddle/${id}`)).toBe('work\nfirst\n');
  });

  const agentBranch = (cwd: string): string => branches(cwd).replace(/^[*+ ]+/, '');
});

it('an agent in the background outlives the work tree of the agent that started it, and leaves nothing', async () => {
  const cwd = repository();
  const first = Promise.withResolvers<void>();
  const run = await weave(
    cwd,
    routed(6, async (_, said) => {
      if (said.includes('Do t2.') && !said.includes('"t2"')) {
        await first.promise;
        return 'deep';
      }
      if (said.includes('Do t1.') && !said.includes('"t1"')) {
        return said.includes('"t2"') ? 'up' : { toolUse: isolated('t2', { run_in_background: true }) };
      }
      if (said.includes('task-notification') || said.includes('deep')) return 'told';
      return said.includes('"t1"') ? 'Done.' : { toolUse: isolated('t1') };
    }),
  );
  await run.ask('go');
  expect(trees(cwd)).toHaveLength(1);
  first.resolve();
  await Promise.all(run.session.scope.agents.tree.working.values());
  expect(ofSubtype(run.messages, 'task_notification')).toHaveLength(1);
  expect(trees(cwd)).toEqual([]);
  expect(branches(cwd)).toBe('');
});
