import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { editSettings } from '../../src/engine/settings/edit.js';
import { STALE_AFTER_MS, withLock } from '../../src/engine/settings/lock.js';
import { systemClock } from '../../src/protocol/plain.js';
import { scratch } from '../testing/scratch.js';

const setModel = (value: unknown) => () => [{ path: ['model'], value }];
const modeOf = (file: string): number => statSync(file).mode & 0o777;
const read = (file: string): string => readFileSync(file, 'utf8');

describe('editSettings', () => {
  it('makes the file and its folders, for the owner alone unless it is shared', async () => {
    const folder = scratch();
    const file = join(folder, 'a/b/settings.json');
    expect(await editSettings(file, setModel('x'))).toEqual({
      changed: true,
      file,
      before: '',
      after: '{\n  "model": "x"\n}\n',
    });
    expect([modeOf(file), modeOf(dirname(file))]).toEqual([0o600, 0o700]);
    const shared = join(folder, 'shared.json');
    await editSettings(shared, setModel('x'), { shared: true });
    expect(modeOf(shared)).toBe(0o666 & ~process.umask());
  });

  it('keeps mode, comments, order, unknown keys and the byte order mark', async () => {
    const file = join(scratch(), 'settings.json');
    writeFileSync(file, '\uFEFF{\n\t// mine\n\t"zzz": {"later": 1}, // z\n\t"model": "old", /* m */\n}\n');
    chmodSync(file, 0o640);
    await editSettings(file, setModel('new'));
    expect(read(file)).toBe('\uFEFF{\n\t// mine\n\t"zzz": {"later": 1}, // z\n\t"model": "new", /* m */\n}\n');
    expect(modeOf(file)).toBe(0o640);
  });

  it('touches nothing when nothing changes', async () => {
    const file = join(scratch(), 'settings.json');
    writeFileSync(file, '{ "model": "x" }');
    utimesSync(file, 1, 1);
    expect(await editSettings(file, setModel('x'))).toMatchObject({ changed: false });
    expect(await editSettings(file, () => [])).toMatchObject({ changed: false });
    expect(statSync(file).mtimeMs).toBe(1000);
    const missing = join(dirname(file), 'none.json');
    expect(await editSettings(missing, () => [])).toMatchObject({ changed: false });
    expect(existsSync(missing)).toBe(false);
  });

  it('leaves no draft and no lock behind', async () => {
    const folder = scratch();
    await editSettings(join(folder, 'settings.json'), setModel('x'));
    await expect(
      editSettings(join(folder, 'settings.json'), () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(readdirSync(folder)).toEqual(['settings.json']);
  });

  it.each([
    ['{ "model": ', /settings\.json:1:12: the file ends too early: a value is expected\. It was not changed\.$/],
    ['', /:1:1: the file is empty/],
    ['[]', /:1:1: it must be one JSON object/],
    ['{"a": 1, "a": 2}', /:1:10: "a" stands here twice/],
  ])('refuses a file that it cannot read: %j', async (text, message) => {
    const file = join(scratch(), 'settings.json');
    writeFileSync(file, text);
    const error: unknown = await editSettings(file, setModel('x')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'invalid_settings', message: expect.stringMatching(message) });
    expect(read(file)).toBe(text);
  });

  it('refuses what is no file, and what cannot be written', async () => {
    const folder = scratch();
    mkdirSync(join(folder, 'dir'));
    writeFileSync(join(folder, 'file'), '');
    await expect(editSettings(join(folder, 'dir'), setModel('x'))).rejects.toThrow(/it is a folder, not a file/);
    await expect(editSettings(join(folder, 'file/settings.json'), setModel('x'))).rejects.toMatchObject({
      code: 'invalid_settings',
      message: expect.stringMatching(/it cannot be written: ENOTDIR/),
    });
  });

  it('follows links to their target, also where that does not exist yet', async () => {
    const folder = scratch();
    const link = join(folder, 'settings.json');
    symlinkSync('dotfiles/claude.json', link);
    await editSettings(link, setModel('x'));
    await editSettings(link, setModel('y'));
    expect(readlinkSync(link)).toBe('dotfiles/claude.json');
    expect(read(join(folder, 'dotfiles/claude.json'))).toContain('"model": "y"');
  });

  it.each(['file', 'folder'])('a project must not lead a change out of itself by a link (%s)', async (kind) => {
    const folder = scratch();
    const project = join(folder, 'shop');
    const victim = join(folder, 'home/settings.local.json');
    for (const each of [project, dirname(victim)]) mkdirSync(each);
    writeFileSync(victim, '{}');
    const file = join(project, '.claude/settings.local.json');
    if (kind === 'folder') symlinkSync(dirname(victim), dirname(file));
    else {
      mkdirSync(dirname(file));
      symlinkSync(victim, file);
    }
    await expect(editSettings(file, setModel('x'), { within: project })).rejects.toThrow(/leads out of/);
    expect(read(victim)).toBe('{}');
  });

  it('a link inside the project is followed', async () => {
    const project = scratch();
    mkdirSync(join(project, '.claude'));
    symlinkSync('../shared.json', join(project, '.claude/settings.json'));
    await editSettings(join(project, '.claude/settings.json'), setModel('x'), { within: project });
    expect(read(join(project, 'shared.json'))).toContain('"model": "x"');
  });
});

describe('two who change one file', () => {
  it('in one process: no change is lost', async () => {
    const file = join(scratch(), 'settings.json');
    const names = Array.from({ length: 12 }, (_, at) => `n${at}`);
    await Promise.all(names.map((name) => editSettings(file, () => [{ path: ['env', name], value: 'x' }])));
    const { env } = JSON.parse(read(file)) as { env: Record<string, string> };
    expect(Object.keys(env).toSorted()).toEqual(names.toSorted());
  });

  it('in several processes: no change is lost, and the file is whole at every moment', async () => {
    const folder = scratch();
    const file = join(folder, 'settings.json');
    writeFileSync(file, '{\n  // kept\n  "permissions": {}\n}\n');
    const outfile = join(folder, 'child.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('child/adds-rules.ts', import.meta.url))],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      mainFields: ['module', 'main'],
      logLevel: 'silent',
    });
    const names = ['a', 'b', 'c'];
    const runs = names.map((name) => spawn(process.execPath, [outfile, file, name, '15'], { stdio: 'pipe' }));
    let isOver = false;
    const over = Promise.all(
      runs.map(
        (child) =>
          new Promise<string>((resolve, reject) => {
            let text = '';
            for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
            child.on('error', reject).on('close', () => resolve(text));
          }),
      ),
    ).finally(() => (isOver = true));
    while (!isOver) {
      expect(read(file)).toMatch(/^\{\n {2}\/\/ kept\n[\s\S]*\n\}\n$/);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await over).toEqual(['done\n', 'done\n', 'done\n']);
    const { permissions } = JSON.parse(read(file).replace('// kept', '')) as { permissions: { allow: string[] } };
    const expected = names.flatMap((name) => Array.from({ length: 15 }, (_, at) => `Bash(${name} ${at})`));
    expect(permissions.allow.toSorted()).toEqual(expected.toSorted());
    expect(readdirSync(folder).toSorted()).toEqual(['child.mjs', 'settings.json']);
  });

  it('whoever holds the lock for good is named, and nothing is written', async () => {
    const file = join(scratch(), 'settings.json');
    mkdirSync(`${file}.lock`);
    await expect(editSettings(file, setModel('x'), { waitMs: 30 })).rejects.toMatchObject({
      code: 'invalid_settings',
      retryable: true,
      message: `${file} is being changed by another process.`,
      hint: expect.stringContaining(`${file}.lock`),
    });
    expect(existsSync(file)).toBe(false);
  });

  it('the lock of a process that died is taken over', async () => {
    const file = join(scratch(), 'settings.json');
    mkdirSync(`${file}.lock`);
    writeFileSync(join(`${file}.lock`, 'token'), '');
    const long = (Date.now() - STALE_AFTER_MS - 1000) / 1000;
    utimesSync(`${file}.lock`, long, long);
    expect(await editSettings(file, setModel('x'))).toMatchObject({ changed: true });
    expect(readdirSync(dirname(file))).toEqual(['settings.json']);
  });

  it('whoever was stopped so long that others took over writes nothing stale', async () => {
    const file = join(scratch(), 'settings.json');
    const seen = await withLock(
      file,
      async ({ isHeld }) => {
        const before = isHeld();
        const long = (Date.now() - STALE_AFTER_MS - 1000) / 1000;
        utimesSync(`${file}.lock`, long, long);
        await editSettings(file, setModel('other'));
        return [before, isHeld()];
      },
      { clock: systemClock },
    );
    expect(seen).toEqual([true, false]);
    expect(read(file)).toContain('"other"');
  });

  it('a change that was prepared without the lock is prepared again', async () => {
    const file = join(scratch(), 'settings.json');
    let calls = 0;
    await editSettings(file, () => {
      calls += 1;
      if (calls === 1) {
        rmSync(`${file}.lock`, { recursive: true });
        writeFileSync(file, '{ "language": "de" }');
      }
      return [{ path: ['model'], value: 'x' }];
    });
    expect(calls).toBe(2);
    expect(JSON.parse(read(file))).toEqual({ language: 'de', model: 'x' });
  });
});
