/** E2 the names that git has taken up, read from its index. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { entriesInIndex, trackedIn } from '../../src/engine/permissions/git-index.js';
import { findLinked } from '../../src/engine/permissions/links.js';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  return execFileSync('git', [...who, ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' });
}

const NAMES = ['a.ts', 'dir/b.ts', 'dir/bb.ts', 'dir/deep/c d.txt', 'dir2/é.ts', 'x'.repeat(200)];

function repository(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-index-')));
  made.push(folder);
  git(folder, 'init', '-q');
  for (const name of NAMES) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), name);
  }
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'x');
  return folder;
}

const disk = {
  async list(folder: string) {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isSymbolicLink()
        ? ('link' as const)
        : entry.isDirectory()
          ? ('directory' as const)
          : ('file' as const),
    }));
  },
  realPath: async (path: string) => path,
  readFile: (path: string) => readFile(path),
};

const listed = (folder: string): string[] => git(folder, 'ls-files', '-z').split('\0').slice(0, -1);

describe('E2 the index of git', () => {
  it.each(['2', '3', '4'])('of version %s is read', async (version) => {
    const folder = repository();
    git(folder, 'update-index', '--index-version', version);
    if (version === '3') git(folder, 'update-index', '--skip-worktree', 'dir/b.ts');
    expect(entriesInIndex(readFileSync(join(folder, '.git/index')))?.map(({ name }) => name)).toEqual(listed(folder));
    expect((await trackedIn(join(folder, 'dir/deep'), disk))?.entries.map(({ name }) => name)).toEqual(listed(folder));
  });

  it('of a worktree is its own', async () => {
    const folder = repository();
    git(folder, 'worktree', 'add', '-q', 'wt');
    git(join(folder, 'wt'), 'rm', '-q', 'a.ts');
    expect((await trackedIn(join(folder, 'wt'), disk))?.entries.map(({ name }) => name)).toEqual(
      listed(join(folder, 'wt')),
    );
  });

  it('that is not there holds nothing', async () => {
    const folder = repository();
    rmSync(join(folder, '.git/index'));
    expect((await trackedIn(folder, disk))?.entries.map(({ name }) => name)).toEqual([]);
  });

  it('that is split, folded, or of other digests is not known', async () => {
    const split = repository();
    git(split, 'update-index', '--split-index');
    expect(await trackedIn(split, disk)).toBeUndefined();
    const sparse = repository();
    git(sparse, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'dir2');
    expect(await trackedIn(sparse, disk)).toBeUndefined();
    const longer = repository();
    rmSync(join(longer, '.git'), { recursive: true });
    git(longer, 'init', '-q', '--object-format=sha256');
    git(longer, 'add', '.');
    expect(await trackedIn(longer, disk)).toBeUndefined();
  });

  it.each([
    Buffer.alloc(0),
    Buffer.from('DIRC'),
    Buffer.from('DIRC\0\0\0\x02\0\0\0\x09'),
    Buffer.from('no index at all'),
  ])('that is broken is not known', (data) => {
    expect(entriesInIndex(data)).toBeUndefined();
  });

  it('a name that is there alone makes a list unknown', async () => {
    const folder = repository();
    git(folder, 'rm', '-q', '-f', 'dir/deep/c d.txt');
    const found = () => findLinked('cat $(git ls-files)', { cwd: folder }, disk);
    expect(await found()).toEqual([]);
    const id = git(folder, 'rev-parse', 'HEAD:a.ts').trim();
    git(folder, 'update-index', '--add', '--cacheinfo', `100644,${id},a ../outside`);
    expect(await found()).toHaveLength(1);
  });

  it('without a way to read it nothing is known', async () => {
    const { list, realPath } = disk;
    const folder = repository();
    git(folder, 'rm', '-q', '-f', 'dir/deep/c d.txt');
    expect(await findLinked('cat $(git ls-files)', { cwd: folder }, { list, realPath })).toHaveLength(1);
  });
});
