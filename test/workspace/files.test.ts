import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/protocol/plain.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { startTimeOf } from '../../src/engine/workspace/process-table.js';
import { removeFolder } from '../remove-folder.js';

const workspace = createLocalWorkspace({ clock: systemClock });
let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-files-')));
});

afterEach(() => removeFolder(folder));

let built: string;

beforeAll(async () => {
  built = await mkdtemp(join(tmpdir(), 'heddle-writer-'));
  await build({
    entryPoints: [join(import.meta.dirname, 'writing-host.ts')],
    outfile: join(built, 'host.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
});

afterAll(() => removeFolder(built));

const at = (...names: string[]): string => join(folder, ...names);
const bytes = (text: string): Uint8Array => Buffer.from(text);
const makeFifo = (path: string): Buffer => execFileSync('mkfifo', [path]);

describe('readFile', () => {
  it('gives the bytes', async () => {
    await writeFile(at('a'), Buffer.from([0, 255, 10]));
    expect([...(await workspace.readFile(at('a')))]).toEqual([0, 255, 10]);
  });

  it('gives the code of the system', async () => {
    await expect(workspace.readFile(at('none'))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(workspace.readFile(folder)).rejects.toMatchObject({ code: 'EISDIR' });
  });

  it('refuses more than the limit, and no less', async () => {
    await writeFile(at('a'), 'x'.repeat(100));
    expect(await workspace.readFile(at('a'), { maxBytes: 100 })).toHaveLength(100);
    await expect(workspace.readFile(at('a'), { maxBytes: 99 })).rejects.toMatchObject({ code: 'EFBIG' });
  });

  it('reads files that do not know their size', async () => {
    expect(Buffer.from(await workspace.readFile('/proc/self/status')).toString()).toContain('Pid:');
    await expect(workspace.readFile('/proc/self/status', { maxBytes: 10 })).rejects.toMatchObject({ code: 'EFBIG' });
  });

  it('never opens a FIFO or a device', async () => {
    makeFifo(at('fifo'));
    await expect(workspace.readFile(at('fifo'))).rejects.toMatchObject({ code: 'EINVAL' });
    await expect(workspace.readFile('/dev/zero')).rejects.toMatchObject({ code: 'EINVAL' });
  });
});

describe('writeFile', () => {
  it('makes missing folders', async () => {
    await workspace.writeFile(at('a', 'b', 'c.txt'), bytes('x'));
    expect(await readFile(at('a', 'b', 'c.txt'), 'utf8')).toBe('x');
  });

  it('keeps the mode of an existing file', async () => {
    await writeFile(at('run.sh'), 'old');
    await chmod(at('run.sh'), 0o751);
    await workspace.writeFile(at('run.sh'), bytes('new'));
    expect((await stat(at('run.sh'))).mode & 0o7777).toBe(0o751);
    expect(await readFile(at('run.sh'), 'utf8')).toBe('new');
  });

  it('writes through a link and leaves it a link', async () => {
    await writeFile(at('real'), 'old');
    await symlink('real', at('link'));
    await workspace.writeFile(at('link'), bytes('new'));
    expect(await readlink(at('link'))).toBe('real');
    expect(await readFile(at('real'), 'utf8')).toBe('new');
  });

  it('makes the target of a dangling link', async () => {
    await symlink('sub/target', at('link'));
    await workspace.writeFile(at('link'), bytes('new'));
    expect((await lstat(at('link'))).isSymbolicLink()).toBe(true);
    expect(await readFile(at('sub', 'target'), 'utf8')).toBe('new');
  });

  it('replaces the file as a whole: who has the old one open keeps it', async () => {
    await writeFile(at('a'), 'old');
    await link(at('a'), at('witness'));
    await workspace.writeFile(at('a'), bytes('new'));
    expect(await readFile(at('witness'), 'utf8')).toBe('old');
  });

  it('leaves nothing behind when it fails', async () => {
    await mkdir(at('folder'));
    await writeFile(at('file'), '');
    makeFifo(at('fifo'));
    await expect(workspace.writeFile(at('folder'), bytes('x'))).rejects.toMatchObject({ code: 'EISDIR' });
    await expect(workspace.writeFile(at('fifo'), bytes('x'))).rejects.toMatchObject({ code: 'EINVAL' });
    await expect(workspace.writeFile(at('file', 'below'), bytes('x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(workspace.writeFile(at('a'.repeat(256)), bytes('x'))).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    expect((await readdir(folder)).toSorted()).toEqual(['fifo', 'file', 'folder']);
  });
});

describe('drafts of processes that were killed', () => {
  /** Writes until it is killed in the midst, and leaves its draft behind. */
  async function leaveDraft(): Promise<string> {
    const host = spawn(process.execPath, [join(built, 'host.mjs'), at('large')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(host.stdout, 'data');
    host.kill('SIGKILL');
    await once(host, 'exit');
    const [draft, ...others] = (await readdir(folder)).filter((name) => name.startsWith('.heddle-'));
    expect(others).toEqual([]);
    return draft ?? '';
  }

  it('go with the next write into their folder', async () => {
    expect(await leaveDraft()).toMatch(/^\.heddle-[0-9a-f]{8}-\d+-\d+-[0-9a-f]{16}\.tmp$/);
    await workspace.writeFile(at('a'), bytes('x'));
    expect(await readdir(folder)).toEqual(['a']);
  });

  it('stay where their process may live, or is not known, until they are old', async () => {
    const draft = await leaveDraft();
    const [, pids = '', pid, startedAt] = /^\.heddle-(\w+)-(\d+)-(\d+)-/.exec(draft) ?? [];
    const own = `${process.pid}-${startTimeOf(process.pid)}`;
    const elsewhere = pids === '00000000' ? '00000001' : '00000000';
    const kept = [
      `.heddle-${pids}-${own}-0123456789abcdef.tmp`,
      `.heddle-${elsewhere}-${pid}-${startedAt}-0123456789abcdef.tmp`,
      '.heddle-unknown-0123456789abcdef.tmp',
      '.heddle-mine.tmp',
    ];
    for (const name of kept) await writeFile(at(name), '');
    await mkdir(at(`.heddle-${pids}-${pid}-${startedAt}-fedcba9876543210.tmp`));
    await workspace.writeFile(at('a'), bytes('x'));
    const rest = ['a', ...kept, `.heddle-${pids}-${pid}-${startedAt}-fedcba9876543210.tmp`];
    expect((await readdir(folder)).toSorted()).toEqual(rest.toSorted());
    for (const name of kept) await utimes(at(name), 1, 1);
    await workspace.writeFile(at('a'), bytes('y'));
    const young = rest.filter((name) => !name.includes(elsewhere) && !name.includes('unknown'));
    expect((await readdir(folder)).toSorted()).toEqual(young.toSorted());
  });
});

describe('stat', () => {
  it('knows files, folders and the rest, through links', async () => {
    await writeFile(at('file'), 'abc');
    await symlink('file', at('link'));
    await symlink('none', at('dangling'));
    makeFifo(at('fifo'));
    expect(await workspace.stat(at('link'))).toMatchObject({ kind: 'file', size: 3 });
    expect(await workspace.stat(folder)).toMatchObject({ kind: 'directory' });
    expect(await workspace.stat(at('fifo'))).toMatchObject({ kind: 'other' });
    expect(await workspace.stat('/dev/zero')).toMatchObject({ kind: 'other' });
    expect(await workspace.stat(at('dangling'))).toBeUndefined();
    expect(await workspace.stat(at('file', 'below'))).toBeUndefined();
  });
});

describe('realPath', () => {
  it('resolves links of what exists', async () => {
    await mkdir(at('real'));
    await symlink('real', at('link'));
    await writeFile(at('real', 'file'), '');
    expect(await workspace.realPath(at('link', 'file'))).toBe(at('real', 'file'));
  });

  it('adds the rest to the nearest existing parent', async () => {
    await mkdir(at('real'));
    await symlink('real', at('link'));
    expect(await workspace.realPath(at('link', 'new', 'file'))).toBe(at('real', 'new', 'file'));
  });

  it('follows dangling links, since a write would', async () => {
    await mkdir(at('elsewhere'));
    await symlink(at('elsewhere', 'target'), at('link'));
    await symlink('link', at('second'));
    expect(await workspace.realPath(at('second'))).toBe(at('elsewhere', 'target'));
    expect(await workspace.realPath(at('second', 'below'))).toBe(at('elsewhere', 'target', 'below'));
  });

  it('refuses links that go in circles', async () => {
    await symlink('b', at('a'));
    await symlink('a', at('b'));
    await expect(workspace.realPath(at('a'))).rejects.toMatchObject({ code: 'ELOOP' });
  });
});
