import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryWorkspace } from '../../src/testing/memory-workspace.js';
import { type Bench, createBench } from './kit.js';
import { removeFolder } from '../remove-folder.js';

let bench: Bench;

beforeEach(() => {
  bench = createBench();
});

afterEach(async () => {
  expect(bench.warnings).toEqual([]);
  await bench.close();
});

const rewind = (uuid: string, options = {}) => bench.checkpoints.rewind(uuid, options);

describe('rewind of what file tools did (F8)', () => {
  it('undoes edits, removes what was made, and counts lines and files', async () => {
    bench.put('a.txt', 'one\ntwo\nthree\n');
    chmodSync(bench.path('a.txt'), 0o640);
    await bench.turn('p0', async () => {
      await bench.write('a.txt', 'one\n2\nthree\nfour\n');
      await bench.write('new/deep/b.txt', 'b\n');
    });
    const expected = {
      canRewind: true,
      filesChanged: [bench.path('a.txt'), bench.path('new/deep/b.txt')],
      insertions: 1,
      deletions: 3,
      skippedLinks: 0,
    };
    expect(await rewind('p0', { dryRun: true })).toEqual(expected);
    expect(bench.text('new/deep/b.txt')).toBe('b\n');
    expect(await rewind('p0')).toEqual(expected);
    expect(bench.tree()).toEqual({ 'a.txt': '640 one\ntwo\nthree\n' });
    expect(await rewind('p0')).toEqual({ ...expected, filesChanged: [], insertions: 0, deletions: 0 });
  });

  it('goes back prompt by prompt, and forward again', async () => {
    bench.put('a.txt', '0');
    const states: Record<string, string>[] = [];
    for (const [index, uuid] of ['p0', 'p1', 'p2'].entries()) {
      states.push(bench.tree());
      await bench.turn(uuid, async () => {
        await bench.write('a.txt', `${index + 1}`);
        await bench.write(`made-${index}`, 'x');
      });
    }
    await rewind('p2');
    expect(bench.tree()).toEqual(states[2]);
    await rewind('p0');
    expect(bench.tree()).toEqual(states[0]);
    await rewind('p1');
    expect(bench.tree()).toEqual(states[1]);
    bench.resume();
    await rewind('p2');
    expect(bench.tree()).toEqual(states[2]);
    await rewind('p0');
    expect(bench.tree()).toEqual(states[0]);
  });

  it('works after a resume, and knows the state that a rewind left', async () => {
    bench.put('a.txt', '0');
    await bench.turn('p0', () => bench.write('a.txt', '1'));
    await bench.turn('p1', () => bench.write('a.txt', '2'));
    bench.resume();
    await rewind('p1');
    bench.resume();
    await bench.turn('p2', () => bench.write('a.txt', '3'));
    bench.resume();
    expect((await rewind('p0')).notRestored).toBeUndefined();
    expect(bench.text('a.txt')).toBe('0');
  });

  it('never overwrites a later edit unasked', async () => {
    bench.put('a.txt', '0');
    bench.put('b.txt', '0');
    await bench.turn('p0', async () => {
      await bench.write('a.txt', '1');
      await bench.write('b.txt', '1');
      await bench.write('c.txt', '1');
    });
    bench.put('a.txt', 'theirs');
    rmSync(bench.path('c.txt'));
    const preview = await rewind('p0', { dryRun: true });
    expect(await rewind('p0')).toEqual(preview);
    expect(preview).toMatchObject({
      filesChanged: [bench.path('b.txt')],
      notRestored: [{ path: bench.path('a.txt'), reason: expect.stringContaining('overwriteEdits') }],
    });
    expect(bench.tree()).toMatchObject({ 'a.txt': '644 theirs', 'b.txt': '644 0' });
    await rewind('p0', { overwriteEdits: true });
    expect(bench.text('a.txt')).toBe('0');
  });

  it('sees an edit that the session has built upon', async () => {
    bench.put('a.txt', '0');
    await bench.turn('p0', () => bench.write('a.txt', '1'));
    bench.put('a.txt', 'theirs');
    await bench.turn('p1', () => bench.write('a.txt', 'theirs and mine'));
    await rewind('p1');
    expect(bench.text('a.txt')).toBe('theirs');
    expect((await rewind('p0')).notRestored).toHaveLength(1);
    expect(bench.text('a.txt')).toBe('theirs');
    await rewind('p0', { overwriteEdits: true });
    expect(bench.text('a.txt')).toBe('0');
    bench.put('before', 'x');
    await bench.turn('p2', () => bench.write('a.txt', '4'));
    expect((await rewind('p0')).notRestored).toBeUndefined();
    expect(bench.text('a.txt')).toBe('0');
  });

  it('asks where a process died between the copy and the end of a call', async () => {
    bench.put('a.txt', '0');
    bench.put('b.txt', '0');
    bench.checkpoints.begin('p0');
    const writes = [bench.path('a.txt'), bench.path('b.txt')];
    await bench.checkpoints.beforeCall({ toolUseId: 'c', tool: 'Write', edits: true, writes, shell: false });
    bench.put('a.txt', 'half');
    bench.resume();
    const result = await rewind('p0');
    expect(result).toMatchObject({ filesChanged: [], notRestored: [{ path: bench.path('a.txt') }] });
    await rewind('p0', { overwriteEdits: true });
    expect(bench.text('a.txt')).toBe('0');
  });

  it('writes nothing through a link that was put in the way', async () => {
    bench.put('a.txt', '0');
    bench.put('sub/b.txt', '0');
    bench.put('victim/b.txt', 'victim');
    await bench.turn('p0', async () => {
      await bench.write('a.txt', '1');
      await bench.write('sub/b.txt', '1');
      await bench.write('made', '1');
    });
    for (const name of ['a.txt', 'made']) {
      rmSync(bench.path(name));
      symlinkSync('victim/b.txt', bench.path(name));
    }
    renameSync(bench.path('sub'), bench.path('gone'));
    symlinkSync('victim', bench.path('sub'));
    const preview = await rewind('p0', { dryRun: true, overwriteEdits: true });
    const result = await rewind('p0', { overwriteEdits: true });
    expect(result).toEqual(preview);
    expect(result).toMatchObject({ filesChanged: [], skippedLinks: 3 });
    expect(result.notRestored).toHaveLength(3);
    expect(bench.text('victim/b.txt')).toBe('victim');
  });

  it('leaves files with other names alone', async () => {
    bench.put('a.txt', '0');
    await bench.turn('p0', () => bench.write('a.txt', '1'));
    linkSync(bench.path('a.txt'), bench.path('other'));
    expect(await rewind('p0')).toMatchObject({ filesChanged: [], skippedLinks: 1, notRestored: [{}] });
    expect(bench.text('other')).toBe('1');
  });

  it('says that a file was too large, and removes a large one that was made', async () => {
    bench.put('large', '');
    truncateSync(bench.path('large'), 17 * 1024 * 1024);
    const ended = await bench.turn('p0', async () => {
      await bench.write('large', 'small now');
      await bench.write('large', 'and again');
      await bench.shell('truncate -s 17M made');
    });
    expect(ended.failed).toEqual([{ filename: bench.path('large'), error: 'It was larger than 16 MB.' }]);
    const result = await rewind('p0');
    expect(result.notRestored).toEqual([{ path: bench.path('large'), reason: 'It was larger than 16 MB.' }]);
    expect(existsSync(bench.path('made'))).toBe(false);
  });

  it('restores binary files byte by byte and counts no lines of them', async () => {
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
    bench.put('a.bin', bytes);
    await bench.turn('p0', () => bench.write('a.bin', 'text'));
    expect(await rewind('p0')).toMatchObject({ insertions: 0, deletions: 0 });
    expect(readFileSync(bench.path('a.bin')).equals(bytes)).toBe(true);
  });

  it('leaves the mode that someone else gave a file', async () => {
    bench.put('a.txt', '0');
    await bench.turn('p0', () => bench.write('a.txt', '1'));
    chmodSync(bench.path('a.txt'), 0o755);
    await rewind('p0');
    expect(bench.tree()).toEqual({ 'a.txt': '755 0' });
  });

  it('keeps a folder that others use', async () => {
    await bench.turn('p0', () => bench.write('made/a.txt', '1'));
    bench.put('made/theirs', 'x');
    const result = await rewind('p0');
    expect(result.notRestored).toBeUndefined();
    expect(bench.tree()).toEqual({ 'made/theirs': '644 x' });
  });

  it('knows no other prompts, and not those of a time without checkpoints', async () => {
    const turn = { type: 'heddle', kind: 'turn', state: 'started', sessionId: '', timestamp: '' } as const;
    bench.entries.push({ ...turn, promptUuid: 'early' });
    bench.resume();
    await bench.turn('p0', () => bench.write('a.txt', '1'));
    await bench.turn('p1', async () => {});
    bench.entries.push({ ...turn, kind: 'session', format: 2, heddleVersion: '0' } as never);
    bench.entries.push({ ...turn, promptUuid: 'off' });
    bench.resume();
    for (const uuid of ['nobody', 'early', 'off']) {
      await expect(rewind(uuid)).rejects.toMatchObject({
        code: 'checkpoint_not_found',
        message: 'No file checkpoint found for this message.',
      });
    }
    expect((await rewind('p1')).notRestored).toEqual([
      { path: bench.folder, reason: 'Checkpoints were off in a part of the session.' },
    ]);
  });

  it('says what it has kept', async () => {
    bench.put('a.txt', '0');
    const ended = await bench.turn('p0', async () => {
      await bench.write('a.txt', '1');
      await bench.write('a.txt', '2');
      await bench.write('b.txt', '1');
    });
    expect(ended).toEqual({
      files: [{ filename: bench.path('a.txt'), file_id: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      failed: [],
    });
    expect(bench.snapshots()).toEqual([ended.files[0]?.file_id]);
    const kept = statSync(join(bench.session, 'file-snapshots', bench.snapshots()[0] ?? ''));
    expect(kept.mode & 0o777).toBe(0o600);
  });

  it('writes a checkpoint before the first turn and after every fifth', async () => {
    for (let turn = 1; turn <= 7; turn += 1) await bench.turn(`p${turn}`, () => bench.write('a.txt', `${turn}`));
    const read = (turn: number) =>
      JSON.parse(readFileSync(join(bench.session, 'checkpoints', `checkpoint-${turn}.json`), 'utf8'));
    expect(read(0)).toMatchObject({ turn: 0, files: {}, log: { entries: expect.any(Number), leaf: 'leaf' } });
    expect(read(5)).toMatchObject({
      turn: 5,
      promptUuid: 'p5',
      files: { [bench.path('a.txt')]: expect.any(String) },
      permissions: { mode: 'default' },
    });
    expect(existsSync(join(bench.session, 'checkpoints', 'checkpoint-1.json'))).toBe(false);
  });

  it('goes on when nothing can be kept', async () => {
    mkdirSync(bench.session, { recursive: true });
    removeFolder(join(bench.session, 'file-snapshots'));
    symlinkSync('/dev/null', join(bench.session, 'file-snapshots'));
    bench.put('a.txt', '0');
    const ended = await bench.turn('p0', () => bench.write('a.txt', '1'));
    expect(bench.text('a.txt')).toBe('1');
    expect(ended).toMatchObject({ files: [], failed: [{ filename: bench.path('a.txt') }] });
    expect((await rewind('p0')).notRestored).toMatchObject([{ reason: expect.stringContaining('could not be kept') }]);
  });

  it('costs few bytes of log', async () => {
    bench.put('a.txt', '0');
    await bench.turn('p0', async () => {});
    await bench.turn('p1', () => bench.write('a.txt', '1'));
    expect(bench.notes()).toHaveLength(3);
    expect(JSON.stringify(bench.notes()).length).toBeLessThan(1200);
  });
});

describe('a workspace elsewhere', () => {
  it('gets its files back, and is told what it cannot do', async () => {
    const workspace = createMemoryWorkspace({ 'a.txt': '0' });
    bench.resume({ workspace, roots: () => [workspace.root], cwd: workspace.root });
    const writes = [join(workspace.root, 'a.txt'), join(workspace.root, 'made')];
    const call = { toolUseId: 'c', tool: 'Write', edits: true, writes, shell: false };
    await bench.turn('p0', async () => {
      await bench.checkpoints.beforeCall(call);
      for (const path of writes) await workspace.writeFile(path, Buffer.from('1'));
      await bench.checkpoints.afterCall(call);
    });
    const result = await rewind('p0');
    expect(workspace.files()).toEqual({ 'a.txt': '0', made: '1' });
    expect(result).toMatchObject({
      filesChanged: [writes[0]],
      notRestored: [{ path: writes[1], reason: expect.stringContaining('cannot be removed in this workspace') }],
    });
  });
});
