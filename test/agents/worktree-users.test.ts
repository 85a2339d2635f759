/** A work tree goes when nobody needs it any more, and with nothing that is nowhere else. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultText, scratch } from '../engine/kit.js';
import { agentIdIn, bash, routed, task } from './kit.js';
import { COMMIT, git, isolated, repository, trees, weave } from './worktree-kit.js';

const branches = (cwd: string): string[] => git(cwd, 'branch', '--format=%(refname:short)').trim().split('\n');
const pathIn = (answer: string): string => /is kept: (.+), on the branch/.exec(answer)?.[1] ?? 'no path';

/** A command that goes on until somebody writes into the pipe, and writes a file then. */
function waiting() {
  const pipe = join(scratch(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  return { line: `read word < '${pipe}'; echo "$word" > out; echo over > '${pipe}'`, pipe };
}

/** Lets it go on, and waits until it has written. */
function finish(pipe: string): void {
  writeFileSync(pipe, 'woven\n');
  readFileSync(pipe);
}

describe('a work tree stays while something that was started in it runs', () => {
  it.each([
    ['a background command', (line: string) => ({ command: line, run_in_background: true }), /background command b\w+/],
    [
      'a process of a shell',
      (line: string) => ({ command: `( ${line} ) > /dev/null 2>&1 &` }),
      /a process that was left/,
    ],
  ])('%s', async (_, toInput, user) => {
    const cwd = repository();
    const { line, pipe } = waiting();
    const call = { name: 'Bash', id: 'b1', input: toInput(line) };
    const run = await weave(cwd, [{ toolUse: isolated('t1') }, { toolUse: call }, 'ok', 'Done.', 'told']);
    await run.ask('go');
    const answer = resultText(run.messages, 't1');
    finish(pipe);
    expect(answer).toMatch(user);
    expect(readFileSync(join(pathIn(answer), 'out'), 'utf8')).toBe('woven\n');
  });

  it('an agent in the background', async () => {
    const cwd = repository();
    const first = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const run = await weave(
      cwd,
      routed(8, async (_, said) => {
        if (said.includes('Do t2.') && !said.includes('"t2"')) {
          await first.promise;
          return said.includes('"b1"') ? 'deep' : { toolUse: bash('b1', 'echo woven > out; cat out') };
        }
        if (said.includes('Do t1.') && !said.includes('"t1"')) {
          return said.includes('"t2"') ? 'up' : { toolUse: task('t2', { run_in_background: true }) };
        }
        if (said.includes('task-notification')) {
          over.resolve();
          return 'told';
        }
        if (!said.includes('"t1"')) return { toolUse: isolated('t1') };
        first.resolve();
        return 'Done.';
      }),
    );
    await run.ask('go');
    await over.promise;
    const answer = resultText(run.messages, 't1');
    expect(answer).toMatch(/still in use by the agent a[0-9a-f]{16}/);
    expect(resultText(run.messages, 'b1')).toBe('woven');
    expect(existsSync(join(pathIn(answer), 'out'))).toBe(true);
  });
});

it('a tree that git was stopped at is taken away again', async () => {
  const cwd = repository();
  const configDir = scratch();
  const begun = join(scratch(), 'begun');
  execFileSync('mkfifo', [begun]);
  const hook = join(cwd, '.git', 'hooks', 'post-checkout');
  writeFileSync(hook, `#!/bin/sh\necho begun > '${begun}'\nexec sleep 60\n`);
  chmodSync(hook, 0o755);
  const run = await weave(cwd, [{ toolUse: isolated('t1') }, 'Done.'], configDir);
  const asked = run.ask('go');
  const { promise, resolve } = Promise.withResolvers<void>();
  const { open: openFile } = await import('node:fs/promises');
  void openFile(begun, 'r').then(async (file) => {
    await file.readFile();
    await file.close();
    resolve();
  });
  await promise;
  expect(trees(cwd)).toHaveLength(1);
  run.session.interrupt();
  await asked;
  await run.session.close();
  expect(trees(cwd)).toEqual([]);
  expect(branches(cwd)).toEqual(['main']);
  expect(readdirSync(join(configDir, 'worktrees'))).toEqual([]);
});

describe('an agent that goes on', () => {
  const goesOn = async (first: string, between: (cwd: string, path: string) => void) => {
    const cwd = repository();
    const run = await weave(cwd, [
      { toolUse: isolated('t1') },
      { toolUse: bash('b1', first) },
      'changed',
      () => {
        const answer = resultText(run.messages, 't1');
        between(cwd, pathIn(answer));
        return { toolUse: task('t2', { resume: agentIdIn(answer) }) };
      },
      'again',
      'Done.',
    ]);
    await run.ask('go');
    const answer = resultText(run.messages, 't2');
    return { cwd, answer, branch: `heddle/${agentIdIn(resultText(run.messages, 't1'))}` };
  };
  const subjects = (cwd: string, branch: string) => git(cwd, 'log', '--format=%s', branch).trim().split('\n');
  const remove = (_: string, path: string) => rmSync(path, { recursive: true });

  it('keeps commits that only the deleted work tree knew of, on one branch', async () => {
    const twice = `git checkout -q --detach && ${COMMIT} && git checkout -q --detach HEAD~1 && echo y > other && git add . && git commit -qm more && git checkout -q -`;
    for (const [command, expected] of [
      [`git checkout -q --detach && ${COMMIT} && git checkout -q -`, ['work', 'first']],
      [`${twice}; git checkout -q "$(git branch --list 'heddle/*' --format='%(refname:short)')"`, ['work', 'more']],
      ['git update-ref refs/worktree/mine $(git commit-tree -p HEAD -m work HEAD^{tree})', ['work', 'first']],
    ] as const) {
      const { cwd, answer, branch } = await goesOn(command, remove);
      expect(answer).toContain(`Commits of its old work tree are on the branch ${branch}-left`);
      expect(subjects(cwd, `${branch}-left`)).toEqual(expect.arrayContaining([...expected]));
    }
  });

  it('makes no such branch where there is nothing to keep', async () => {
    for (const command of [COMMIT, `git checkout -q --detach && ${COMMIT}`]) {
      const { cwd, answer, branch } = await goesOn(command, remove);
      expect(answer).not.toContain('-left');
      expect(branches(cwd)).toEqual([branch, 'main']);
    }
  });

  it('does not take another folder in its place for its work tree', async () => {
    const replace = (cwd: string, path: string) => {
      git(cwd, 'worktree', 'remove', path);
      mkdirSync(path);
    };
    const { cwd, answer, branch } = await goesOn(COMMIT, replace);
    expect(answer).toContain(`on the branch ${branch}`);
    expect(trees(cwd)[0]).toContain(`[${branch}]`);
    const full = await goesOn(COMMIT, (where, path) => {
      replace(where, path);
      writeFileSync(join(path, 'mine'), 'x');
    });
    expect(full.answer).toContain('could not make the work tree of the agent again');
    expect(subjects(full.cwd, full.branch)).toEqual(['work', 'first']);
  });
});

it.each([
  ['rm -rf ../$(basename $PWD)', 'which was deleted meanwhile. Its branch heddle/'],
  ['git worktree remove --force .', 'which was deleted meanwhile. Its branch heddle/'],
  ['git merge -q --no-commit -s ours $(git commit-tree -p HEAD -m x HEAD^{tree}) --no-ff', 'in the middle of a merge'],
])('%s is told as it is', async (command, expected) => {
  const cwd = repository();
  const run = await weave(cwd, [{ toolUse: isolated('t1') }, { toolUse: bash('b1', command) }, 'ok', 'Done.']);
  await run.ask('go');
  expect(resultText(run.messages, 't1')).toContain(expected);
});
