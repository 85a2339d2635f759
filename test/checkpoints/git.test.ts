import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, createBench } from './kit.js';

let bench: Bench;

beforeEach(() => {
  bench = createBench();
  bench.git('init', '-q', '-b', 'main');
  bench.put('a.txt', 'one\n');
  bench.put('src/b.txt', 'one\n');
});

afterEach(async () => {
  expect(bench.warnings).toEqual([]);
  await bench.close();
});

const commit = (): void => {
  bench.git('add', '-A');
  bench.git('commit', '-qm', 'x');
};

/** Runs a line in a turn and rewinds it. */
async function roundTrip(line: string) {
  const before = bench.tree();
  await bench.turn('p0', () => bench.shell(line));
  const result = await bench.checkpoints.rewind('p0');
  return { before, result, after: bench.tree() };
}

describe('commands of git (F8)', () => {
  it.each([
    ['checkout of a branch', 'git checkout -q other'],
    ['a commit', 'echo x >> a.txt; git add -A; git commit -qm y; echo y >> a.txt'],
    ['a stash', 'git stash -qu'],
    ['a reset', 'git reset -q --hard HEAD~1'],
    ['clean', 'git clean -qfdx'],
    ['checkout of a dirty file', 'git checkout -q -- dirty.txt'],
    ['rm', 'git rm -q a.txt'],
  ])('%s: files come back, and git itself is said to stay', async (_name, line) => {
    bench.put('dirty.txt', 'clean\n');
    commit();
    bench.git('checkout', '-qb', 'other');
    bench.put('a.txt', 'other\n');
    bench.put('only-other', 'x');
    rmSync(bench.path('src'), { recursive: true });
    commit();
    bench.git('checkout', '-q', 'main');
    bench.put('c.txt', 'c\n');
    commit();
    bench.put('dirty.txt', 'dirty\n');
    bench.put('loose.txt', 'loose\n');
    const { before, after, result } = await roundTrip(line);
    expect(after).toEqual(before);
    const left = result.notRestored?.map(({ path }) => path) ?? [];
    const moves = /checkout -q other|commit|reset|stash/.test(line);
    expect(left).toEqual(moves ? [bench.path('.git')] : []);
  });

  it('restores a staged file as it was staged', async () => {
    commit();
    bench.put('a.txt', 'staged\n');
    bench.git('add', 'a.txt');
    const { before, after } = await roundTrip('echo more >> a.txt; git add a.txt');
    expect(after).toEqual(before);
  });

  it('runs nothing that the config of the folder names', async () => {
    commit();
    const script = bench.put('evil.sh', `#!/bin/sh\ntouch '${bench.config}/ran'\ncat\n`);
    chmodSync(script, 0o755);
    bench.put('.gitattributes', '* filter=evil diff=evil\n');
    for (const name of [
      'core.fsmonitor',
      'filter.evil.clean',
      'filter.evil.smudge',
      'diff.evil.textconv',
      'core.pager',
    ]) {
      bench.git('config', name, script);
    }
    bench.git('config', 'filter.evil.required', 'true');
    mkdirSync(bench.path('.git/hooks'), { recursive: true });
    for (const hook of ['post-index-change', 'reference-transaction']) {
      writeFileSync(bench.path('.git/hooks', hook), `#!/bin/sh\ntouch '${bench.config}/ran'\n`, { mode: 0o755 });
    }
    bench.put('a.txt', 'dirty\n');
    const { before, after } = await roundTrip('echo x >> a.txt; echo y > src/b.txt');
    expect(existsSync(join(bench.config, 'ran'))).toBe(false);
    expect(after).toEqual(before);
  });

  it('does not run a git that lies in the folder', async () => {
    commit();
    const script = bench.put('bin/git', `#!/bin/sh\ntouch '${bench.config}/ran'\n`);
    chmodSync(script, 0o755);
    bench.resume({ childEnv: { PATH: `${bench.path('bin')}:.:${process.env.PATH}` } });
    await roundTrip('echo x >> a.txt');
    expect(existsSync(join(bench.config, 'ran'))).toBe(false);
    expect(bench.text('a.txt')).toBe('one\n');
  });

  it('leaves the index of the folder as it is', async () => {
    commit();
    bench.put('a.txt', 'one\n');
    const read = () => execFileSync('stat', ['-c', '%i %Y %Z', bench.path('.git/index')], { encoding: 'utf8' });
    const before = read();
    await roundTrip('echo x > src/b.txt');
    expect(read()).toBe(before);
  });

  it('lists a clean file that git converts', async () => {
    bench.put('.gitattributes', '*.txt text=auto\n*.rot filter=rot\n');
    bench.put('a.txt', 'one\r\ntwo\r\n');
    // Older than the index, so that git trusts its time.
    utimesSync(bench.put('b.rot', 'same\n'), 1e9, 1e9);
    bench.git('config', 'filter.rot.clean', 'tr a-z n-za-m');
    bench.git('config', 'filter.rot.smudge', 'tr a-z n-za-m');
    commit();
    const { before, after, result } = await roundTrip('echo x >> a.txt; echo y >> src/b.txt; echo z >> b.rot');
    expect(result.filesChanged).toEqual([bench.path('src/b.txt')]);
    expect(after['src/b.txt']).toBe(before['src/b.txt']);
    expect(result.notRestored?.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      ['a.txt', 'b.rot'].map((name) => ({ path: bench.path(name), reason: expect.stringContaining('converts') })),
    );
  });

  it.each(['--assume-unchanged', '--skip-worktree'])('sees what git is told to overlook (%s)', async (flag) => {
    bench.put('dirty.txt', 'clean\n');
    commit();
    bench.git('update-index', flag, 'a.txt', 'src/b.txt', 'dirty.txt');
    bench.put('dirty.txt', 'dirty\n');
    const { before, after, result } = await roundTrip('echo x >> a.txt; rm src/b.txt; echo y >> dirty.txt');
    expect(after).toEqual(before);
    expect(result.filesChanged).toHaveLength(3);
    expect(bench.git('ls-files', '-v')).toMatch(/^[hS] a\.txt$/m);
  });

  it('sees what appears where a sparse checkout has left it out', async () => {
    bench.put('src/c.txt', 'one\n');
    commit();
    bench.git('sparse-checkout', 'set', '--no-cone', 'a.txt', 'c.txt');
    expect(existsSync(bench.path('src/b.txt'))).toBe(false);
    const { before, after, result } = await roundTrip('echo x > src/b.txt; echo y > a.txt');
    expect(after).toEqual(before);
    expect(result.filesChanged).toEqual([bench.path('a.txt'), bench.path('src/b.txt')]);
  });

  it('lists a clean file that git keeps in another encoding, though of the same size', async () => {
    bench.put('.gitattributes', '*.u16 working-tree-encoding=UTF-16LE\n');
    const text = '\u{3042}a\u{3042}a';
    const content = Buffer.from(text, 'utf16le');
    expect(content).toHaveLength(Buffer.byteLength(text));
    // Older than the index, so that git trusts its time.
    utimesSync(bench.put('b.u16', content), 1e9, 1e9);
    commit();
    const { result } = await roundTrip('printf "x\\000" > b.u16');
    expect(result.filesChanged).toEqual([]);
    expect(result.notRestored).toEqual([
      { path: bench.path('b.u16'), reason: expect.stringContaining('converts it (line ends, encoding') },
    ]);
  });

  it('lists a pipe that was made, once', async () => {
    commit();
    await bench.turn('p0', () => bench.shell('mkfifo src/pipe; ln -s a.txt link'));
    const result = await bench.checkpoints.rewind('p0');
    expect(result.notRestored?.map(({ path }) => path).toSorted()).toEqual([
      bench.path('link'),
      bench.path('src/pipe'),
    ]);
    expect(result.skippedLinks).toBe(2);
  });

  it('looks at the working directory alone when that is a part of the repository', async () => {
    commit();
    bench.put('src/loose', 'x');
    bench.resume({ roots: () => [bench.path('src')], cwd: bench.path('src') });
    bench.put('c.txt', 'one\n');
    // Which file the second line writes is not to be seen.
    const hidden = 'f=$(echo c); echo y >> $f.txt';
    await bench.turn('p0', () => bench.shell(`echo x >> src/b.txt; rm src/loose; echo y >> a.txt; ${hidden}`));
    expect(await bench.checkpoints.rewind('p0')).toMatchObject({
      filesChanged: [bench.path('a.txt'), bench.path('src/b.txt'), bench.path('src/loose')],
    });
    expect(bench.text('a.txt')).toBe('one\n');
    expect(bench.text('c.txt')).toBe('one\ny\n');
  });

  it('looks into ignored folders and into other repositories', async () => {
    bench.put('.gitignore', 'ignored\n');
    commit();
    bench.put('ignored/deep/x', 'x');
    mkdirSync(bench.path('nested'));
    bench.git('init', '-q', 'nested');
    bench.put('nested/y', 'y');
    const { before, after, result } = await roundTrip('echo 1 > ignored/deep/x; rm nested/y; echo 2 > ignored/new');
    expect(after).toEqual(before);
    expect(result.notRestored).toBeUndefined();
  });

  it('works in a folder that is ignored as a whole', async () => {
    bench.put('.gitignore', 'src\n');
    bench.git('add', '.gitignore', 'a.txt');
    bench.git('commit', '-qm', 'x');
    bench.resume({ roots: () => [bench.path('src')], cwd: bench.path('src') });
    const { before, after } = await roundTrip('echo 1 > src/b.txt; echo 2 > src/new');
    expect(after).toEqual(before);
  });

  it('works in a submodule, a linked worktree and above them', async () => {
    commit();
    bench.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', bench.folder, 'sub');
    commit();
    bench.git('worktree', 'add', '-q', 'tree');
    bench.resume({ roots: () => [bench.folder] });
    const line = 'echo 1 > sub/a.txt; echo 2 > tree/a.txt; rm tree/src/b.txt';
    const { before, after } = await roundTrip(line);
    expect(after).toEqual(before);
    bench.resume({ roots: () => [bench.path('tree'), bench.path('sub')] });
    await bench.turn('p1', () => bench.shell(line));
    expect((await bench.checkpoints.rewind('p1')).filesChanged).toHaveLength(3);
    expect(bench.tree()).toEqual(before);
  });

  it('works in a repository of SHA-256', async () => {
    rmSync(bench.path('.git'), { recursive: true });
    bench.git('init', '-q', '--object-format=sha256');
    commit();
    const { before, after } = await roundTrip('echo 1 > a.txt; touch src/b.txt');
    expect(after).toEqual(before);
  });

  it('works in a copy of a repository, where nothing is as the index says', async () => {
    for (let file = 0; file < 300; file += 1) bench.put(`many/${file}`, `${file}`.repeat(100));
    commit();
    cpSync(bench.folder, `${bench.folder}-copy`, { recursive: true });
    rmSync(bench.folder, { recursive: true });
    renameSync(`${bench.folder}-copy`, bench.folder);
    bench.resume({ limits: { survey: { entries: 10 } } });
    const { before, after, result } = await roundTrip('echo 1 > many/7; rm many/8');
    expect(after).toEqual(before);
    expect(result.notRestored).toBeUndefined();
  });

  it('works before the first commit, and without git', async () => {
    const first = await roundTrip('echo 1 > a.txt; git add -A');
    expect(first.after).toEqual(first.before);
    bench.resume({ childEnv: { PATH: '/nowhere' } });
    await bench.turn('p1', () => bench.shell('echo 1 > a.txt; rm src/b.txt'));
    expect((await bench.checkpoints.rewind('p1')).notRestored).toBeUndefined();
    expect(bench.tree()).toEqual(first.before);
  });
});
