import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { globTool } from '../../src/engine/tools/glob.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const glob = (pattern: string, path?: string) =>
  bench.call(globTool, path === undefined ? { pattern } : { pattern, path });

/** Files from oldest to newest. */
const files = (...names: string[]) => {
  for (const [i, name] of names.entries()) utimesSync(bench.write(name, ''), 1_000 + i, 1_000 + i);
};

describe('Glob', () => {
  it('gives the newest first, names relative to the working directory', async () => {
    files('b.ts', 'src/a.ts', 'c.js');
    const { content, structured } = await glob('*.ts');
    expect(content).toBe('src/a.ts\nb.ts');
    expect(structured).toEqual({
      filenames: ['src/a.ts', 'b.ts'],
      durationMs: expect.any(Number),
      numFiles: 2,
      truncated: false,
      totalMatches: 2,
      countIsComplete: true,
    });
  });

  it('orders equally old files by name', async () => {
    for (const name of ['b', 'a', 'c']) utimesSync(bench.write(name, ''), 1_000, 1_000);
    expect((await glob('*')).content).toBe('a\nb\nc');
  });

  it('leaves out what .gitignore names, also for patterns that match everything, with and without a repository', async () => {
    bench.write('.gitignore', 'node_modules\n*.log\n!keep.log\n');
    files('node_modules/x/i.js', 'pkg/node_modules/j.js', 'pkg/k.js', 'a.log', 'keep.log');
    expect((await glob('**/*.js')).content).toBe('pkg/k.js');
    expect((await glob('pkg/**')).content).toBe('pkg/k.js');
    expect((await glob('*.log')).content).toBe('keep.log');
    mkdirSync(bench.path('.git'));
    bench.write('.git/config', '');
    expect((await glob('**/*')).content).toBe('.gitignore\nkeep.log\npkg/k.js');
  });

  it('looks into an ignored folder that is named', async () => {
    bench.write('.gitignore', 'node_modules\n');
    files('node_modules/x/i.js');
    expect((await glob('node_modules/**/*.js')).content).toBe('node_modules/x/i.js');
  });

  it('finds hidden files', async () => {
    files('.github/w.yml', '.env');
    expect((await glob('**')).content).toBe('.env\n.github/w.yml');
  });

  it('starts at `path`, and names what is outside in full', async () => {
    files('sub/in.ts', 'out.ts');
    expect((await glob('*.ts', 'sub')).content).toBe('sub/in.ts');
    bench.cwd = bench.path('sub');
    expect((await glob('*.ts', '..')).content).toBe(`${bench.path('out.ts')}\nin.ts`);
    expect((await glob(`${bench.folder}/*.ts`)).content).toBe(bench.path('out.ts'));
  });

  it('gives 100 files at most and says how many there are', async () => {
    files(...Array.from({ length: 120 }, (_, i) => `f${i}.txt`));
    const { text, structured } = await glob('*.txt');
    expect(text.split('\n')).toHaveLength(101);
    expect(text).toMatch(/^f119\.txt\nf118\.txt\n.*\nf20\.txt\n\(100 of 120 files\./s);
    expect(structured).toMatchObject({ numFiles: 100, truncated: true, totalMatches: 120 });
  });

  it('says when there is nothing, or nowhere to look', async () => {
    expect((await glob('*.none')).content).toBe('No files found');
    expect((await glob('no/such/*.x')).content).toBe('No files found');
    files('file');
    expect((await glob('*', 'file')).text).toContain(`${bench.path('file')} is not a folder.`);
    expect((await glob('*', 'none')).isError).toBe(true);
    expect((await bench.call(globTool, { pattern: 'a\0' })).text).toContain('NUL');
  });

  it('takes patterns that ripgrep would read in another way', async () => {
    files('[x', 'a*b', 'axb', 'src/c,d', 'src/e/f.ts');
    expect((await glob('[x')).content).toBe('[x');
    expect((await glob('a\\*b')).content).toBe('a*b');
    expect((await glob('**/{c,d}')).content).toBe('No files found');
    expect((await glob('{src/e,lib}/*.{ts,js}')).content).toBe('src/e/f.ts');
    files('g.ts', 'gh.ts');
    expect((await glob('g{,h}.ts')).content).toBe('gh.ts\ng.ts');
    expect((await glob('src/')).content).toBe('src/e/f.ts\nsrc/c,d');
    expect((await glob('{a,b}'.repeat(40))).text).toContain('more than 256 patterns');
  });

  it('follows no links, and is not held up by pipes, flags for names or names that are not UTF-8', async () => {
    files('real/in', '-rf');
    symlinkSync('/', bench.path('root'));
    symlinkSync('real', bench.path('link'));
    symlinkSync('-rf', bench.path('alias'));
    execFileSync('mkfifo', [bench.path('fifo')]);
    writeFileSync(Buffer.concat([Buffer.from(`${bench.folder}/bad-`), Buffer.from([0xff])]), '');
    expect((await glob('**')).text.split('\n').toSorted()).toEqual(['-rf', 'bad-\ufffd', 'real/in']);
    expect((await glob('link/*')).content).toBe('link/in');
  });

  it('looks where permission was given, not where a link leads since', async () => {
    files('folder/inside', 'elsewhere/secret');
    bench.judged.set(bench.path('folder'), bench.path('folder'));
    renameSync(bench.path('folder'), bench.path('aside'));
    symlinkSync('elsewhere', bench.path('folder'));
    const { text, isError } = await glob('*', 'folder');
    expect(isError).toBe(true);
    expect(text).toContain('is reached through a link that appeared since it was checked; nothing was searched');
  });

  it('gives the newest of thousands', async () => {
    for (let i = 0; i < 5_100; i += 1) bench.write(`many/${i}`, '');
    for (const i of [5_099, 0, 2_500]) utimesSync(bench.path(`many/${i}`), 5e9 + i, 5e9 + i);
    const { text, structured } = await glob('many/*');
    expect(text.split('\n').slice(0, 3)).toEqual(['many/5099', 'many/2500', 'many/0']);
    expect(structured).toMatchObject({ numFiles: 100, totalMatches: 5_100, countIsComplete: true });
  });

  /** The folder `work` is searched by a program that prints and does what the test says. */
  const playSearch = (lines: string) => {
    const rg = bench.write('rg', `#!/bin/sh\n${lines}\n`);
    chmodSync(rg, 0o755);
    bench.workspace = { ...bench.workspace, ripgrep: async () => rg };
    bench.cwd = bench.path('work');
  };

  it('stops at 20,000 files, and says that newer ones may be missing', async () => {
    playSearch("seq -f ./%.0f 30000 | tr '\\n' '\\0'");
    files('work/7', 'work/12345', 'work/29999');
    const { text, structured } = await glob('*');
    expect(text).toBe(
      '12345\n7\n(The search stopped at 20,000 files: newer ones may be missing. Give a narrower path or pattern.)',
    );
    expect(structured).toMatchObject({ numFiles: 2, truncated: true, countIsComplete: false });
  });

  it('tells no names that it saw through a link which was there for a moment', async () => {
    files('work/folder/inside', 'work/folder/both', 'outside/secret', 'outside/both');
    playSearch(
      [
        'mv folder aside && ln -s ../outside folder',
        "printf './folder/inside\\0./folder/secret\\0./folder/both\\0'",
        'rm folder && mv aside folder',
      ].join('\n'),
    );
    expect((await glob('**')).content).toBe('folder/both\nfolder/inside');
  });

  it('says what is too long', async () => {
    for (const input of [{ pattern: `/${'d/'.repeat(100_000)}` }, { pattern: '*', path: 'd/'.repeat(100_000) }]) {
      const { text, isError } = await bench.call(globTool, input);
      expect(isError).toBe(true);
      expect(text).toMatch(
        /The parameter `(pattern|path)` is not valid: it has 20000[01] characters; 4096 are the most$/,
      );
    }
  });

  it('says what it reads', () => {
    expect(globTool.accesses?.({ pattern: '../x/*.ts', path: 'sub' }, { cwd: '/a' })).toEqual([
      { path: '/a/x', access: 'read' },
    ]);
  });

  it('stops when it is interrupted', async () => {
    files('a');
    const { isError } = await bench.call(globTool, { pattern: '*' }, AbortSignal.abort());
    expect(isError).toBe(true);
  });
});
