import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTool } from '../../src/engine/tools/read.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const read = (input: object) => bench.call(readTool, input);

describe('Read of text', () => {
  it('numbers the lines', async () => {
    const path = bench.write('a.txt', 'one\ntwo\n');
    const { content, isError, structured } = await read({ file_path: path });
    expect(content).toBe('1\tone\n2\ttwo');
    expect(isError).toBeUndefined();
    expect(structured).toEqual({
      type: 'text',
      file: { filePath: path, content: 'one\ntwo', numLines: 2, startLine: 1, totalLines: 2 },
    });
  });

  it('takes paths relative to the working directory', async () => {
    bench.write('sub/a.txt', 'here');
    bench.cwd = bench.path('sub');
    expect((await read({ file_path: 'a.txt' })).content).toBe('1\there');
  });

  it('gives the part that was asked for', async () => {
    const path = bench.write('a.txt', 'a\nb\nc\nd\n');
    const { content, structured } = await read({ file_path: path, offset: 2, limit: 2 });
    expect(content).toBe('2\tb\n3\tc');
    expect(structured).toMatchObject({ file: { content: 'b\nc', numLines: 2, startLine: 2, totalLines: 4 } });
    expect((await read({ file_path: path, offset: 0, limit: 1 })).content).toBe('1\ta');
  });

  it('stops after 2,000 lines and says so', async () => {
    const path = bench.write('a.txt', Array.from({ length: 2_500 }, (_, i) => `l${i + 1}`).join('\n'));
    const { text } = await read({ file_path: path });
    expect(text).toMatch(/\n2000\tl2000\n\n\[Lines 1 to 2000 of 2500\. Use offset and limit to read more\.\]$/);
    expect((await read({ file_path: path, offset: 2_500 })).text).toBe('2500\tl2500');
  });

  it('cuts long lines without splitting a character', async () => {
    const path = bench.write('a.txt', `${'x'.repeat(1_999)}😀tail`);
    const { text } = await read({ file_path: path });
    expect(text).toBe(`1\t${'x'.repeat(1_999)}... [cut: this line has 2,005 characters]`);
    expect(text.isWellFormed()).toBe(true);
  });

  it('counts the lines as they are, not with the notes on what was cut', async () => {
    const path = bench.write('a.txt', `${'y'.repeat(2_001)}\n`.repeat(130));
    const { text, isError } = await read({ file_path: path });
    expect(isError, text.slice(0, 200)).toBeUndefined();
    expect(text).toMatch(/\n130\ty{2000}\.\.\. \[cut: this line has 2,001 characters\]$/);
  });

  it('reminds of an empty file and of an offset beyond the end', async () => {
    const empty = bench.write('empty', '');
    const { text, isError, structured } = await read({ file_path: empty });
    expect(text).toBe('<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>');
    expect(isError).toBeUndefined();
    expect(structured).toMatchObject({ file: { numLines: 0, totalLines: 0 } });
    const short = bench.write('short', 'a\nb\nc\n');
    expect((await read({ file_path: short, offset: 100 })).text).toContain(
      'is shorter than the provided offset (100). The file has 3 lines.',
    );
  });

  it('strips CR, decodes what is not UTF-8, and says so', async () => {
    const crlf = bench.write('crlf', 'a\r\nb\r\n');
    expect((await read({ file_path: crlf })).text).toBe('1\ta\n2\tb');
    const bom = bench.write('bom', '\ufeffé');
    expect((await read({ file_path: bom })).text).toBe('1\té');
    const little = bench.write('le', Buffer.from('\ufeffé\n😀', 'utf16le'));
    expect((await read({ file_path: little })).text).toBe('1\té\n2\t😀\n\n[The file is in UTF-16 LE.]');
    const big = bench.write('be', Buffer.from('without a mark', 'utf16le').swap16());
    expect((await read({ file_path: big })).text).toBe('1\twithout a mark\n\n[The file is in UTF-16 BE.]');
    const latin = bench.write('latin', Buffer.from('caf\xe9 ok\n\x80', 'latin1'));
    const { text, structured } = await read({ file_path: latin });
    expect(text).toBe('1\tcafé ok\n2\t€\n\n[The file is not UTF-8: it is shown as Windows-1252.]');
    expect(structured).toMatchObject({ file: { content: 'café ok\n€', totalLines: 2 } });
    const part = await read({
      file_path: bench.write('part', Buffer.from('\xe9\n\x93a\x94\r\n\xe9', 'latin1')),
      offset: 2,
      limit: 1,
    });
    expect(part.text).toContain('2\t“a”\n');
    const damaged = bench.write('damaged', Buffer.concat([Buffer.from('é'), Buffer.from([0xff])]));
    expect((await read({ file_path: damaged })).text).toContain('1\té\ufffd\n\n[The file is damaged UTF-8');
  });

  it('notes what was read, under the real path', async () => {
    const path = bench.write('real', 'x');
    symlinkSync(path, bench.path('link'));
    await read({ file_path: bench.path('link') });
    expect(bench.ledger.compare(path, Buffer.from('x'))).toBe('current');
    expect(bench.ledger.compare(path, Buffer.from('y'))).toBe('changed');
  });

  it('keeps empty lines and numbers them as they are in the file', async () => {
    const path = bench.write('a.txt', '\n\na\r\n\n');
    expect((await read({ file_path: path })).text).toBe('1\t\n2\t\n3\ta\n4\t');
    expect((await read({ file_path: path, offset: 4, limit: 9 })).text).toBe('4\t');
    expect((await read({ file_path: bench.write('cr', '\r') })).text).toBe('1\t');
  });

  it('gives a part of a large file', async () => {
    const path = bench.write('a.txt', `${'x'.repeat(99)}\n`.repeat(400_000));
    const { text, structured } = await read({ file_path: path, offset: 399_999 });
    expect(text).toBe(`399999\t${'x'.repeat(99)}\n400000\t${'x'.repeat(99)}`);
    expect(structured).toMatchObject({ file: { numLines: 2, startLine: 399_999, totalLines: 400_000 } });
    const one = bench.write('one-line', 'é'.repeat(10_000_000));
    expect((await read({ file_path: one, limit: 1 })).text).toBe(
      `1\t${'é'.repeat(2_000)}... [cut: this line has 10,000,000 characters]`,
    );
  });

  it('reads SVG as the text it is', async () => {
    expect((await read({ file_path: bench.write('a.svg', '<svg/>') })).text).toBe('1\t<svg/>');
  });

  it('reads what permission judged, and nothing that a link leads to since', async () => {
    const path = bench.write('inside/a.txt', 'mine');
    const outside = bench.write('outside/a.txt', 'theirs');
    bench.judged.set(path, path);
    rmSync(path);
    symlinkSync(outside, path);
    const { text, isError } = await read({ file_path: path });
    expect({ text, isError }).toEqual({ text: expect.stringContaining('ELOOP'), isError: true });
    expect(bench.ledger.compare(path, Buffer.from('theirs'))).toBe('unread');
  });
});

describe('Read refuses', () => {
  const refusal = async (input: object): Promise<string> => {
    const { text, isError } = await read(input);
    expect(isError).toBe(true);
    return text;
  };

  it('a missing file, and suggests a similar one', async () => {
    bench.write('settings.json', '{}');
    const missing = `File does not exist. Note: your current working directory is ${bench.folder}.`;
    expect(await refusal({ file_path: 'unlike-anything' })).toBe(missing);
    expect(await refusal({ file_path: 'no/such/folder' })).toBe(missing);
    expect(await refusal({ file_path: 'settings.jsn' })).toBe(
      `${missing} Did you mean ${bench.path('settings.json')}?`,
    );
    expect(await refusal({ file_path: 'Setings.json' })).toContain('Did you mean');
  });

  it('folders, FIFOs and devices, without opening them', async () => {
    expect(await refusal({ file_path: bench.folder })).toContain(
      `EISDIR: illegal operation on a directory, read '${bench.folder}'`,
    );
    execFileSync('mkfifo', [bench.path('fifo')]);
    expect(await refusal({ file_path: 'fifo' })).toContain('is a device, pipe or socket');
    expect(await refusal({ file_path: '/dev/zero' })).toContain('is a device, pipe or socket');
  });

  it('binary files', async () => {
    const path = bench.write('x.dat', Buffer.from([65, 0, 66]));
    expect(await refusal({ file_path: path })).toContain('The file appears to be a binary .dat file.');
    expect(await refusal({ file_path: bench.write('data', Buffer.alloc(9)) })).toContain('to be a binary file.');
    // The model knows what it is, so that Write may replace it.
    expect(bench.ledger.compare(path, Buffer.from([65, 0, 66]))).toBe('current');
  });

  it('more than 256 KB at once', async () => {
    const path = bench.write('big.txt', 'x'.repeat(99).concat('\n').repeat(5_000));
    expect(await refusal({ file_path: path })).toContain(
      'File content (488.3KB) exceeds maximum allowed size (256KB). Use offset and limit',
    );
    // A part of it can be read, and must be before it is changed.
    expect(bench.ledger.compare(path, readFileSync(path))).toBe('unread');
    expect((await read({ file_path: path, offset: 4_000, limit: 2 })).text).toMatch(/^4000\tx+\n4001\tx+$/);
    expect(await refusal({ file_path: path, limit: 5_000 })).toContain('exceeds maximum allowed size');
    expect(await refusal({ file_path: bench.write('just', 'x\n'.repeat(131_072).concat('x')) })).toContain(
      'File content (over 256KB) exceeds maximum allowed size (256KB).',
    );
    const empty = bench.write('empty-lines', '\n'.repeat(1_000_000));
    expect(await refusal({ file_path: empty, limit: 1_000_000 })).toContain('exceeds maximum allowed size');
  });

  it('a file too large even for a part', async () => {
    const path = bench.path('huge');
    execFileSync('truncate', ['-s', '10G', path]);
    expect(await refusal({ file_path: path, limit: 1 })).toContain(
      'File content (10240MB) is too large: at most 64MB can be read. Use Grep',
    );
  });

  it('a file that vanishes after it was judged', async () => {
    const path = bench.write('a.txt', 'a');
    bench.judged.set(path, path);
    rmSync(path);
    expect(await refusal({ file_path: path })).toContain('File does not exist.');
    expect(await refusal({ file_path: bench.path('a.txt', 'b') })).toContain('File does not exist.');
  });

  it('wrong input, saying which field and why', async () => {
    const start = 'InputValidationError: Read failed due to the following issue:\n';
    expect(await refusal({})).toBe(`${start}The required parameter \`file_path\` is missing`);
    expect(await refusal({ file_path: 'a', bogus: 1 })).toBe(`${start}An unexpected parameter \`bogus\` was provided`);
    expect(await refusal({ file_path: 'a', offset: '2' })).toBe(
      `${start}The parameter \`offset\` type is expected as \`number\` but provided as \`string\``,
    );
    expect(await refusal({ file_path: 'a\0b' })).toBe(
      `${start}The parameter \`file_path\` is not valid: it must not contain a NUL character`,
    );
    expect(await refusal({ limit: 1.5 })).toBe(
      'InputValidationError: Read failed due to the following issues:\n' +
        'The required parameter `file_path` is missing\n' +
        'The parameter `limit` type is expected as `integer` but provided as `number`',
    );
    expect(await refusal([])).toBe(`${start}The input is expected as \`object\` but provided as \`array\``);
  });
});
