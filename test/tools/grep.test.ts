import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { grepTool } from '../../src/engine/tools/grep.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { until } from '../workspace/running.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const grep = (pattern: string, input: object = {}) => bench.call(grepTool, { pattern, ...input });
const content = { output_mode: 'content' };

describe('Grep: files with matches', () => {
  it('gives the newest first', async () => {
    utimesSync(bench.write('old.txt', 'needle'), 1_000, 1_000);
    utimesSync(bench.write('sub/new.txt', 'needle'), 2_000, 2_000);
    bench.write('other.txt', 'hay');
    const { content: text, structured } = await grep('needle');
    expect(text).toBe('Found 2 files\nsub/new.txt\nold.txt');
    expect(structured).toEqual({
      mode: 'files_with_matches',
      filenames: ['sub/new.txt', 'old.txt'],
      numFiles: 2,
      totalFiles: 2,
    });
  });

  it('says when there are none', async () => {
    bench.write('a', 'hay');
    const { content: text, isError, structured } = await grep('needle');
    expect({ text, isError }).toEqual({ text: 'No files found', isError: undefined });
    expect(structured).toEqual({ mode: 'files_with_matches', filenames: [], numFiles: 0, totalFiles: 0 });
  });

  it('limits and skips', async () => {
    for (let i = 0; i < 5; i += 1) utimesSync(bench.write(`f${i}`, 'x'), 1_000 - i, 1_000 - i);
    expect((await grep('x', { head_limit: 2, offset: 1 })).content).toBe('Found 5 files\nf1\nf2\n(2 to 3 of 5)');
    expect((await grep('x', { head_limit: 0 })).text.split('\n')).toHaveLength(6);
    expect((await grep('x', { offset: 9 })).content).toBe('Found 5 files\n(There are only 5.)');
  });
});

describe('Grep: content', () => {
  beforeEach(() => {
    bench.write('b.txt', 'one\ntwo needle\nthree\nfour\nfive\nneedle six\n');
    bench.write('a.txt', 'a Needle\n');
  });

  it('gives path, line and text in the order of names', async () => {
    const { content: text, structured } = await grep('needle', { ...content, '-i': true });
    expect(text).toBe('a.txt:1:a Needle\nb.txt:2:two needle\nb.txt:6:needle six');
    expect(structured).toEqual({
      mode: 'content',
      numFiles: 2,
      filenames: ['a.txt', 'b.txt'],
      content: text,
      numLines: 3,
    });
  });

  it('gives context', async () => {
    expect((await grep('two', { ...content, '-A': 1 })).content).toBe('b.txt:2:two needle\nb.txt-3-three');
    expect((await grep('two', { ...content, '-B': 1 })).content).toBe('b.txt-1-one\nb.txt:2:two needle');
    const around = 'b.txt-1-one\nb.txt:2:two needle\nb.txt-3-three';
    expect((await grep('two', { ...content, '-C': 1 })).content).toBe(around);
    expect((await grep('two', { ...content, context: 1 })).content).toBe(around);
    expect((await grep('needle', { ...content, context: 1, path: 'b.txt' })).content).toBe(
      `${around}\n--\nb.txt-5-five\nb.txt:6:needle six`,
    );
  });

  it('marks the gaps in the context, also between files, and none at the end', async () => {
    bench.write('c.txt', 'needle\nx\ny\nneedle\n');
    const input = { ...content, context: 1, glob: '[bc].txt' };
    const groups = ['b.txt-1-one\nb.txt:2:two needle\nb.txt-3-three', 'b.txt-5-five\nb.txt:6:needle six'];
    const all = [...groups, 'c.txt:1:needle\nc.txt-2-x\nc.txt-3-y\nc.txt:4:needle'].join('\n--\n');
    expect((await grep('needle', input)).content).toBe(all);
    const { text, structured } = await grep('needle', { ...input, head_limit: 5 });
    expect(text).toBe(`${groups.join('\n--\n')}\n(1 to 5 of 9)`);
    expect(structured).toMatchObject({ numLines: 5, filenames: ['b.txt'] });
    expect((await grep('needle', { ...content, glob: '[bc].txt' })).text).not.toContain('--');
  });

  it('leaves out numbers, or all but the match', async () => {
    expect((await grep('two', { ...content, '-n': false, '-A': 1 })).content).toBe('b.txt:two needle\nb.txt-three');
    expect((await grep('n.e', { ...content, '-o': true })).content).toBe('b.txt:2:nee\nb.txt:6:nee');
  });

  it('matches over lines', async () => {
    expect((await grep('three.*five', { ...content, multiline: true })).content).toBe(
      'b.txt:3:three\nb.txt:4:four\nb.txt:5:five',
    );
    expect((await grep('three.*five', content)).content).toBe('No matches found');
  });

  it('searches one file, an absolute path, and a pattern that looks like a flag', async () => {
    expect((await grep('needle', { ...content, path: 'b.txt', head_limit: 1 })).text).toMatch(/^b\.txt:2:two needle\n/);
    bench.cwd = '/';
    expect((await grep('one', { ...content, path: bench.folder })).text).toContain('b.txt:1:one');
    expect((await grep('--files', { ...content, path: bench.folder })).content).toBe('No matches found');
  });

  it('takes line ends in names', async () => {
    bench.write('new\nline', 'mark\nnext\n');
    bench.write('other', 'mark\n');
    expect((await grep('mark', { ...content, '-A': 1 })).content).toBe(
      'new\nline:1:mark\nnew\nline-2-next\n--\nother:1:mark',
    );
    const { text, structured } = await grep('mark', { output_mode: 'count' });
    expect(text).toBe('new\nline:1\nother:1\n\nFound 2 total occurrences across 2 files.');
    expect(structured).toMatchObject({ filenames: ['new\nline', 'other'], numFiles: 2 });
  });

  it('keeps names with colons and lines with numbers apart', async () => {
    bench.write('c:1:x', '12:34 mark\n56-78\n');
    expect((await grep('mark', { ...content, '-A': 1 })).content).toBe('c:1:x:1:12:34 mark\nc:1:x-2-56-78');
  });

  it('bounds long lines, many lines and a flood', async () => {
    bench.write('long', `flood ${'x'.repeat(5_000)}\n`);
    expect((await grep('flood', content)).text.length).toBeLessThan(700);
    bench.write('many', 'flood\n'.repeat(1_000));
    const { text } = await grep('flood', { ...content, path: 'many' });
    expect(text).toMatch(/\nmany:250:flood\n\(1 to 250 of 1000\)$/);
    const all = await grep('flood', { ...content, path: 'many', head_limit: 0 });
    expect(all.text.length).toBeLessThanOrEqual(30_000);
    bench.write('flood', `${'flood '.repeat(70)}\n`.repeat(60_000));
    expect((await grep('flood', content)).text).toContain('The search was not finished');
  });
});

describe('Grep: count', () => {
  it('counts matches per file and in all', async () => {
    bench.write('a', 'x x\n');
    bench.write('b', 'x\n');
    const { content: text, structured } = await grep('x', { output_mode: 'count' });
    expect(text).toBe('a:2\nb:1\n\nFound 3 total occurrences across 2 files.');
    expect(structured).toEqual({
      mode: 'count',
      numFiles: 2,
      filenames: ['a', 'b'],
      content: 'a:2\nb:1',
      numMatches: 3,
    });
    expect((await grep('none', { output_mode: 'count' })).content).toBe('No matches found');
    expect((await grep('x', { output_mode: 'count', path: 'b' })).content).toBe(
      'b:1\n\nFound 1 total occurrence across 1 file.',
    );
  });
});

describe('Grep: which files', () => {
  const names = async (input: object) => {
    const { structured } = await grep('x', input);
    return (structured as { filenames: string[] }).filenames.toSorted();
  };

  beforeEach(() => {
    bench.write('.gitignore', 'node_modules\n*.log\n');
    for (const name of ['a.ts', 'b.js', 'c.log', '.hidden', 'src/d.ts', 'src/deep/e.tsx', 'src/node_modules/f.ts']) {
      bench.write(name, 'x');
    }
    bench.write('.git/g', 'x');
  });

  it('takes all but ignored files and .git', async () => {
    expect(await names({})).toEqual(['.hidden', 'a.ts', 'b.js', 'src/d.ts', 'src/deep/e.tsx']);
  });

  const cases: [object, string[]][] = [
    [{ glob: '*.ts' }, ['a.ts', 'src/d.ts']],
    [{ glob: '*.{ts,tsx}' }, ['a.ts', 'src/d.ts', 'src/deep/e.tsx']],
    [{ glob: '**/*.ts' }, ['a.ts', 'src/d.ts']],
    [{ glob: 'src/**/*.ts' }, ['src/d.ts']],
    [{ glob: 'src/**' }, ['src/d.ts', 'src/deep/e.tsx']],
    [{ glob: '**/*' }, ['.hidden', 'a.ts', 'b.js', 'src/d.ts', 'src/deep/e.tsx']],
    [{ glob: '*.log' }, []],
    [{ glob: 'src/*/*.tsx' }, ['src/deep/e.tsx']],
    [{ glob: '{src,lib}/**' }, ['src/d.ts', 'src/deep/e.tsx']],
    [{ glob: '*/*.ts' }, ['src/d.ts']],
    [{ glob: 'src/../*.{js,log}' }, ['b.js']],
    [{ glob: 'src/d.ts' }, ['src/d.ts']],
    [{ glob: '!*.ts' }, ['.hidden', 'b.js', 'src/deep/e.tsx']],
    [{ glob: '*.ts,*.tsx' }, ['a.ts', 'src/d.ts', 'src/deep/e.tsx']],
    [{ glob: 'src/*.ts, *.js' }, ['b.js', 'src/d.ts']],
    [{ glob: '*.ts,!src/**' }, ['a.ts']],
    [{ glob: '!*.ts,!*.tsx' }, ['.hidden', 'b.js']],
    [{ glob: 'none/**' }, []],
    [{ type: 'js' }, ['b.js']],
    [{ type: 'ts', glob: 'a.*' }, ['a.ts']],
    [{ type: 'log', glob: '*.log' }, []],
    [{ type: 'ts', glob: 'src/**' }, ['src/d.ts', 'src/deep/e.tsx']],
    [{ path: 'src' }, ['src/d.ts', 'src/deep/e.tsx']],
    [{ path: 'src', glob: 'deep/*' }, ['src/deep/e.tsx']],
    [{ path: 'c.log' }, ['c.log']],
  ];
  it.each(cases)('%j', async (input, expected) => {
    expect(await names(input)).toEqual(expected);
  });

  it('says what it reads', () => {
    const accesses = grepTool.accesses?.({ pattern: 'x', path: 'p', glob: '../q/*.ts' }, { cwd: '/a' });
    expect(accesses?.map(({ path }) => path)).toEqual(['/a/p', '/a/q']);
  });
});

/** The clock of the system has ticked since the folder was changed. */
const untilOld = (folder: string) => until(() => Date.now() > statSync(folder).ctimeMs + 40);

describe('Grep: what is hard to search', () => {
  it('follows no links, and is not held up by pipes or flags for names', async () => {
    bench.write('real/in', 'x');
    bench.write('-rf', 'x');
    symlinkSync('/', bench.path('root'));
    symlinkSync('real', bench.path('link'));
    symlinkSync('-rf', bench.path('alias'));
    execFileSync('mkfifo', [bench.path('fifo')]);
    expect((await grep('x')).text.split('\n').toSorted()).toEqual(['-rf', 'Found 2 files', 'real/in']);
    expect((await grep('x', { ...content, path: '-rf' })).content).toBe('-rf:1:x');
    expect((await grep('x', { path: 'link' })).content).toBe('Found 1 file\nlink/in');
    expect((await grep('x', { ...content, path: 'alias' })).content).toBe('alias:1:x');
    expect((await grep('x', { path: 'fifo' })).text).toContain('is a device, pipe or socket');
  });

  it('looks where permission was given, not where a link leads since', async () => {
    bench.write('folder/inside', 'x');
    bench.write('elsewhere/secret', 'x');
    bench.judged.set(bench.path('folder'), bench.path('folder'));
    renameSync(bench.path('folder'), bench.path('aside'));
    symlinkSync('elsewhere', bench.path('folder'));
    const { text, isError } = await grep('x', { path: 'folder' });
    expect(isError).toBe(true);
    expect(text).toContain('is reached through a link that appeared since it was checked; nothing was searched');
    bench.judged.set(bench.path('aside/inside'), bench.path('aside/inside'));
    renameSync(bench.path('aside/inside'), bench.path('aside/other'));
    symlinkSync('../elsewhere/secret', bench.path('aside/inside'));
    expect((await grep('x', { ...content, path: 'aside/inside' })).text).toContain('nothing was searched');
  });

  it('reads invalid UTF-8, tells of binary files that are named, and leaves out others', async () => {
    bench.write('bad.txt', Buffer.from([0x78, 0xff, 0x0a]));
    bench.write('binary', 'x\0x\n');
    writeFileSync(Buffer.concat([Buffer.from(`${bench.folder}/name-`), Buffer.from([0xff])]), 'x\n');
    await untilOld(bench.folder);
    expect((await grep('x', content)).content).toBe('bad.txt:1:x\ufffd\nname-\ufffd:1:x');
    bench.write('new.txt', 'x');
    expect((await grep('x', content)).content).toBe(
      'bad.txt:1:x\ufffd\nnew.txt:1:x\n(1 file left out: changed while searched, or with a name that is not UTF-8.)',
    );
    expect((await grep('x', { ...content, path: 'binary' })).text).toMatch(/^binary: binary file matches \(found /);
    expect((await grep('x', { path: 'binary' })).content).toBe('Found 1 file\nbinary');
    expect((await grep('x', { output_mode: 'count', path: 'binary' })).text).toMatch(/^binary:2\n/);
  });

  const [start, end] = ['[omitted start of long line ...] ', ' [... omitted end of long line]'];

  it('shows lines of a megabyte around the match', async () => {
    bench.write('long', `needle ${'x'.repeat(1_000_000)}\n${'y'.repeat(1_000_000)} needle\n`);
    const shown = [`1:needle ${'x'.repeat(493)}${end}`, `2:${start}${'y'.repeat(149)} needle`];
    for (const path of [undefined, 'long']) {
      const { text } = await grep('needle', { ...content, path });
      expect(text.split('\n')).toEqual(shown.map((line) => `long:${line}`));
    }
    expect((await grep('needle', { ...content, '-o': true })).content).toBe('long:1:needle\nlong:2:needle');
    expect((await grep('x$', { ...content, '-A': 1 })).text.split('\n')[1]).toBe(`long-2-${'y'.repeat(500)}${end}`);
  });

  it('shows the start of long lines in huge files', async () => {
    bench.write('huge', `${'y'.repeat(9_000_000)} needle\n`);
    expect((await grep('needle', content)).content).toBe(`huge:1:${'y'.repeat(500)}${end}`);
  });

  const explosive = ['(x+x+)+y', '(a|a)*b', '(.*){500}z', '(x{100}){100}y'];
  it.each(explosive)('answers %s on a long line', async (pattern) => {
    bench.write('long', 'x'.repeat(100_000));
    expect((await grep(pattern)).content).toBe('No files found');
  });

  it('refuses expressions that are too large', async () => {
    bench.write('a', 'x');
    const { text, isError } = await grep('(((a{100}){100}){100}){100}');
    expect(isError).toBe(true);
    expect(text).toContain('exceeds size limit');
  });

  it('stops when it is interrupted', async () => {
    const rg = bench.write('slow-rg', '#!/bin/sh\ntouch started\nexec sleep 60\n');
    execFileSync('chmod', ['+x', rg]);
    bench.workspace = { ...bench.workspace, ripgrep: async () => rg };
    const interrupt = new AbortController();
    const call = bench.call(grepTool, { pattern: 'x' }, interrupt.signal);
    await until(() => existsSync(bench.path('started')));
    interrupt.abort();
    expect(await call).toMatchObject({ isError: true, text: 'The search was interrupted.' });
  });

  it('says that ripgrep is missing', async () => {
    const missing = new HeddleError('ripgrep_missing', 'ripgrep was not found.');
    bench.workspace = { ...bench.workspace, ripgrep: () => Promise.reject(missing) };
    expect(await grep('x')).toMatchObject({ isError: true, text: 'ripgrep was not found.' });
  });
});

describe('Grep refuses', () => {
  it('bad expressions, unknown types, missing paths, wrong input', async () => {
    bench.write('a', 'x');
    const { text, isError } = await grep('(');
    expect(isError).toBe(true);
    expect(text).toMatch(/^regex parse error:[^]*unclosed group/);
    expect((await grep('x', { type: 'nope' })).text).toContain('unrecognized file type: nope');
    expect((await grep('x', { path: 'none' })).text).toContain(`Path does not exist: ${bench.path('none')}.`);
    expect((await grep('x', { path: '/dev/zero' })).text).toContain('is a device, pipe or socket');
    expect((await grep('x', { output_mode: 'lines' })).text).toContain('The parameter `output_mode` is not valid');
    expect((await grep('x', { '-A': -1 })).text).toContain('`-A`');
    expect((await grep('a\0b')).text).toContain('NUL');
    const long = 'd/'.repeat(100_000);
    expect((await grep('x', { path: long, glob: long })).text).toMatch(
      /`path` is not valid: it has 200000 [^]*`glob` is/,
    );
  });
});
