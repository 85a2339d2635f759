import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
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

  it('strips CR, decodes BOMs and UTF-16, and marks what is not UTF-8', async () => {
    const crlf = bench.write('crlf', 'a\r\nb\r\n');
    expect((await read({ file_path: crlf })).text).toBe('1\ta\n2\tb');
    const bom = bench.write('bom', '\ufeffé');
    expect((await read({ file_path: bom })).text).toBe('1\té');
    const little = bench.write('le', Buffer.from('\ufeffé\n😀', 'utf16le'));
    expect((await read({ file_path: little })).text).toBe('1\té\n2\t😀');
    const big = bench.write('be', Buffer.from('\ufeffé', 'utf16le').swap16());
    expect((await read({ file_path: big })).text).toBe('1\té');
    const latin = bench.write('latin', Buffer.from('caf\xe9 ok', 'latin1'));
    expect((await read({ file_path: latin })).text).toBe('1\tcaf\ufffd ok');
  });

  it('notes what was read, under the real path', async () => {
    const path = bench.write('real', 'x');
    symlinkSync(path, bench.path('link'));
    await read({ file_path: bench.path('link') });
    expect(bench.ledger.compare(path, Buffer.from('x'))).toBe('current');
    expect(bench.ledger.compare(path, Buffer.from('y'))).toBe('changed');
  });

  it('reads a notebook as the JSON it is', async () => {
    const path = bench.write('n.ipynb', '{"cells":[]}');
    expect((await read({ file_path: path })).text).toBe('1\t{"cells":[]}');
  });
});

describe('Read of images', () => {
  const cases: [string, string, string][] = [
    ['image/png', 'a.png', '89504e470d0a1a0a0000'],
    ['image/jpeg', 'a.jpg', 'ffd8ffe000'],
    ['image/gif', 'a.gif', '474946383961'],
    ['image/webp', 'a.webp', '524946460000000057454250'],
  ];
  it.each(cases)('%s by its content', async (type, name, hex) => {
    const bytes = Buffer.from(hex, 'hex');
    const { content, structured } = await read({ file_path: bench.write(name, bytes) });
    const data = bytes.toString('base64');
    expect(content).toEqual([{ type: 'image', source: { type: 'base64', media_type: type, data } }]);
    expect(structured).toEqual({ type: 'image', file: { base64: data, type, originalSize: bytes.length } });
  });

  it('refuses one that a model API would refuse', async () => {
    const bytes = Buffer.alloc(4 * 1024 * 1024);
    bytes.set(Buffer.from('89504e470d0a1a0a', 'hex'));
    const { text, isError } = await read({ file_path: bench.write('big.png', bytes) });
    expect({ text, isError }).toEqual({
      text: expect.stringContaining('(4MB) is too large to be shown'),
      isError: true,
    });
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

  it('binary files and PDF', async () => {
    const path = bench.write('x.dat', Buffer.from([65, 0, 66]));
    expect(await refusal({ file_path: path })).toContain('The file appears to be a binary .dat file.');
    expect(await refusal({ file_path: bench.write('x.pdf', '%PDF-1.7\n') })).toContain('PDF files cannot be read');
  });

  it('more than 256 KB at once', async () => {
    const path = bench.write('big.txt', 'x'.repeat(99).concat('\n').repeat(5_000));
    expect(await refusal({ file_path: path })).toContain(
      'File content (488.3KB) exceeds maximum allowed size (256KB). Use offset and limit',
    );
    expect((await read({ file_path: path, offset: 4_000, limit: 2 })).text).toMatch(/^4000\tx+\n4001\tx+$/);
    expect(await refusal({ file_path: path, limit: 5_000 })).toContain('exceeds maximum allowed size');
  });

  it('a file too large even for a part', async () => {
    const path = bench.path('huge');
    execFileSync('truncate', ['-s', '10G', path]);
    expect(await refusal({ file_path: path, limit: 1 })).toContain('(10240MB) is too large for Read');
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
