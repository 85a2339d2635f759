import { describe, expect, it } from 'vitest';
import { createRecordReader, type FoundLine, type RecordTaker } from '../../src/engine/tools/search-records.js';

/** What is read when the output comes in pieces of this size. */
function readLines(output: string, size: number, options: Omit<RecordTaker, 'onLine'> = {}) {
  const found: (FoundLine & { name: string })[] = [];
  const reader = createRecordReader({ ...options, onLine: (name, line) => found.push({ name, ...line }) > 0 });
  const bytes = Buffer.from(output);
  for (let at = 0; at < bytes.length; at += size) reader.add(bytes.subarray(at, at + size));
  reader.end();
  return found;
}

const SIZES = [1, 2, 7, 64, 1_000, 65_536];

describe('names', () => {
  it.each(SIZES)('in pieces of %i bytes', (size) => {
    const names: string[] = [];
    const reader = createRecordReader({ onName: (name) => names.push(name) > 0 });
    const bytes = Buffer.from('./a\0./b/new\nline\0./c\0./c\0');
    for (let at = 0; at < bytes.length; at += size) reader.add(bytes.subarray(at, at + size));
    reader.end();
    expect(names).toEqual(['a', 'b/new\nline', 'c', 'c']);
  });

  it('ends when no more is wanted', () => {
    const names: string[] = [];
    const reader = createRecordReader({ onName: (name) => names.push(name) < 2 });
    expect(reader.add(Buffer.from('./a\0'))).toBe(true);
    expect(reader.add(Buffer.from('./b\0./c\0'))).toBe(false);
    expect(names).toEqual(['a', 'b']);
  });
});

describe('lines', () => {
  it.each(SIZES)('with their names, in pieces of %i bytes', (size) => {
    const output = './a\x001:x é\n./a\x002-12:5:near\n./new\nline\x007:--\n./new\nline\x0042\n';
    expect(readLines(output, size)).toEqual([
      { name: 'a', number: 1, isMatch: true, text: 'x é' },
      { name: 'a', number: 2, isMatch: false, text: '12:5:near' },
      { name: 'new\nline', number: 7, isMatch: true, text: '--' },
      { name: 'new\nline', isMatch: true, text: '42' },
    ]);
  });

  it('with columns', () => {
    expect(readLines('./a\x001:3:x y\n./a\x002-4:5:near\n', 64, { hasColumns: true })).toEqual([
      { name: 'a', number: 1, isMatch: true, text: 'x y' },
      { name: 'a', number: 2, isMatch: false, text: '4:5:near' },
    ]);
  });

  it('tells remarks about binary files from names', () => {
    const stopped = 'WARNING: stopped searching binary file after match (found "\\0" byte around offset 7)';
    const matches = 'binary file matches (found "\\0" byte around offset 9)';
    const output = `./a\x001:x\n./a: ${stopped}\n./b\x002:y\n./c\nd: ${matches}\n`;
    for (const size of SIZES) {
      expect(readLines(output, size)).toEqual([
        { name: 'a', number: 1, isMatch: true, text: 'x' },
        { name: 'a', isMatch: true, text: stopped },
        { name: 'b', number: 2, isMatch: true, text: 'y' },
        { name: 'c\nd', isMatch: true, text: matches },
      ]);
    }
  });
});

describe('long lines with columns', () => {
  const textsOf = (lines: string[], options: Omit<RecordTaker, 'onLine'> = {}): string[] => {
    const output = lines.map((line) => `./a\0${line}\n`).join('');
    const [first = [], ...others] = SIZES.map((size) => readLines(output, size, { ...options, hasColumns: true }));
    for (const other of others) expect(other).toEqual(first);
    return first.map(({ text }) => text);
  };
  const [start, end] = ['[omitted start of long line ...] ', ' [... omitted end of long line]'];
  const [a, b] = ['a'.repeat(10_000), 'b'.repeat(10_000)];

  it('are shown around the match', () => {
    expect(textsOf([`1:10001:${a}needle${b}`, `2:1:needle${b}`, `3:10001:${a}needle`, `4-${a}`])).toEqual([
      `${start}${'a'.repeat(150)}needle${'b'.repeat(344)}${end}`,
      `needle${'b'.repeat(494)}${end}`,
      `${start}${'a'.repeat(150)}needle`,
      `${'a'.repeat(500)}${end}`,
    ]);
  });

  it('begin at 501 bytes', () => {
    const line = `${'a'.repeat(490)}needle????`;
    expect(textsOf([`1:491:${line}`, `2:491:${line}!`])).toEqual([line, `${start}${'a'.repeat(150)}needle????!`]);
  });

  it('are cut between characters', () => {
    const e = 'é'.repeat(10_000);
    const [even = '', odd = ''] = textsOf([`1:20001:${e}needle${e}`, `2:20002:${e} needle${e}`]);
    expect(even).toBe(`${start}${'é'.repeat(75)}needle${'é'.repeat(172)}${end}`);
    expect(odd).toBe(`${start}${'é'.repeat(74)} needle${'é'.repeat(172)}${end}`);
  });

  it('start anew where a match goes on', () => {
    const lines = [`1:10001:${a}x`, `2:10001:${b}`];
    const first = `${start}${'a'.repeat(150)}x`;
    expect(textsOf(lines, { isMultiline: true })).toEqual([first, `${'b'.repeat(500)}${end}`]);
    expect(textsOf(lines)).toEqual([first, `${start}${'b'.repeat(150)}`]);
  });
});
