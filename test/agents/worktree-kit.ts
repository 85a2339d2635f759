/** Repositories whose agents work in trees of their own. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { systemClock } from '../../src/protocol/plain.js';
import { type Run, scratch } from '../engine/kit.js';
import { open, task } from './kit.js';

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], { cwd, encoding: 'utf8' });

export function repository(): string {
  const cwd = scratch();
  git(cwd, 'init', '-q', '-b', 'main');
  git(cwd, 'config', 'user.name', 'a');
  git(cwd, 'config', 'user.email', 'a@b');
  writeFileSync(join(cwd, 'a.txt'), 'one\n');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-q', '-m', 'first');
  return cwd;
}

export const weave = (cwd: string, script: readonly ScriptStep[], configDir = scratch()): Promise<Run> =>
  open(script, {
    cwd,
    workspace: createLocalWorkspace({ clock: systemClock }),
    config: { permissionMode: 'bypassPermissions', trusted: true, configDir },
  });

export const isolated = (id: string, input: object = {}) => task(id, { isolation: 'worktree', ...input });

export const trees = (cwd: string): string[] => git(cwd, 'worktree', 'list').trim().split('\n').slice(1);

/** What an agent leaves behind that has done something. */
export const COMMIT = 'echo x > new && git add . && git commit -qm work';
