/** D2 a line is judged with what is really on the disk: a rule is not about what certainly is not there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { listFolder } from '../../src/engine/workspace/files.js';
import { type DiskRules, judgeOnDisk } from './judge-disk.js';

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function git(cwd: string, ...args: string[]): void {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, env, stdio: 'pipe' });
}

function write(folder: string, ...names: string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), name);
  }
}

/** A repository whose files are all taken up. */
function project(...more: string[]): string {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'on-disk-'))), 'repo');
  made.push(dirname(folder));
  write(folder, 'src/a.ts', 'src/lib/b.ts', 'packages/core/c.ts', 'README.md', '.gitignore', ...more);
  git(folder, 'init', '-q');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'x');
  return folder;
}

const RULES: DiskRules = {
  allow: ['cp', 'mv', 'ln', 'tar', 'npm', 'git', 'mkdir', 'gunzip', 'rm'].map((name) => `Bash(${name}:*)`),
  deny: ['Read(./.env)', 'Read(**/*.pem)', 'Read(./secrets/**)'],
};

const verdict = async (command: string, folder: string, rules: DiskRules = RULES): Promise<string> =>
  (await judgeOnDisk(command, folder, rules)).verdict;

const SEARCHES = [
  'grep -rn x .',
  'grep -rn x src',
  'rg x src',
  'grep -rn x *',
  'cat src/*',
  'wc -l src/* | tail -1',
  'cp -r src new',
  'find . -type f -exec cat {} +',
  'find src | xargs wc -l',
  'diff -r src packages',
  'cd src && grep -rn x .',
  'mkdir -p out && grep -rn x .',
  'mv README.md READ.md && grep -rn x .',
  'for f in src/*; do head -1 "$f"; done',
];

describe('D2 a search below a folder', () => {
  it.each(SEARCHES)('%s runs where nothing denied is there', async (command) => {
    expect(await verdict(command, project())).toBe('allow');
  });

  it.each([
    ['a file', 'src/key.pem'],
    ['a hidden one', 'src/.pem'],
    ['one in other letters', 'src/KEY.PEM'],
    ['one in an ignored folder', 'src/node_modules/deep/er/k.pem'],
    ['a folder', 'src/old.pem/a.txt'],
  ])('is asked about where %s is', async (_, name) => {
    const folder = project();
    write(folder, '.gitignore', name);
    for (const command of ['grep -rn x src', 'cp -r src new', 'find src | xargs wc -l', 'cat src/* src/*/*'])
      if (command !== 'cat src/* src/*/*' || name === 'src/key.pem')
        expect(await verdict(command, folder)).not.toBe('allow');
  });

  it('is asked about where a rule is about the folder, or a place in it', async () => {
    const folder = project();
    write(folder, 'secrets/deep/a.txt');
    for (const command of ['grep -rn x .', 'grep -rn x s*', 'find . -type f | xargs cat', 'cp -r . /tmp/x'])
      expect(await verdict(command, folder)).toBe('ask');
    expect(await verdict('grep -rn x src', folder)).toBe('allow');
    expect(await verdict("grep -rn --include='*.ts' x .", folder)).toBe('allow');
    expect(await verdict("find . -name '*.ts' -exec cat {} +", folder)).toBe('allow');
    write(folder, 'secrets/deep/a.ts');
    expect(await verdict("grep -rn --include='*.ts' x .", folder)).toBe('ask');
    expect(await verdict("find . -name '*.ts' -exec cat {} +", folder)).toBe('ask');
    expect(await verdict("find . -name '*.md' -exec cat {} +", folder)).toBe('allow');
  });

  it('is asked about where links lead that it follows, and by the names of links', async () => {
    const folder = project();
    write(dirname(folder), 'other/k.pem');
    symlinkSync('../../other', join(folder, 'src/link'));
    const rules = { ...RULES, roots: [folder, join(dirname(folder), 'other')] };
    expect(await verdict('grep -rn x src', folder, rules)).toBe('allow');
    expect(await verdict('diff -r src packages', folder, rules)).toBe('ask');
    expect(await verdict('grep -rn x src/link/', folder, rules)).toBe('ask');
    expect(await verdict('cp -rL src new', folder, rules)).toBe('ask');
    symlinkSync('a.ts', join(folder, 'src/l.pem'));
    expect(await verdict('grep -rn x src', folder, rules)).toBe('ask');
  });

  it.each([
    'cp -r /srv/x src; grep -rn x src',
    'cp -r packages new; grep -rn x .',
    'mv packages/core src; grep -rn x src',
    'mv packages new && grep -rn x new',
    'ln -s /srv/x src/x; grep -Rn x src',
    'tar xf a.tgz && grep -rn x .',
    'git checkout other && grep -rn x src',
    'git stash pop; grep -rn x src',
    'npm run build && grep -rn x src',
    'gunzip src/a.pem.gz; grep -rn x src',
    'for i in 1 2; do grep -rn x src; cp -r packages src; done',
    'tar xf a.tgz & grep -rn x .',
    'grep -rn x src & tar xf a.tgz -C src',
    'mkdir -p $D; grep -rn x src',
    'f() { grep -rn x src; }; tar xf a.tgz; f',
    'X=1 npm test | grep -rn x src',
  ])('%s is asked about: the line itself may bring it', async (command) => {
    expect(await verdict(command, project())).not.toBe('allow');
  });

  it('is asked about where not everything could be looked at', async () => {
    const folder = project();
    const blind = (hidden: string): DiskRules => ({
      ...RULES,
      list: async (place) => (place === join(folder, hidden) ? undefined : listFolder(place)),
    });
    expect(await verdict('grep -rn x .', folder, blind('src/lib'))).toBe('ask');
    expect(await verdict('grep -rn x src', folder, blind('src'))).toBe('ask');
    const many = Array.from({ length: 251_000 }, (_, at) => ({ name: `n${at}`, kind: 'file' as const }));
    const huge: DiskRules = { ...RULES, list: async (place) => (place === folder ? many : []) };
    expect(await verdict('grep -rn x .', folder, huge)).toBe('ask');
  });

  it('asks for rules that ask, as for those that deny', async () => {
    const folder = project();
    const rules = { ask: ['Read(**/*.pem)'] };
    expect(await verdict('grep -rn x .', folder, rules)).toBe('allow');
    write(folder, 'src/key.pem');
    expect(await verdict('grep -rn x .', folder, rules)).toBe('ask');
  });

  it('does not look where patterns of programs lead further than those of the shell', async () => {
    const folder = project();
    const rules = { ...RULES, allow: ['Bash(prettier:*)'] };
    expect(await verdict('prettier --check src/*/*', folder, rules)).toBe('allow');
    write(folder, 'src/lib/deep/er/key.pem');
    expect(await verdict('prettier --check src/**/*.pem', folder, rules)).toBe('ask');
  });
});

describe('D2 what git shows of the files that it has taken up', () => {
  const SHOWN = [
    'git diff',
    'git --no-pager diff',
    'git diff -- src',
    'git diff src',
    'git grep -n TODO',
    'git grep x src',
  ];

  it.each(SHOWN)('%s runs where nothing denied is among them', async (command) => {
    const folder = project();
    write(folder, '.env', 'src/key.pem', 'secrets/a');
    expect(await verdict(command, folder)).toBe('allow');
    expect(await verdict(command, folder, { ...RULES, isBlind: true })).toBe('ask');
    git(folder, 'add', '-f', 'src/key.pem');
    expect(await verdict(command, folder)).toBe('ask');
  });

  it.each([
    'git diff HEAD',
    'git diff --cached',
    'git diff other',
    'git diff main...HEAD',
    'git diff --no-index a b',
    'git show HEAD',
    'git log -p -1',
    'git grep x HEAD',
    'git grep --untracked x',
    'git grep --no-index x',
    'git stash show -p',
    'git add -A && git diff',
    'git checkout x && git diff',
    'git -c core.worktree=/x diff',
    'git --git-dir=x diff',
    'GIT_INDEX_FILE=x git diff',
    'export GIT_INDEX_FILE=x; git diff',
  ])('%s is asked about: more than the index is shown', async (command) => {
    expect(await verdict(command, project())).not.toBe('allow');
  });

  it('is asked about where a folder is another repository, or only looks like one', async () => {
    const folder = project();
    write(folder, 'src/key.pem');
    git(folder, 'add', '-f', '.');
    // Git does not take it for one, and shows what the repository above has.
    write(folder, 'src/.git/index');
    expect(await verdict('cd src && git diff', folder)).toBe('ask');
    const inner = project();
    write(inner, 'lib/.env.pem');
    git(join(inner, 'lib'), 'init', '-q');
    git(join(inner, 'lib'), 'add', '.');
    git(join(inner, 'lib'), 'commit', '-qm', 'x');
    expect(await verdict('git diff', inner)).toBe('allow');
    git(inner, 'add', 'lib');
    expect(await verdict('git diff', inner)).toBe('ask');
  });

  it('leaves files alone that are only taken out of the index', async () => {
    const folder = project();
    write(folder, '.env');
    expect(await verdict('git restore --staged . && git status --short', folder)).toBe('allow');
    expect(await verdict('git restore --staged --worktree .', folder)).toBe('ask');
    expect(await verdict('git restore .', folder)).toBe('ask');
  });
});

describe('D2 names that git lists', () => {
  const LISTS = [
    'git ls-files | xargs wc -l',
    'cat $(git ls-files)',
    'git diff --name-only | xargs cat',
    'git ls-files -z | xargs -0 cat',
  ];

  it.each(LISTS)('%s reads only those, whatever else is there', async (command) => {
    const folder = project();
    write(folder, '.env', 'out/key.pem');
    symlinkSync('/usr/bin/python3', join(folder, 'out/python'));
    expect(await verdict(command, folder)).toBe('allow');
    git(folder, 'add', '-f', 'out/key.pem');
    expect(await verdict(command, folder)).toBe('ask');
  });

  it.each(LISTS)('%s is asked about where one of them is a link, or lies behind one', async (command) => {
    const folder = project();
    symlinkSync('/etc/passwd', join(folder, 'src/link'));
    expect(await verdict(command, folder)).toBe('allow');
    git(folder, 'add', 'src/link');
    expect(await verdict(command, folder)).toBe('ask');
    const other = project();
    rmSync(join(other, 'src'), { recursive: true });
    symlinkSync('/etc', join(other, 'src'));
    expect(await verdict(command, other)).toBe('ask');
  });

  it('start from where the configuration says', async () => {
    const folder = project();
    write(folder, 'secrets/key.pem');
    for (const [tree, expected] of [
      [folder, 'allow'],
      [join(folder, 'secrets'), 'ask'],
    ] as const) {
      git(folder, 'config', 'core.worktree', tree);
      expect([tree, await verdict('git diff', folder)]).toEqual([tree, expected]);
    }
  });

  it('are all that are on the disk where it lists others, too', async () => {
    const folder = project();
    write(folder, '.env');
    for (const command of ['git ls-files -o | xargs cat', 'git add . && git ls-files | xargs cat'])
      expect(await verdict(command, folder)).not.toBe('allow');
  });

  it('are those of links only where find looks for such names', async () => {
    const folder = project('src/conftest.py', 'package.json');
    symlinkSync('/usr/bin/python3', join(folder, 'src/python'));
    expect(await verdict('find . -name conftest.py -exec cat {} +', folder)).toBe('allow');
    expect(await verdict("find . -name 'conf*.py' -not -path './out/*' -exec cat {} +", folder)).toBe('allow');
    expect(await verdict("find . -name 'pyth*' -exec cat {} +", folder)).toBe('ask');
    expect(await verdict('find . -name python -exec cat {} +', folder)).toBe('ask');
    expect(await verdict('find . -name conftest.py -o -name x -exec cat {} +', folder)).toBe('ask');
  });
});

describe('D2 names that are made of those that git lists', () => {
  it.each(['$f.pem', '$f*', '"$f"/*', '$f/x.pem'])('%s is looked for on the disk', async (word) => {
    const folder = project();
    const command = `for f in $(git ls-files); do cat ${word}; done`;
    write(folder, 'README.md.pem', 'new/x.pem');
    expect(await verdict(command, folder)).not.toBe('allow');
  });

  it.each(['s*', 'sr[c]*', 'ke?.pe?'])('%s is a pattern to the shell', async (name) => {
    const folder = project(name);
    write(folder, 'src.pem', 'key.pem');
    for (const command of ['cat $(git ls-files)', 'git ls-files | while read -r f; do cat $f; done'])
      expect(await verdict(command, folder)).toBe('ask');
  });

  it('patterns that match nothing denied are read', async () => {
    const folder = project('app/[id]/page.tsx');
    write(folder, '.env', 'out/key.pem');
    expect(await verdict('cat $(git ls-files)', folder)).toBe('allow');
  });
});

describe('D2 a folder behind a link', () => {
  it.each([
    'cd q/s && cat ../.env',
    'cd q/s && cat ../.e*',
    'cd q/s && grep -rn x ..',
    'cd q && cd s && cat ./../.env',
    'env -C q/s cat ../.env',
    'cd q/s && find .. -name ".e*" -exec cat {} +',
    'cd q/s && cat ../../outside',
    'cd q/s && touch ../../outside',
    'cd q/s && cp a.ts ../../outside',
    'git -C q/s/.. diff',
    'cd q/s && git -C .. diff',
  ])('%s goes up from where the link leads', async (command) => {
    const folder = project();
    write(folder, '.env', 'deep/src/a.ts', 'deep/HEAD', 'q/x');
    symlinkSync(command.includes('git') ? '../deep/src' : '../src', join(folder, 'q/s'));
    const edits = { ...RULES, mode: 'acceptEdits' as const };
    expect(await verdict(command, folder, edits)).toBe('ask');
    if (!command.includes('.e')) expect(await verdict(command, folder, { ...edits, deny: [] })).toBe('ask');
  });

  it.each(['cp a ../settings.json', 'echo x > ../settings.json'])('%s may write a protected file', async (change) => {
    const folder = project('.claude/agents/a', 'q/x');
    symlinkSync('../.claude/agents', join(folder, 'q/s'));
    expect(await verdict(`cd q/s && ${change}`, folder, { allow: ['Bash'] })).toBe('ask');
  });

  it('is left by names, and others are left as ever', async () => {
    const folder = project('q/x');
    symlinkSync('../src', join(folder, 'q/s'));
    const lines = ['cd q/s && cat a.ts', 'cd packages/core && cat ../../README.md', 'cd src && git -C .. status'];
    for (const command of lines) expect(await verdict(command, folder)).toBe('allow');
  });
});

describe('D2 git below the root of the project', () => {
  it('is that of the project where no other repository is on the way', async () => {
    const folder = project();
    const lines = [
      'cd packages/core && git status',
      'git -C packages/core log -3',
      'cd packages/core && git diff --stat .',
    ];
    for (const command of lines) expect(await verdict(command, folder, {})).toBe('allow');
    write(folder, 'packages/.git/config');
    for (const command of lines) expect(await verdict(command, folder, {})).toBe('ask');
  });

  it.each(['packages/HEAD', 'packages/core/HEAD', 'packages/core/.git', 'packages/.GIT/x'])(
    'is asked about at %s',
    async (name) => {
      const folder = project();
      write(folder, name);
      expect(await verdict('cd packages/core && git status', folder, {})).toBe('ask');
    },
  );
});

describe('D2 in a folder that is not trusted', () => {
  it('patterns are read where no link leads out', async () => {
    const folder = project();
    const rules = { trusted: false };
    const lines = [
      'wc -l src/*.ts',
      'cat src/*.ts',
      'diff src/a.ts README.md',
      'diff -r src packages',
      'find src -name "*.ts" | xargs wc -l',
    ];
    for (const command of lines) expect(await verdict(command, folder, rules)).toBe('allow');
    symlinkSync('/etc/passwd', join(folder, 'src/c.ts'));
    for (const command of lines.filter((line) => !line.includes('README')))
      expect(await verdict(command, folder, rules)).toBe('ask');
    mkdirSync(join(folder, 'x.ts'));
    mkdirSync(join(folder, 'y.ts'));
    expect(await judgeOnDisk('diff x.ts y.ts', folder, rules)).toMatchObject({
      verdict: 'ask',
      reason: expect.stringContaining('through links'),
    });
    expect(await verdict('git status', folder, rules)).toBe('ask');
  });
});
