import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTool } from '../../src/engine/tools/read.js';
import { writeTool } from '../../src/engine/tools/write.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const write = (name: string, content: string) => bench.call(writeTool, { file_path: name, content });
const read = (name: string) => bench.call(readTool, { file_path: name });

describe('Write', () => {
  it('creates a file with its folders', async () => {
    const path = bench.path('a', 'b.txt');
    const { content, structured } = await write('a/b.txt', 'x\r\ny');
    expect(content).toBe(`File created successfully at: ${path}`);
    expect(bench.text('a/b.txt')).toBe('x\r\ny');
    expect(structured).toEqual({
      type: 'create',
      filePath: path,
      content: 'x\r\ny',
      structuredPatch: [],
      originalFile: null,
      userModified: false,
    });
  });

  it('replaces a file that was read, and may do so again', async () => {
    const path = bench.write('a.sh', 'one\ntwo\n');
    chmodSync(path, 0o755);
    await read(path);
    const { content, structured } = await write(path, 'one\n2\n');
    expect(content).toBe(`The file ${path} has been updated successfully.`);
    expect(structured).toEqual({
      type: 'update',
      filePath: path,
      content: 'one\n2\n',
      structuredPatch: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [' one', '-two', '+2'] }],
      originalFile: 'one\ntwo\n',
      userModified: false,
    });
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect((await write(path, 'three')).isError).toBeUndefined();
  });

  it('refuses a file that was not read', async () => {
    bench.write('a', 'x');
    const { text, isError } = await write('a', 'y');
    expect({ text, isError }).toEqual({
      text: 'File has not been read yet. Read it first before writing to it.',
      isError: true,
    });
    expect(bench.text('a')).toBe('x');
  });

  it('refuses a file that changed after it was read, but not one that was only touched', async () => {
    const path = bench.write('a', 'x');
    await read('a');
    writeFileSync(path, 'x');
    expect((await write('a', 'y')).isError).toBeUndefined();
    writeFileSync(path, 'z');
    expect((await write('a', 'w')).text).toMatch(/^File has been modified since read, /);
    expect(bench.text('a')).toBe('z');
  });

  it('judges again when it runs, since someone may have been asked in between', async () => {
    const path = bench.write('a', 'x');
    await read('a');
    const input = { file_path: path, content: 'y' };
    expect(await writeTool.enforce?.(input, bench.context())).toBeUndefined();
    writeFileSync(path, 'changed meanwhile');
    await expect(writeTool.run(input, bench.context())).rejects.toThrow('File has been modified since read');
    expect(bench.text('a')).toBe('changed meanwhile');
  });

  it('creates a file anew only if there was none when it was checked', async () => {
    const path = bench.write('a', 'x');
    await read('a');
    const input = { file_path: path, content: 'y' };
    expect(await writeTool.enforce?.(input, bench.context())).toBeUndefined();
    rmSync(path);
    await expect(writeTool.run(input, bench.context())).rejects.toThrow(
      `${path} was removed since it was checked; nothing was written.`,
    );
    expect(readdirSync(bench.folder)).toEqual([]);
    expect((await write('a', 'z')).isError).toBeUndefined();
  });

  it('overwrites no file that appeared since it was checked', async () => {
    const input = { file_path: bench.path('a'), content: 'y' };
    expect(await writeTool.enforce?.(input, bench.context())).toBeUndefined();
    bench.write('a', 'theirs');
    await expect(writeTool.run(input, bench.context())).rejects.toThrow('File has not been read yet.');
    expect(bench.text('a')).toBe('theirs');
  });

  it('writes where permission found the path to lead, and nowhere else', async () => {
    bench.write('real', 'x');
    symlinkSync('real', bench.path('link'));
    await read('link');
    expect((await write('link', 'y')).text).toBe(`The file ${bench.path('link')} has been updated successfully.`);
    expect(lstatSync(bench.path('link')).isSymbolicLink()).toBe(true);
    expect(bench.text('real')).toBe('y');
    bench.judged.set(bench.path('link'), bench.path('link'));
    expect((await write('link', 'z')).text).toBe(
      `ELOOP: ${bench.path('link')} is reached through a link that appeared since it was checked`,
    );
    expect(bench.text('real')).toBe('y');
  });

  it('says what is wrong with a path that cannot be written', async () => {
    bench.write('file', '');
    expect((await write('file/below', 'x')).text).toMatch(
      /^ENOTDIR: a part of the path is not a folder, .*nothing was/,
    );
    expect((await write('x'.repeat(300), 'x')).text).toMatch(/^ENAMETOOLONG: name too long, /);
  });

  it('refuses folders, devices and wrong input', async () => {
    mkdirSync(bench.path('folder'));
    expect((await write('folder', 'x')).text).toContain('EISDIR');
    expect((await write('/dev/null', 'x')).text).toContain('is a device, pipe or socket');
    expect((await bench.call(writeTool, { file_path: 'a' })).text).toContain('`content` is missing');
    expect((await write('a\0', 'x')).text).toContain('NUL');
  });

  it('replaces what Read refuses to show, once Read has said what it is', async () => {
    bench.write('a.dat', Buffer.from([65, 0, 66]));
    expect((await write('a.dat', 'x')).text).toContain('File has not been read yet.');
    expect((await read('a.dat')).text).toContain(
      'binary .dat file. Use a suitable program with Bash; Write may replace',
    );
    expect((await write('a.dat', 'text')).isError).toBeUndefined();
    bench.write('a.ipynb', '{"cells": [');
    expect((await read('a.ipynb')).text).toContain('it is not valid JSON');
    expect((await write('a.ipynb', '{"cells": []}')).isError).toBeUndefined();
    expect([bench.text('a.dat'), bench.text('a.ipynb')]).toEqual(['text', '{"cells": []}']);
  });

  it('refuses half characters, and the name of a folder', async () => {
    expect((await write('a', 'x\ud800y')).text).toBe(
      'The parameter `content` has half of a surrogate pair in its line 1. Give the whole character.',
    );
    for (const name of ['dir/', 'dir/.', 'dir/..', '.']) {
      expect((await write(name, 'x')).text).toBe(`${name} is the name of a folder. Give the path of a file.`);
    }
    expect(readdirSync(bench.folder)).toEqual([]);
  });

  it('says what to do about a file that is too large, and makes none', async () => {
    const path = bench.write('large', '');
    truncateSync(path, 65 * 1024 * 1024);
    expect((await write('large', 'x')).text).toContain('is larger than 64MB, the most that file tools can change. Use');
    expect((await write('new', 'x'.repeat(64 * 1024 * 1024 + 1))).text).toContain('The file would become larger than');
    expect(readdirSync(bench.folder)).toEqual(['large']);
  });

  it('tells of a large change in short, and that it does so', async () => {
    bench.write('a', 'line\n'.repeat(300_000));
    await bench.call(readTool, { file_path: 'a', limit: 5 });
    const { structured } = await write('a', 'hello');
    expect(structured).toMatchObject({ structuredPatchCut: true, structuredPatch: [{ oldStart: 1, oldLines: 2_000 }] });
    expect(JSON.stringify(structured).length).toBeLessThan(100_000);
  });

  it('says which path it writes', () => {
    expect(writeTool.accesses?.({ file_path: '../x', content: '' }, { cwd: '/a/b' })).toEqual([
      { path: '/a/x', access: 'write' },
    ]);
  });
});
