import { mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expandPattern, isLiteral, toPattern } from '../../src/engine/sandbox/patterns.js';
import { removeFolder } from '../remove-folder.js';

const base = { home: '/home/user', project: '/p' };

describe('paths of the settings', () => {
  it.each([
    ['/etc/x', '/etc/x'],
    ['//etc/x', '/etc/x'],
    ['/', '/'],
    ['~', '/home/user'],
    ['~/.ssh/', '/home/user/.ssh'],
    ['.', '/p'],
    ['./build/**', '/p/build'],
    ['src/../dist', '/p/dist'],
    ['**/.env', '/p/**/.env'],
    ['/**', '/'],
    ['[$]odd/a$', '/p/[$]odd/a$'],
  ])('%s means %s', (entry, path) => {
    expect(toPattern(entry, 'filesystem.denyRead', base)).toBe(path);
  });

  it.each(['', '  ', 'a\0b', '*.{key,pem}', '~other/x', '$HOME/x', 'a/${X}', '`x`', 'file:///x', '!x', '~/x\n', ' x'])(
    'refuses %j by the name of the field',
    (entry) => {
      expect(() => toPattern(entry, 'filesystem.denyRead', base)).toThrow(
        expect.objectContaining({
          code: 'invalid_settings',
          message: expect.stringContaining('sandbox.filesystem.denyRead'),
        }),
      );
    },
  );

  it('are literal unless they hold a wildcard', () => {
    expect(['/a/b', '/a/*', '/a/b?', '/a/[b]', '/**/a'].map(isLiteral)).toEqual([true, false, false, false, false]);
  });
});

describe('patterns', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-patterns-')));
    for (const path of ['a/.env', 'a/b/.env', 'a/b/c.key', 'd.key', '.e.key']) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), '');
    }
    await symlink('.', join(folder, 'a', 'loop'));
  });
  afterEach(() => removeFolder(folder));

  it.each([
    ['*.key', ['.e.key', 'd.key']],
    ['**/.env', ['a/.env', 'a/b/.env']],
    ['**/*.key', ['.e.key', 'a/b/c.key', 'd.key']],
    ['a/*/c.key', ['a/b/c.key', 'a/loop/c.key'].slice(0, 1)],
    ['[d-f].key', ['d.key']],
    ['a/b', ['a/b']],
    ['none', []],
    ['none/*', []],
  ])('%s finds what is there', async (pattern, paths) => {
    const found = await expandPattern(join(folder, pattern));
    expect(found.map((path) => path.slice(folder.length + 1)).toSorted()).toEqual(paths);
  });
});
