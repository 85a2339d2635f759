import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findMainTree,
  findProjectRoot,
  managedFiles,
  managedFolders,
  settingsFiles,
} from '../../src/engine/settings/files.js';
import { scratch } from '../testing/scratch.js';

function tree(...names: string[]) {
  const root = scratch();
  const at = (name: string): string => join(root, name);
  for (const name of names) {
    if (name.endsWith('/')) mkdirSync(at(name), { recursive: true });
    else {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), '{}');
    }
  }
  return { at, rootOf: (cwd: string): string => findProjectRoot({ cwd: at(cwd), home: at('home') }) };
}

/** What `git worktree add` leaves behind, without git. */
function addWorktree(main: string, worktree: string): void {
  const record = join(main, '.git/worktrees/wt');
  mkdirSync(record, { recursive: true });
  mkdirSync(worktree, { recursive: true });
  writeFileSync(join(worktree, '.git'), `gitdir: ${record}\n`);
  writeFileSync(join(record, 'gitdir'), `${join(worktree, '.git')}\n`);
  writeFileSync(join(record, 'commondir'), '../..\n');
}

describe('findProjectRoot (D5: rules survive a start in a sub-directory)', () => {
  it('the folder itself where nothing marks one', () => {
    const { at, rootOf } = tree('home/plain/sub/');
    expect(rootOf('home/plain/sub')).toBe(at('home/plain/sub'));
  });

  it('the repository above', () => {
    const { at, rootOf } = tree('home/shop/.git/', 'home/shop/.claude/settings.json', 'home/shop/a/b/');
    expect(rootOf('home/shop/a/b')).toBe(at('home/shop'));
  });

  it('the nearest settings file inside it', () => {
    const { at, rootOf } = tree('home/shop/.git/', 'home/shop/pkg/.claude/settings.local.json', 'home/shop/pkg/src/');
    expect(rootOf('home/shop/pkg/src')).toBe(at('home/shop/pkg'));
  });

  it('a folder .claude without settings does not hide the rules of the repository', () => {
    const { at, rootOf } = tree('home/shop/.git/', 'home/shop/.claude/settings.json', 'home/shop/pkg/.claude/skills/');
    expect(rootOf('home/shop/pkg')).toBe(at('home/shop'));
  });

  it('a folder .claude marks a project that is no repository', () => {
    const { at, rootOf } = tree('home/notes/.claude/agents/', 'home/notes/2026/');
    expect(rootOf('home/notes/2026')).toBe(at('home/notes'));
  });

  it('never above the repository', () => {
    const { at, rootOf } = tree('home/work/.claude/settings.json', 'home/work/shop/.git/', 'home/work/shop/a/');
    expect(rootOf('home/work/shop/a')).toBe(at('home/work/shop'));
  });

  it('never the home folder or above it, except when started there', () => {
    const { at, rootOf } = tree('.git/', 'home/.claude/settings.json', 'home/.git/', 'home/x/y/');
    expect(rootOf('home/x/y')).toBe(at('home/x/y'));
    expect(rootOf('home')).toBe(at('home'));
    expect(findProjectRoot({ cwd: at('.'), home: at('home') })).toBe(at('.').replace(/\/$/, ''));
  });

  it('a link into a project does not lead past its rules (E2)', () => {
    const { at, rootOf } = tree('home/shop/.git/', 'home/shop/a/');
    symlinkSync(at('home/shop/a'), at('home/short'));
    expect(rootOf('home/short')).toBe(at('home/shop'));
  });

  it('a worktree is a project of its own', () => {
    const { at, rootOf } = tree('home/shop/.git/', 'home/shop-wt/src/');
    addWorktree(at('home/shop'), at('home/shop-wt'));
    expect(rootOf('home/shop-wt/src')).toBe(at('home/shop-wt'));
  });
});

describe('findMainTree (D5: rules survive a start in a worktree)', () => {
  it('by the record of git, and both ways', () => {
    const { at } = tree('home/shop/.git/');
    addWorktree(at('home/shop'), at('home/wt'));
    expect(findMainTree(at('home/wt'))).toBe(at('home/shop'));
    expect(findMainTree(at('home/shop'))).toBeUndefined();
  });

  it('not for a folder that only claims it: it would borrow the rules of another project', () => {
    const { at } = tree('home/shop/.git/', 'home/evil/');
    addWorktree(at('home/shop'), at('home/wt'));
    writeFileSync(at('home/evil/.git'), `gitdir: ${at('home/shop/.git/worktrees/wt')}\n`);
    expect(findMainTree(at('home/evil'))).toBeUndefined();
  });

  it.each(['', 'gitdir:', 'gitdir: /nowhere', 'x'.repeat(10_000)])('not for a broken pointer %#', (text) => {
    const { at } = tree('home/wt/');
    writeFileSync(at('home/wt/.git'), text);
    expect(findMainTree(at('home/wt'))).toBeUndefined();
  });

  it('a bare repository has no main work tree', () => {
    const { at } = tree('home/');
    addWorktree(at('home/shop'), at('home/wt'));
    writeFileSync(at('home/shop/.git/worktrees/wt/commondir'), '..\n');
    expect(findMainTree(at('home/wt'))).toBeUndefined();
  });
});

describe('settingsFiles', () => {
  it('names each file', () => {
    const { at } = tree('home/shop/');
    const places = { configDir: at('home/.claude'), projectRoot: at('home/shop'), home: at('home') };
    expect(settingsFiles({ ...places, managedDir: at('etc') })).toEqual({
      projectRoot: at('home/shop'),
      home: at('home'),
      managed: [at('etc')],
      user: at('home/.claude/settings.json'),
      project: at('home/shop/.claude/settings.json'),
      local: at('home/shop/.claude/settings.local.json'),
      mainLocal: undefined,
    });
    expect(settingsFiles(places).managed).toEqual(managedFolders(process.platform));
  });

  it("in the home folder the user's own file is no project file", () => {
    const { at } = tree('home/');
    const places = { projectRoot: at('home'), home: at('home'), managedDir: at('etc') };
    expect(settingsFiles({ ...places, configDir: at('home/.claude') }).project).toBeUndefined();
    mkdirSync(at('home/dotfiles'));
    symlinkSync(at('home/dotfiles'), at('home/.claude'));
    expect(settingsFiles({ ...places, configDir: at('home/dotfiles') }).project).toBeUndefined();
    expect(settingsFiles({ ...places, configDir: at('home/.config') }).project).toBe(at('home/.claude/settings.json'));
  });

  it('in a worktree also the local file of the main work tree', () => {
    const { at } = tree('home/shop/.git/');
    addWorktree(at('home/shop'), at('home/wt'));
    const { local, mainLocal } = settingsFiles({ configDir: at('c'), projectRoot: at('home/wt'), home: at('home') });
    expect([local, mainLocal]).toEqual([
      at('home/wt/.claude/settings.local.json'),
      at('home/shop/.claude/settings.local.json'),
    ]);
  });

  it('policy: parts from last to first, then the file, folder by folder', () => {
    const names = ['managed-settings.json', 'managed-settings.d/10-a.json', 'managed-settings.d/20-b.json'];
    const { at } = tree(...names.map((name) => `etc/${name}`), 'etc/managed-settings.d/notes.txt');
    expect(managedFiles([at('etc'), at('other')])).toEqual([
      at('etc/managed-settings.d/20-b.json'),
      at('etc/managed-settings.d/10-a.json'),
      at('etc/managed-settings.json'),
      at('other/managed-settings.json'),
    ]);
  });

  it.each([
    ['linux', ['/etc/heddle', '/etc/claude-code']],
    ['darwin', ['/Library/Application Support/Heddle', '/Library/Application Support/ClaudeCode']],
  ] as const)('policy on %s', (platform, folders) => {
    expect(managedFolders(platform)).toEqual(folders);
  });
});
