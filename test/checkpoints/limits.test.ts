import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSnapshots } from '../../src/engine/checkpoints/snapshots.js';
import { hashOf } from '../../src/engine/checkpoints/file-state.js';
import { type Bench, createBench } from './kit.js';

let bench: Bench;

beforeEach(() => {
  bench = createBench({ limits: { count: 5 } });
});

afterEach(async () => {
  expect(bench.warnings).toEqual([]);
  await bench.close();
});

describe('the number of copies', () => {
  it('is bounded; the oldest go, and a prompt that needs one says so', async () => {
    for (let turn = 0; turn < 8; turn += 1) {
      await bench.turn(`p${turn}`, async () => {
        await bench.write('a.txt', `${turn}`);
        await bench.write('b.txt', `b ${turn}`);
      });
      expect(bench.snapshots().length).toBeLessThanOrEqual(5);
    }
    // Two copies for each turn: those of the last two are whole, and one is left of the turn before.
    expect((await bench.checkpoints.rewind('p6', { dryRun: true })).notRestored).toBeUndefined();
    const old = await bench.checkpoints.rewind('p2', { dryRun: true });
    expect(old.notRestored).toEqual(
      ['a.txt', 'b.txt'].map((name) => ({
        path: bench.path(name),
        reason: expect.stringContaining('not kept any more'),
      })),
    );
    await bench.checkpoints.rewind('p6');
    expect(bench.tree()).toEqual({ 'a.txt': '644 5', 'b.txt': '644 b 5' });
    // Nothing needs to be kept of files that were not there.
    await bench.checkpoints.rewind('p0');
    expect(bench.tree()).toEqual({});
  });

  it('keeps a copy that an old and a new turn share', async () => {
    bench.put('a.txt', 'shared');
    await bench.turn('p0', () => bench.write('a.txt', 'x'));
    bench.put('b.txt', 'shared');
    for (let turn = 1; turn < 6; turn += 1) {
      await bench.turn(`p${turn}`, async () => {
        await bench.write('c.txt', `${turn}`);
        await bench.write('b.txt', turn % 2 ? 'y' : 'shared');
      });
    }
    expect(bench.snapshots()).toContain(hashOf(Buffer.from('shared')));
    await bench.checkpoints.rewind('p0');
    expect(bench.text('a.txt')).toBe('shared');
  });

  it('refuses more within one turn, by name', async () => {
    for (let file = 0; file < 8; file += 1) bench.put(`f${file}`, `${file}`);
    const ended = await bench.turn('p0', () => bench.shell('for f in f*; do echo x > $f; done'));
    expect([ended.files.length, ended.failed.length]).toEqual([5, 3]);
    const result = await bench.checkpoints.rewind('p0');
    expect(result.filesChanged).toHaveLength(5);
    expect(result.notRestored).toHaveLength(3);
  });

  it('rewinds all that is kept, though a rewind keeps copies too', async () => {
    for (let file = 0; file < 5; file += 1) bench.put(`f${file}`, `${file}`);
    const before = bench.tree();
    await bench.turn('p0', () => bench.shell('for f in f*; do echo x$f > $f; done'));
    await bench.checkpoints.rewind('p0');
    expect(bench.tree()).toEqual(before);
    expect(bench.snapshots().length).toBeLessThanOrEqual(5);
  });

  it('drops copies that no entry speaks of, and what a dead process had begun', async () => {
    bench.put('a.txt', '0');
    await bench.turn('p0', () => bench.write('a.txt', '1'));
    const folder = join(bench.session, 'file-snapshots');
    writeFileSync(join(folder, '.half.tmp'), 'x');
    writeFileSync(join(folder, hashOf(Buffer.from('orphan'))), 'orphan');
    bench.resume();
    await bench.turn('p1', () => bench.write('a.txt', '2'));
    expect(bench.snapshots().toSorted()).toEqual(['0', '1'].map((text) => hashOf(Buffer.from(text))).toSorted());
  });

  it('is bounded in bytes too, and a damaged copy is none', async () => {
    const folder = join(bench.session, 'file-snapshots');
    const hashes: string[] = [];
    const store = createSnapshots({
      folder,
      limits: { count: 100, bytes: 1000 },
      needed: () => ({ hashes: hashes.toReversed(), current: 1 }),
    });
    for (let file = 0; file < 5; file += 1) {
      const content = Buffer.alloc(300, file);
      expect(await store.keep(hashOf(content), content)).toBeUndefined();
      hashes.push(hashOf(content));
    }
    expect(readdirSync(folder).toSorted()).toEqual(hashes.slice(2).toSorted());
    writeFileSync(join(folder, hashes[4] ?? ''), 'damaged');
    expect(await store.read(hashes[4] ?? '')).toBeUndefined();
    const large = Buffer.alloc(2000);
    expect(await store.keep(hashOf(large), large)).toContain('used them up');
  });
});

describe('large folders', () => {
  const fill = (count: number): void => {
    for (let file = 0; file < count; file += 1) bench.put(`d${file % 50}/f${file}`, `${file}`);
  };

  it('restores what it has looked at and names the folders that it has not (5,000 files and more)', async () => {
    fill(5_600);
    bench.resume({ limits: {} });
    const line = 'echo x > top; for i in 0 9; do for f in d$i/*; do echo x >> $f; done; done';
    await bench.turn('p0', () => bench.shell(line));
    const result = await bench.checkpoints.rewind('p0');
    expect(bench.text('d0/f0')).toBe('0');
    expect(existsSync(bench.path('top'))).toBe(false);
    expect(bench.text('d9/f9')).toBe('9x\n');
    const listed = result.notRestored?.map(({ path }) => path) ?? [];
    expect(listed).toContain(bench.path('d9'));
    expect(listed).not.toContain(bench.path('d0'));
  });

  it('does not copy again what has not changed', async () => {
    fill(300);
    bench.resume({ limits: {} });
    await bench.turn('p0', () => bench.shell('true'));
    const copies = join(bench.session, 'survey', 'copies');
    const { size } = statSync(copies);
    bench.resume({ limits: {} });
    await bench.turn('p1', () => bench.shell('echo more > more'));
    await bench.turn('p2', () => bench.shell('true'));
    expect(statSync(copies).size).toBe(size + 'more\n'.length);
  });

  it('lists a changed file of which there was no copy: too large, or too many', async () => {
    bench.put('large', 'x'.repeat(2000));
    for (let file = 0; file < 4; file += 1) bench.put(`f${file}`, `${file}`.repeat(400));
    bench.resume({ limits: { survey: { fileBytes: 1000, bytes: 1000 } } });
    await bench.turn('p0', () => bench.shell('for f in *; do echo x > $f; done'));
    const result = await bench.checkpoints.rewind('p0');
    expect(result.filesChanged).toEqual([bench.path('f0'), bench.path('f1')]);
    expect(result.notRestored?.map(({ path }) => path).toSorted()).toEqual(
      ['f2', 'f3', 'large'].map((name) => bench.path(name)),
    );
  });
});
