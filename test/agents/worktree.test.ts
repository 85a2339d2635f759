import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { systemClock } from '../../src/protocol/plain.js';
import { resultText, type Run, type RunOptions, scratch } from '../engine/kit.js';
import { agentIdIn, bash, open, saidIn, task } from './kit.js';

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8' });

function repository(): string {
  const cwd = scratch();
  git(cwd, 'init', '-q', '-b', 'main');
  writeFileSync(join(cwd, 'a.txt'), 'one\n');
  mkdirSync(join(cwd, 'sub'));
  writeFileSync(join(cwd, 'sub', 'b.txt'), 'two\n');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
  return cwd;
}

async function weave(cwd: string, script: Parameters<typeof open>[0], options: RunOptions = {}): Promise<Run> {
  const workspace = createLocalWorkspace({ clock: systemClock });
  const configDir = scratch();
  const config = { permissionMode: 'acceptEdits' as const, trusted: true, configDir, ...options.config };
  return open(script, { ...options, cwd, workspace, config });
}

const isolated = (id: string, input: object = {}) => task(id, { isolation: 'worktree', ...input });

describe('a work tree of its own', () => {
  it('is where the agent works; what it changes stays there, and the answer says where', async () => {
    const cwd = repository();
    const run = await weave(
      cwd,
      [{ toolUse: isolated('t1') }, { toolUse: bash('b1', 'pwd; echo more >> a.txt; cat a.txt') }, 'changed', 'Done.'],
      { config: { permissionMode: 'bypassPermissions' } },
    );
    await run.ask('go');
    const answer = resultText(run.messages, 't1');
    const id = agentIdIn(answer);
    const [, path = ''] = /is kept: (.+), on the branch/.exec(answer) ?? [];
    expect(answer).toContain(`on the branch heddle/${id}`);
    expect(resultText(run.messages, 'b1')).toBe(`${path}\none\nmore`);
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
    expect(path.startsWith(cwd)).toBe(false);
    expect(git(cwd, 'branch', '--list', 'heddle/*')).toContain(id);
    expect(run.model.requests.map(saidIn)[1]).toContain(`Working directory: ${path}`);
  });

  it('is gone when nothing was changed, with its branch', async () => {
    const cwd = repository();
    const run = await weave(cwd, [{ toolUse: isolated('t1') }, { toolUse: bash('b1', 'cat a.txt') }, 'read', 'Done.']);
    await run.ask('go');
    expect(resultText(run.messages, 't1')).not.toContain('is kept');
    expect(git(cwd, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(git(cwd, 'branch', '--list', 'heddle/*')).toBe('');
  });

  it.each([
    ['git does not show', (cwd: string) => void git(cwd, 'config', 'status.showUntrackedFiles', 'no')],
    ['git ignores', (cwd: string) => writeFileSync(join(cwd, '.git', 'info', 'exclude'), 'new.txt\n')],
  ])('a new file that %s is work that is kept', async (_, hide) => {
    const cwd = repository();
    hide(cwd);
    const run = await weave(
      cwd,
      [{ toolUse: isolated('t1') }, { toolUse: bash('b1', 'echo x > new.txt') }, 'ok', 'Done.'],
      { config: { permissionMode: 'bypassPermissions' } },
    );
    await run.ask('go');
    const [, path = ''] = /is kept: (.+), on the branch/.exec(resultText(run.messages, 't1')) ?? [];
    expect(existsSync(join(path, 'new.txt'))).toBe(true);
  });

  it('none is made in plan mode, and no hook of the repository runs', async () => {
    const cwd = repository();
    const ran = join(cwd, 'ran');
    writeFileSync(join(cwd, '.git', 'hooks', 'post-checkout'), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    const run = await weave(cwd, [{ toolUse: isolated('t1') }, 'Done.'], { config: { permissionMode: 'plan' } });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('In plan mode no work tree is made');
    expect(existsSync(ran)).toBe(false);
    expect(git(cwd, 'branch', '--list', 'heddle/*')).toBe('');
  });

  it('edits in it are judged as those in the project, edits in the project are outside', async () => {
    const cwd = repository();
    const write = (id: string, file_path: string) => ({ name: 'Write', id, input: { file_path, content: 'x' } });
    const run = await weave(cwd, [
      { toolUse: isolated('t1') },
      ({ body }) => {
        const [, path = ''] = /Working directory: ([^\\\n]+)/.exec(JSON.stringify(body.messages)) ?? [];
        return { toolUse: [write('w1', join(path, 'new.txt')), write('w2', join(cwd, 'new.txt'))] };
      },
      'wrote',
      'Done.',
    ]);
    await run.ask('go');
    expect(resultText(run.messages, 'w1')).toContain('created');
    expect(resultText(run.messages, 'w2')).toContain('outside');
    expect(existsSync(join(cwd, 'new.txt'))).toBe(false);
  });

  it('is the same one when the agent goes on', async () => {
    const cwd = repository();
    const run = await weave(
      cwd,
      [
        { toolUse: isolated('t1') },
        { toolUse: bash('b1', 'echo more >> a.txt') },
        'changed',
        () => ({ toolUse: task('t2', { resume: agentIdIn(resultText(run.messages, 't1')) }) }),
        { toolUse: bash('b2', 'cat a.txt') },
        'again',
        'Done.',
      ],
      { config: { permissionMode: 'bypassPermissions' } },
    );
    await run.ask('go');
    expect(resultText(run.messages, 'b2')).toBe('one\nmore');
  });

  it('hooks may make it and are told of its end', async () => {
    const cwd = repository();
    const made = join(scratch(), 'tree');
    git(cwd, 'worktree', 'add', '-q', made);
    const seen: string[] = [];
    const run = await weave(cwd, [{ toolUse: isolated('t1') }, { toolUse: bash('b1', 'pwd') }, 'x', 'Done.']);
    await run.session.scope.hooks.attach({
      callbacks: { WorktreeCreate: [{ hookCallbackIds: ['h'] }], WorktreeRemove: [{ hookCallbackIds: ['h'] }] },
      askCallback: async (_, input) => {
        seen.push(`${String(input.hook_event_name)} ${String(input.name ?? input.worktree_path)}`);
        return input.name === undefined
          ? {}
          : { hookSpecificOutput: { hookEventName: 'WorktreeCreate', worktreePath: made } };
      },
    });
    await run.ask('go');
    expect(resultText(run.messages, 'b1')).toBe(made);
    const id = agentIdIn(resultText(run.messages, 't1'));
    expect(seen).toEqual([`WorktreeCreate ${id}`, `WorktreeRemove ${made}`]);
    expect(existsSync(made)).toBe(true);
  });

  it.each([
    ['no repository', () => scratch(), 'only in a git repository'],
    ['no commit', () => ((cwd) => (git(cwd, 'init', '-q'), cwd))(scratch()), 'has no commit yet'],
  ])('%s: a clear error', async (_, make, text) => {
    const run = await weave(make(), [{ toolUse: isolated('t1') }, 'Done.']);
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain(text);
  });

  it('E1: git is not run in a folder that nobody trusts', async () => {
    const cwd = repository();
    git(cwd, 'config', 'core.fsmonitor', `touch ${join(cwd, 'ran')}; false`);
    const run = await weave(cwd, [{ toolUse: isolated('t1') }, 'Done.'], { config: { trusted: false } });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('only in a folder that is trusted');
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });
});

describe('a nested agent', () => {
  it('works where the agent does that started it, and does not get out', async () => {
    const cwd = repository();
    const write = (id: string, file_path: string) => ({ name: 'Write', id, input: { file_path, content: 'x' } });
    const run = await weave(cwd, [
      { toolUse: isolated('t1') },
      { toolUse: task('t2') },
      { toolUse: [bash('b1', 'pwd'), write('w1', join(cwd, 'new.txt'))] },
      'deep',
      'up',
      'Done.',
    ]);
    await run.ask('go');
    expect(resultText(run.messages, 'b1')).toMatch(/worktrees\/[^/]+-a[0-9a-f]{16}$/);
    expect(resultText(run.messages, 'w1')).toContain('outside');
  });

  it('what could not be started leaves no work tree', async () => {
    const cwd = repository();
    const agents = { weaver: { description: 'd', prompt: 'p', tools: ['Loom'], isolation: 'worktree' } };
    const run = await weave(cwd, [{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'Done.'], {
      config: { agents },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('names tools that it cannot have here');
    expect(git(cwd, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
  });
});
