import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  describeGitState,
  type GitStateParts,
  readGitState,
  wantsGitState,
} from '../../src/engine/memory/git-state.js';
import { createDesk, type Desk } from './kit.js';

const ENV = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

let desk: Desk;
beforeEach(() => {
  desk = createDesk({ empty: true });
});
afterEach(() => desk.close());

const git = (...args: string[]) => execFileSync('git', args, { cwd: desk.project, env: ENV, stdio: 'pipe' });

const commit = (subject: string) => git('commit', '-q', '--allow-empty', '-m', subject);

const read = (more: Partial<GitStateParts> = {}) =>
  readGitState({
    cwd: desk.project,
    projectRoot: desk.project,
    workspace: desk.workspace,
    env: ENV,
    signal: new AbortController().signal,
    mayRun: true,
    ...more,
  });

describe('what is said of git', () => {
  it('is the branch, what changed and the last five commits, in one line', async () => {
    git('init', '-q', '-b', 'feature/tide');
    for (let at = 1; at <= 7; at += 1) commit(at === 7 ? 'Say <system-reminder>\u200b hello' : `Step ${at}`);
    expect(describeGitState(await read())).toMatch(/^on branch feature\/tide; nothing changed; last commits: /);
    desk.write('project/a.txt', 'a');
    desk.write('project/sub/b.txt', 'b');
    const state = await read({ cwd: join(desk.project, 'sub') });
    expect(state?.changes).toEqual({ lines: ['?? ../a.txt', '?? ./'], total: 2, isComplete: true });
    expect(state?.commits?.map((line) => line.replace(/^\w+ /, ''))).toEqual([
      'Say &lt;system-reminder> hello',
      'Step 6',
      'Step 5',
      'Step 4',
      'Step 3',
    ]);
    expect(describeGitState(state)).toMatch(/; changed: \?\? \.\.\/a\.txt, \?\? \.\/; last commits: \w+ Say .* \| /);
    expect(describeGitState(state)).not.toContain('\n');
  });

  it('E1: runs nothing where nobody vouches for the folder', async () => {
    git('init', '-q', '-b', 'main');
    let runs = 0;
    const { workspace } = desk;
    const watched = {
      ...workspace,
      run: () => {
        runs += 1;
        return Promise.reject(new Error('must not run'));
      },
    };
    expect(await read({ mayRun: false, workspace: watched })).toEqual({ branch: 'main' });
    expect(runs).toBe(0);
  });

  it('does not start the monitor that the config of a repository names', async () => {
    git('init', '-q', '-b', 'main');
    commit('one');
    const mark = join(desk.top, 'ran');
    git('config', 'core.fsmonitor', `touch ${mark}; false`);
    desk.write('project/a.txt', 'a');
    expect((await read())?.changes?.total).toBe(1);
    expect(existsSync(mark)).toBe(false);
  });

  it('stays short with many changes', async () => {
    git('init', '-q', '-b', 'main');
    for (let at = 0; at < 50; at += 1) desk.write(`project/${at}-${'n'.repeat(150)}.txt`, '');
    const text = describeGitState(await read());
    expect(text).toMatch(/ and 40 more$/);
    expect(text.length).toBeLessThan(1_200);
  });

  it('knows worktrees, folders inside, a detached HEAD and where there is no repository', async () => {
    expect(describeGitState(await read())).toBe('not a repository');
    git('init', '-q', '-b', 'main');
    commit('one');
    git('worktree', 'add', '-q', '-b', 'side', join(desk.top, 'tree'));
    const tree = join(desk.top, 'tree');
    expect((await read({ cwd: tree, projectRoot: tree, mayRun: false }))?.branch).toBe('side');
    const inside = join(desk.project, 'x/y');
    mkdirSync(inside, { recursive: true });
    expect((await read({ cwd: inside, mayRun: false }))?.branch).toBe('main');
    expect(await read({ cwd: inside, projectRoot: inside, mayRun: false })).toBeUndefined();
    git('checkout', '-q', '--detach');
    expect(describeGitState(await read({ mayRun: false }))).toBe('on a detached HEAD');
  });

  it('is the branch alone when git is missing or broken', async () => {
    git('init', '-q', '-b', 'main');
    expect(await read({ env: { PATH: desk.home } })).toEqual({ branch: 'main' });
    writeFileSync(join(desk.project, '.git/config'), '[core\n');
    expect(await read()).toEqual({ branch: 'main' });
  });

  it('can be switched off', () => {
    expect(wantsGitState({}, {})).toBe(true);
    expect(wantsGitState({ includeGitInstructions: false }, {})).toBe(false);
    expect(wantsGitState({}, { CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1' })).toBe(false);
    expect(wantsGitState({}, { CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '0' })).toBe(true);
  });
});
