import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLocalWorkspace, type LocalWorkspace } from '../../src/engine/workspace/local.js';
import type { ProcessSpec } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { removeFolder } from '../remove-folder.js';

let root: string;
let workspace: LocalWorkspace;
const at = (...names: string[]): string => join(root, ...names);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-processes-exact-')));
  workspace = createLocalWorkspace({ clock: systemClock });
  mkdirSync(at('folder'));
  writeFileSync(at('folder', 'file'), 'inside');
});
afterEach(async () => {
  await workspace.close();
  removeFolder(root);
});

async function run(line: string, spec: Partial<ProcessSpec>) {
  let text = '';
  const exit = await workspace.run({
    argv: ['sh', '-c', line],
    cwd: root,
    env: { PATH: process.env.PATH ?? '' },
    signal: new AbortController().signal,
    onOutput: (chunk) => {
      text += Buffer.from(chunk).toString();
    },
    ...spec,
  });
  return { ...exit, text };
}

describe('a process in an exact folder', () => {
  it('starts in it, and its exit tells of what is there', async () => {
    const { code, text, look } = await run('pwd; cat file', { cwd: at('folder'), exact: true });
    expect({ code, text }).toEqual({ code: 0, text: `${at('folder')}\ninside` });
    expect(look?.(['missing'])).toEqual(['gone']);
    expect((await run('true', {})).look).toBeUndefined();
  });

  it('does not start behind a link, or where there is nothing', async () => {
    symlinkSync('folder', at('link'));
    mkdirSync(at('folder', 'deep'));
    await expect(run('pwd', { cwd: at('link'), exact: true })).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(run('pwd', { cwd: at('link', 'deep'), exact: true })).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(run('pwd', { cwd: at('none'), exact: true })).rejects.toThrow('does not exist');
  });

  it('stays in it when a link takes its place', async () => {
    mkdirSync(at('elsewhere'));
    writeFileSync(at('elsewhere', 'file'), 'outside');
    const swap = `mv ${at('folder')} ${at('aside')}; ln -s elsewhere ${at('folder')}; cat file`;
    expect((await run(swap, { cwd: at('folder'), exact: true })).text).toBe('inside');
  });
});

describe('a file as the standard input', () => {
  it('is read from its start', async () => {
    expect((await run('cat; cat', { inputFile: at('folder', 'file') })).text).toBe('inside');
  });

  it('is refused behind a link, and when it is not an ordinary file', async () => {
    symlinkSync('folder', at('link'));
    symlinkSync('file', at('folder', 'alias'));
    execFileSync('mkfifo', [at('fifo')]);
    for (const path of [at('link', 'file'), at('folder', 'alias')]) {
      await expect(run('cat', { inputFile: path })).rejects.toMatchObject({ code: 'ELOOP', path });
    }
    await expect(run('cat', { inputFile: at('none') })).rejects.toMatchObject({ code: 'ENOENT', path: at('none') });
    await expect(run('cat', { inputFile: at('fifo') })).rejects.toThrow('not an ordinary file');
    await expect(run('cat', { inputFile: at('folder') })).rejects.toThrow('not an ordinary file');
  });
});
