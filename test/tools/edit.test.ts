import { chmodSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { editTool } from '../../src/engine/tools/edit.js';
import type { PatchHunk } from '../../src/engine/tools/patch.js';
import { readTool } from '../../src/engine/tools/read.js';
import { applyPatch, createRandom } from './apply-patch.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const known = async (content: string | Uint8Array): Promise<string> => {
  const path = bench.write('f.txt', content);
  await bench.call(readTool, { file_path: path });
  return path;
};
const edit = (path: string, old_string: string, new_string: string, replace_all?: boolean) =>
  bench.call(editTool, {
    file_path: path,
    old_string,
    new_string,
    ...(replace_all === undefined ? {} : { replace_all }),
  });

describe('Edit', () => {
  it('replaces the one occurrence', async () => {
    const path = await known('a\nb\nc\n');
    const { content, structured } = await edit(path, 'b', '$& B');
    expect(content).toBe(`The file ${path} has been updated successfully.`);
    expect(bench.text('f.txt')).toBe('a\n$& B\nc\n');
    expect(structured).toEqual({
      filePath: path,
      oldString: 'b',
      newString: '$& B',
      originalFile: 'a\nb\nc\n',
      structuredPatch: [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, lines: [' a', '-b', '+$& B', ' c'] }],
      userModified: false,
      replaceAll: false,
    });
  });

  it('replaces all when told so, and edits again without a new Read', async () => {
    const path = await known('aa b aa');
    expect((await edit(path, 'aa', 'c', true)).text).toBe(
      `The file ${path} has been updated. All occurrences were successfully replaced.`,
    );
    expect((await edit(path, 'b', 'd')).isError).toBeUndefined();
    expect(bench.text('f.txt')).toBe('c d c');
  });

  it('creates a file, fills an empty one, and overwrites none', async () => {
    expect((await edit('new/x.txt', '', 'hello')).text).toBe(
      `File created successfully at: ${bench.path('new/x.txt')}`,
    );
    expect(bench.text('new/x.txt')).toBe('hello');
    bench.write('empty', '');
    expect((await edit('empty', '', 'x')).isError).toBeUndefined();
    expect((await edit('empty', '', 'y')).text).toContain('File already exists');
    expect(bench.text('empty')).toBe('x');
  });

  it('keeps CRLF whatever the model writes', async () => {
    const path = await known('a\r\nb\r\nc\r\n');
    await edit(path, 'a\nb', 'x\ny\nz');
    await edit(path, 'c', 'c\r\nd');
    expect((await edit(path, 'y\r\nz', 'y\nz')).text).toContain('the strings differ only in line endings');
    expect(bench.text('f.txt')).toBe('x\r\ny\r\nz\r\nc\r\nd\r\n');
  });

  it('takes each place as it is in a file with both endings', async () => {
    const path = await known('a\nb\nc\nd\r\ne\r\n');
    await edit(path, 'a\nb', 'A\nB');
    await edit(path, 'd\ne', 'D\nE');
    expect(bench.text('f.txt')).toBe('A\nB\nc\nD\r\nE\r\n');
  });

  it('counts and replaces both endings of a file, each place in its own', async () => {
    const mixed = 'x\r\ny\r\nq\r\nx\ny\n';
    const path = await known(mixed);
    expect((await edit(path, 'x\ny', 'X\nY')).text).toContain('Found 2 matches of the string to replace');
    expect(bench.text('f.txt')).toBe(mixed);
    await edit(path, 'x\ny', 'X\nY\nZ', true);
    expect(bench.text('f.txt')).toBe('X\r\nY\r\nZ\r\nq\r\nX\nY\nZ\n');
  });

  it('keeps BOM, mode, UTF-16 and bytes that are not UTF-8', async () => {
    const path = await known('\ufeffone');
    chmodSync(path, 0o640);
    await edit(path, 'one', 'two');
    expect(bench.text('f.txt')).toBe('\ufefftwo');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    await known(Buffer.from('\ufeffé one', 'utf16le').swap16());
    await edit(path, 'é one', '😀 two');
    expect(Buffer.from(readFileSync(path)).swap16().toString('utf16le')).toBe('\ufeff😀 two');
    await known(Buffer.concat([Buffer.from([0xff, 0xe9]), Buffer.from(' é one')]));
    await edit(path, 'é one', 'ü two');
    expect(readFileSync(path)).toEqual(Buffer.concat([Buffer.from([0xff, 0xe9]), Buffer.from(' ü two')]));
  });

  it('refuses what is not unique, not there, not a change, or not known', async () => {
    const path = await known('aa\naa\n');
    expect((await edit(path, 'aa', 'b')).text).toMatch(
      /^Found 2 matches of the string to replace, but replace_all is false\..*\nString: aa$/s,
    );
    expect((await edit(path, 'zz', 'b')).text).toBe('String to replace not found in file.\nString: zz');
    expect((await edit(path, 'aa', 'aa')).text).toBe(
      'No changes to make: old_string and new_string are exactly the same.',
    );
    expect((await edit('none', 'a', 'b')).text).toContain('File does not exist. Note: your current working directory');
    bench.write('unread', 'a');
    expect((await edit('unread', 'a', 'b')).text).toContain('File has not been read yet.');
    writeFileSync(path, 'aa\nbb\n');
    expect((await edit(path, 'bb', 'c')).text).toContain('File has been modified since read,');
    expect((await edit('/dev/zero', 'a', 'b')).text).toContain('is a device, pipe or socket');
    expect((await edit(bench.folder, 'a', 'b')).text).toContain('EISDIR');
    expect(bench.text('f.txt')).toBe('aa\nbb\n');
  });

  it('shows the nearest place when the text is not there', async () => {
    const path = await known('import x\n\nfunction add(first, second) {\n  return first + second;\n}\n');
    expect((await edit(path, 'function add(a, second) {\n  return a + second;', 'x')).text).toContain(
      'The most similar text is at line 3:\n3\tfunction add(first, second) {\n4\t  return first + second;',
    );
    expect((await edit(path, 'function add(first, second) {\n\treturn first + second;', 'x')).text).toContain(
      'The same words, but other white space, are at line 3:',
    );
    expect((await edit(path, '3\tfunction add(first, second) {', 'x')).text).toContain('Leave out the line numbers');
  });

  it('says what cannot be found because it only looks so', async () => {
    const path = await known(Buffer.concat([Buffer.from('größe '), Buffer.from([0xff]), Buffer.from(' ß\n')]));
    const damaged = await edit(path, 'größe \ufffd ß', 'x');
    expect(damaged.text).toContain('U+FFFD stands for bytes of the file that are no text');
    const marked = await edit(await known('\ufeffhello\nworld\n'), '\ufeffhello', 'x');
    expect(marked.text).toContain('Leave out U+FEFF');
    const unmarked = await edit(await known('hello\nworld\n'), '\ufeffhello', 'x');
    expect(unmarked.text).toContain('Leave out U+FEFF');
    expect((await edit(await known('a \ufffd b\n'), 'a  \ufffd b', 'x')).text).toContain('but other white space');
    for (const { text } of [damaged, marked, unmarked]) expect(text).not.toContain('white space');
  });

  it('looks for the nearest place in bounded time', async () => {
    const path = await known('some line of ordinary length in a large file\n'.repeat(5_000));
    const { text } = await edit(path, `${'x'.repeat(100_000)}\n${'line of ordinary size '.repeat(3)}`, 'y');
    expect(text.length).toBeLessThan(3_000);
  });

  it('makes no file that no tool could change again', async () => {
    const path = await known('a'.repeat(60_000));
    const { text, isError } = await edit(path, 'a', 'b'.repeat(8_000), true);
    expect({ text, isError }).toEqual({
      text: expect.stringMatching(/^The file would become larger than 64MB, .*nothing was written\. Use a program/),
      isError: true,
    });
    const wide = await edit(path, 'a', '你'.repeat(500), true);
    expect(wide.text).toContain('The file would become larger than 64MB');
    expect(bench.text('f.txt')).toBe('a'.repeat(60_000));
  });

  it('says what to do about a file that is too large', async () => {
    const path = bench.write('large', '');
    truncateSync(path, 65 * 1024 * 1024);
    expect((await edit(path, 'a', 'b')).text).toBe(
      `${path} is larger than 64MB, the most that file tools can change. Use a program such as sed with Bash.`,
    );
  });

  it('takes no half characters, and no folder for a file', async () => {
    const path = await known('😀');
    const half = 'has half of a surrogate pair in its line 2. Give the whole character.';
    expect((await edit(path, '\n\ud83d', 'x')).text).toBe(`The parameter \`old_string\` ${half}`);
    expect((await edit(path, '😀', '😀\n\ude00')).text).toBe(`The parameter \`new_string\` ${half}`);
    expect((await edit('folder/', '', 'x')).text).toBe('folder/ is the name of a folder. Give the path of a file.');
    expect(readdirSync(bench.folder)).toEqual(['f.txt']);
    expect(bench.text('f.txt')).toBe('😀');
  });

  it('tells of a large change in short, and that it does so', async () => {
    const path = await known('line\n'.repeat(3_000));
    const { structured } = await edit(path, 'line', 'row', true);
    expect(structured).toMatchObject({ structuredPatchCut: true });
    expect((structured as { structuredPatch: PatchHunk[] }).structuredPatch[0]?.lines).toHaveLength(2_000);
  });

  it('judges again when it runs', async () => {
    const path = await known('a b');
    const input = { file_path: path, old_string: 'b', new_string: 'c', replace_all: false };
    expect(await editTool.enforce?.(input, bench.context())).toBeUndefined();
    writeFileSync(path, 'a b!');
    await expect(editTool.run(input, bench.context())).rejects.toThrow('File has been modified since read');
    expect(bench.text('f.txt')).toBe('a b!');
  });

  it('fails when the file is gone, and makes none', async () => {
    const path = await known('a b');
    const input = { file_path: path, old_string: 'b', new_string: 'c', replace_all: false };
    expect(await editTool.enforce?.(input, bench.context())).toBeUndefined();
    rmSync(path);
    await expect(editTool.run(input, bench.context())).rejects.toThrow('File does not exist.');
    expect(readdirSync(bench.folder)).toEqual([]);
  });

  it('gives a patch that turns the old file into the new one, whatever the edit', async () => {
    const random = createRandom(7);
    const word = () => ['a', 'b', 'ab', '\n', '\n', '\r\n', ' ', 'é'][random(8)] ?? '';
    const words = (count: number) => Array.from({ length: count }, word).join('');
    let edits = 0;
    for (let round = 0; round < 100; round += 1) {
      const before = words(1 + random(60));
      const from = random(before.length);
      const old = before.slice(from, from + 1 + random(6));
      const path = await known(before);
      const { structured, isError } = await edit(path, old, words(random(5)), true);
      if (isError === true) continue;
      edits += 1;
      const { structuredPatch } = structured as { structuredPatch: PatchHunk[] };
      expect(applyPatch(before, structuredPatch)).toBe(bench.text('f.txt'));
    }
    expect(edits).toBeGreaterThan(60);
  });
});
