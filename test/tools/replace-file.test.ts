import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readThere, replaceFile } from '../../src/engine/tools/replace-file.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const old = Buffer.from('old');
const replace = (before: Uint8Array | undefined) =>
  replaceFile(bench.context(), { real: bench.path('a'), before, data: Buffer.from('new') });

describe('replaceFile', () => {
  it('replaces what is as it was, and knows the new content', async () => {
    bench.write('a', old);
    await replace(old);
    expect(bench.text('a')).toBe('new');
    expect(bench.ledger.compare(bench.path('a'), Buffer.from('new'))).toBe('current');
    rmSync(bench.path('a'));
    await replace(undefined);
    expect(bench.text('a')).toBe('new');
  });

  it('writes nothing when the file is gone, there at last, or another', async () => {
    await expect(replace(old)).rejects.toThrow('was removed since it was checked');
    expect(readdirSync(bench.folder)).toEqual([]);
    bench.write('a', 'theirs');
    await expect(replace(undefined)).rejects.toThrow('was made by another program since it was checked');
    await expect(replace(old)).rejects.toThrow('File has been modified since read');
    expect(bench.text('a')).toBe('theirs');
  });

  it('tells a missing file from one that cannot be read', async () => {
    writeFileSync(bench.path('file'), '');
    expect(await readThere(bench.path('none'), bench.context())).toBeUndefined();
    expect(await readThere(bench.path('file/below'), bench.context())).toBeUndefined();
    await expect(readThere(bench.folder, bench.context())).rejects.toThrow('EISDIR');
  });
});
