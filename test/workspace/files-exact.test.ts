import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFolder, openNamed } from '../../src/engine/workspace/exact-folder.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { systemClock } from '../../src/protocol/plain.js';
import { removeFolder } from '../remove-folder.js';

const workspace = createLocalWorkspace({ clock: systemClock });
const exact = { exact: true };
let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-exact-')));
});

afterEach(() => removeFolder(folder));

const at = (...names: string[]): string => join(folder, ...names);
const write = (path: string, text = 'new') => workspace.writeFile(path, Buffer.from(text), exact);
const read = async (path: string) => Buffer.from(await workspace.readFile(path, exact)).toString();
const text = (...names: string[]): string => readFileSync(at(...names), 'utf8');

/** Nothing is forbidden to root. */
async function asOrdinaryUser(action: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return action();
  const nobody = 65_534;
  chownSync(folder, nobody, nobody);
  process.setegid?.(nobody);
  process.seteuid?.(nobody);
  try {
    await action();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}

describe('exact reads and writes', () => {
  it('are like others where no link is in the way', async () => {
    await write(at('a', 'b', 'c.txt'));
    expect(await read(at('a', 'b', 'c.txt'))).toBe('new');
    chmodSync(at('a', 'b', 'c.txt'), 0o751);
    await write(at('a', 'b', 'c.txt'), 'newer');
    expect(text('a', 'b', 'c.txt')).toBe('newer');
    expect(statSync(at('a', 'b', 'c.txt')).mode & 0o7777).toBe(0o751);
    await expect(read(at('none'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(read(at('none', 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(workspace.readFile(at('a', 'b', 'c.txt'), { exact: true, maxBytes: 4 })).rejects.toMatchObject({
      code: 'EFBIG',
    });
  });

  it('take files of many megabytes', async () => {
    const data = Buffer.alloc(5_000_000, 'abc');
    await workspace.writeFile(at('large'), data, exact);
    expect(Buffer.compare(readFileSync(at('large')), data)).toBe(0);
    expect(Buffer.compare(await workspace.readFile(at('large'), exact), data)).toBe(0);
  });

  const links: [what: string, path: string, make: () => void][] = [
    ['at the end', 'link', () => symlinkSync('outside/file', at('link'))],
    ['at the end, dangling', 'link', () => symlinkSync('outside/none', at('link'))],
    ['on the way', 'link/file', () => symlinkSync('outside', at('link'))],
    ['far up on the way', 'link/deep/file', () => symlinkSync('outside', at('link'))],
    ['on the way to folders that are missing', 'link/x/y/file', () => symlinkSync('outside', at('link'))],
    ['on the way, dangling', 'link/x/file', () => symlinkSync('outside/none', at('link'))],
  ];
  it.each(links)('follow no link %s', async (_, path, make) => {
    mkdirSync(at('outside', 'deep'), { recursive: true });
    writeFileSync(at('outside', 'file'), 'old');
    make();
    await expect(write(at(path))).rejects.toMatchObject({
      code: 'ELOOP',
      message: expect.stringMatching(/link is reached through a link that appeared since .*; nothing was written$/),
    });
    await expect(read(at(path))).rejects.toMatchObject({ code: 'ELOOP' });
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    expect(text('outside', 'file')).toBe('old');
    expect(readdirSync(folder)).toEqual(['link', 'outside']);
    expect(readdirSync(at('outside'), { recursive: true })).toEqual(['deep', 'file']);
  });

  it('never open what is not an ordinary file', async () => {
    execFileSync('mkfifo', [at('fifo')]);
    mkdirSync(at('folder'));
    const refused: [path: string, code: string][] = [
      [at('fifo'), 'EINVAL'],
      ['/dev/zero', 'EINVAL'],
      [at('folder'), 'EISDIR'],
      ['/', 'EISDIR'],
    ];
    for (const [path, code] of refused) {
      await expect(read(path)).rejects.toMatchObject({ code });
      await expect(write(path)).rejects.toMatchObject({ code });
    }
  });

  it('leave the other name of a file as it was', async () => {
    writeFileSync(at('a'), 'old');
    linkSync(at('a'), at('other'));
    await write(at('a'));
    expect([text('a'), text('other')]).toEqual(['new', 'old']);
  });

  it('name the path and the reason when the system refuses, and leave nothing behind', async () => {
    writeFileSync(at('file'), 'old');
    await expect(write(at('file', 'below'))).rejects.toThrow(
      `ENOTDIR: a part of the path is not a folder, write '${at('file', 'below')}'; nothing was written`,
    );
    const long = at('x'.repeat(256));
    await expect(write(long)).rejects.toThrow(`ENAMETOOLONG: name too long, write '${long}'; nothing was written`);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('hold nothing open after a failure', async () => {
    mkdirSync(at('folder'));
    writeFileSync(at('file'), '');
    symlinkSync('folder', at('link'));
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    for (let round = 0; round < 50; round += 1) {
      for (const path of [
        'none/none',
        'folder',
        'file/x',
        'link',
        'link/x/y',
        'x'.repeat(256),
        `${'x'.repeat(256)}/y`,
      ]) {
        await expect(read(at(path))).rejects.toThrow();
        if (!path.startsWith('none')) await expect(write(at(path))).rejects.toThrow();
      }
    }
    expect(open()).toBeLessThan(before + 50);
  });

  it('respect what is read-only', async () => {
    await asOrdinaryUser(async () => {
      mkdirSync(at('closed'));
      writeFileSync(at('closed', 'file'), 'old');
      writeFileSync(at('kept'), 'old', { mode: 0o444 });
      chmodSync(at('closed'), 0o555);
      // Whether a file may be written is asked for the real user, who is root still.
      const isRoot = process.getuid?.() === 0;
      for (const path of [at('closed', 'file'), at('closed', 'new'), ...(isRoot ? [] : [at('kept')])]) {
        await expect(write(path)).rejects.toThrow(`EACCES: permission denied, write '${path}'; nothing was written`);
      }
      await expect(write(at('closed', 'sub', 'new'))).rejects.toMatchObject({ code: 'EACCES' });
      expect([text('closed', 'file'), text('kept')]).toEqual(['old', 'old']);
      expect(readdirSync(at('closed'))).toEqual(['file']);
      chmodSync(at('closed'), 0o755);
    });
  });

  it('need no permission to list the folder', async () => {
    await asOrdinaryUser(async () => {
      mkdirSync(at('blind'), { mode: 0o300 });
      await write(at('blind', 'file'));
      expect(await read(at('blind', 'file'))).toBe('new');
      chmodSync(at('blind'), 0o700);
    });
  });

  it('notice another program that changes the file while a large draft is written', async () => {
    writeFileSync(at('file'), 'old');
    const writing = workspace.writeFile(at('file'), Buffer.alloc(3_000_000), exact);
    writeFileSync(at('file'), 'theirs');
    await expect(writing).rejects.toMatchObject({ code: 'EBUSY' });
    expect(text('file')).toBe('theirs');
    const making = workspace.writeFile(at('new'), Buffer.alloc(3_000_000), exact);
    writeFileSync(at('new'), 'theirs');
    await expect(making).rejects.toThrow('another program changed the file meanwhile');
    expect(text('new')).toBe('theirs');
    expect(readdirSync(folder)).toEqual(['file', 'new']);
  });

  it('notice a folder that goes away while a large draft is written', async () => {
    mkdirSync(at('moved'));
    const moving = workspace.writeFile(at('moved', 'file'), Buffer.alloc(3_000_000), exact);
    renameSync(at('moved'), at('elsewhere'));
    await expect(moving).rejects.toThrow('ENOENT: the folder was moved meanwhile');
    expect(readdirSync(at('elsewhere'))).toEqual([]);
    mkdirSync(at('removed'));
    const removing = workspace.writeFile(at('removed', 'file'), Buffer.alloc(3_000_000), exact);
    rmSync(at('removed'), { recursive: true });
    await expect(removing).rejects.toThrow('ENOENT: the folder was removed meanwhile');
    expect(readdirSync(folder)).toEqual(['elsewhere']);
  });
});

describe.each([
  ['by a handle', openFolder],
  ['by its name', openNamed],
])('a folder held %s', (_, open) => {
  it('is the one at that path, made if need be', () => {
    expect(() => open(at('a'), {})).toThrow('ENOENT');
    const held = open(at('a', 'b'), { make: true });
    writeFileSync(held.at('file'), 'x');
    held.check();
    held.close();
    expect(text('a', 'b', 'file')).toBe('x');
    open(at('a', 'b'), { make: true }).close();
  });

  it('is not reached through a link, nor made behind one', () => {
    mkdirSync(at('real'));
    symlinkSync('real', at('link'));
    expect(() => open(at('link'), {})).toThrow(expect.objectContaining({ code: 'ELOOP' }));
    expect(() => open(at('link', 'sub'), { make: true })).toThrow(expect.objectContaining({ code: 'ELOOP' }));
    expect(readdirSync(at('real'))).toEqual([]);
  });

  it('tells when it is no longer there', () => {
    mkdirSync(at('a'));
    const held = open(at('a'), {});
    renameSync(at('a'), at('b'));
    expect(() => held.check()).toThrow('ENOENT');
    held.close();
  });
});

it('a held folder stays the one that was opened, whatever its path leads to', () => {
  mkdirSync(at('a'));
  mkdirSync(at('outside'));
  const held = openFolder(at('a'));
  renameSync(at('a'), at('b'));
  symlinkSync('outside', at('a'));
  writeFileSync(held.at('file'), 'x');
  held.close();
  expect(existsSync(at('outside', 'file'))).toBe(false);
  expect(text('b', 'file')).toBe('x');
});
