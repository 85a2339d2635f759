/** E2 names that a command lists, and searches that leave hidden files out. */
import { describe, expect, it } from 'vitest';
import { findLinked } from '../../src/engine/permissions/links.js';
import { judgeLine, type Rules } from './judge-line.js';

const judge = (command: string, rules: Rules = {}): string =>
  judgeLine(command, { fs: ['/repo/src/a.ts', '/repo/gone is missing'], ...rules });

describe('E2 a list of names in place of words', () => {
  const GIT: Rules = { allow: ['Bash(git add:*)', 'Bash(git commit:*)', 'Bash(git fetch:*)'] };
  it.each([
    "wc -l $(git ls-files '*.ts')",
    'wc -l $(git ls-files "*.ts")',
    'git ls-files "src" | xargs wc -l',
    "wc -l $(find src -name '*.ts')",
    "cat $(find src -name '*.ts' | sort | head -3)",
    "cat $(find src -name '*.ts' 2>/dev/null)",
    'cat "$(git ls-files src)"',
    'for f in $(git ls-files \'*.ts\'); do wc -l "$f"; done',
    'for f in $(find src -type f); do head -1 "$f.bak"; done',
    'git diff --name-only | xargs -r cat',
    'git diff --name-only --cached --diff-filter=ACM | xargs wc -l',
    'wc -l $(git diff --name-only --diff-filter=d HEAD)',
    'git add src && git commit -qm x && wc -l $(git ls-files)',
    'git fetch; git ls-files | xargs cat',
    'grep -rl x src | xargs cat',
    "grep -rl --include='*.ts' x . | sort | head -3 | xargs wc -l",
    'rg -l x src | xargs head -1',
    'rg --files | grep -v test | xargs wc -l',
    "find src -name '*.ts' | grep -E '\\.(ts|md)$' | xargs cat",
    'find src -name \'*.ts\' | while read -r f; do cat "$f"; done',
    'find src -print0 | while IFS= read -r -d \'\' f; do head -1 "$f"; done',
    'while read -r f; do wc -l $f; done < <(git ls-files)',
  ])('%s reads inside of the folders', (command) => {
    expect(judge(command, GIT)).toBe('allow');
  });

  it.each([
    'cat $(git ls-files)',
    "cat $(git ls-files 'a*')",
    'cat $(git ls-files "a*")',
    'cat $(git ls-files | head -50)',
    'cat `git ls-files -c`',
    'git ls-files | xargs cat',
    'for f in $(git ls-files); do cat "$f"; done',
    'grep -h S $(git ls-files)',
    'cat $(git diff --name-only)',
  ])('%s lists what is only in the index', (command) => {
    for (const name of ['a ../outside/secret.txt', 'a /etc/passwd', "a'b", '-n', 'x/-n']) {
      expect([name, judge(command, { fs: [`git tracks ${name}`] })]).toEqual([name, 'ask']);
    }
    expect(judge(command, { fs: ['git tracks a.ts', 'git tracks app/[id]/b.ts'] })).toBe('allow');
    expect(judge(command, { fs: ['git tracks w/*/x', '/repo/w/l -> /repo/src'] })).toBe('ask');
  });

  it('but what is not listed, or not cut', () => {
    const fs = ['git tracks a ../outside/secret.txt'];
    expect(judge("wc -l $(git ls-files '*.ts')", { fs })).toBe('allow');
    expect(judge('wc -l $(git ls-files "*.ts")', { fs })).toBe('allow');
    expect(judge('wc -l $(git ls-files "*$X")', { fs })).toBe('ask');
    expect(judge('git ls-files -z | xargs -0 cat', { fs })).toBe('allow');
    expect(judge('cat $(find src -type f)', { fs })).toBe('allow');
  });

  it.each([
    'cat $(find / -name x)',
    'grep -rl x / | xargs cat',
    'grep -Rl x src | xargs cat',
    'grep -rl x * | xargs cat',
    'grep -rc x src | xargs cat',
    'rg -l --json x src | xargs cat',
    'grep -rl x src | sed s/a/b/ | xargs cat',
    "find src | grep '-rfx' | xargs cat",
    'find src |& xargs cat',
    'find src | while read f; do cat "$f"; done',
    'find src | while IFS=./ read -r f; do cat "$f"; done',
    'find src | { read -r f; cat "$f/etc/passwd"; }',
    'f=src; while read -r f; do :; done < <(find src); cat "$f/etc/passwd"',
    'grep() { echo /etc/passwd; }; grep -rl x src | xargs cat',
    'cat $(find .. -name x)',
    'cat $(find src -name x)/etc/passwd',
    'cat "$(find src -name x)/etc/passwd"',
    'cat $(find src)$(find src)',
    'f=$(find src -name a); cat $f/etc/passwd',
    'f=$(find src -name a); cat "$f"',
    'cat $(cd / && find . -name x)',
    'cat $(find src -printf /etc/passwd)',
    'cat $(find src -name x; echo /etc/passwd)',
    'cat $(find src | sed s/^/x/)',
    'cat $(find src -exec echo /etc/passwd {} +)',
    'cat $(find $X -name x)',
    'cat $(git ls-files ..)',
    'cat $(git -C .. ls-files)',
    'cat $(git ls-files --full-name)',
    'git diff --name-only main | xargs cat',
    'cat $(git diff --name-only --no-index / .)',
    'cat $(git diff --name-only HEAD~3)',
    'sort $(git ls-files)',
    'rm $(find src -name x)',
    'find() { echo /etc/passwd; }; find . | xargs cat',
    'git() { echo /etc/passwd; }; cat $(git ls-files)',
    "mkdir -p 'src/x /etc'; touch 'src/x /etc/passwd y'; cat $(find src -type f)",
    'mkdir -p "src/$X"; cat $(find src -type f)',
    'git checkout x; cat $(git ls-files)',
    'git diff --name-only --cached | xargs wc -l',
    'wc -l $(git diff --name-only HEAD)',
    'wc -l $(git diff --name-only --diff-filter=D HEAD)',
    'wc -l $(git diff --name-only --diff-filter=a HEAD)',
    'git reset -q hn; cat $(git ls-files)',
    'git read-tree hn; cat $(git ls-files)',
    'git update-index --add x; git ls-files | xargs cat',
    'git restore --staged .; cat $(git ls-files)',
    'git own; for f in $(git ls-files); do cat "$f"; done',
  ])('%s is asked about', (command) => {
    expect(judge(command, { mode: 'acceptEdits', allow: ['Bash(git:*)', 'Bash(mkdir:*)'] })).toBe('ask');
  });

  const LINK = ['/repo/src/l.ts -> /outside/l.ts'];
  it.each([
    'cat $(find src)',
    "cat $(find src -name '*.ts')",
    'cat $(git ls-files)',
    'git diff --name-only | xargs cat',
    'for f in $(git ls-files); do cat "$f"; done',
  ])('%s may be a link', (command) => {
    expect(judge(command, { fs: LINK })).toBe('ask');
    expect(judge(command, { fs: LINK, allow: ['Bash'], deny: ['Read(//outside/**)'] })).not.toBe('allow');
  });

  it.each(['cat $(find src -type f)', 'find src -type f | xargs cat'])('%s is none', (command) => {
    expect(judge(command, { fs: LINK })).toBe('allow');
  });

  const disk = (names: readonly string[], kind: 'file' | 'directory' = 'file') => ({
    list: async (folder: string) =>
      folder === '/repo/src' ? [...names.map((name) => ({ name, kind })), { name: 'l', kind: 'link' as const }] : [],
    realPath: async (path: string) => path,
  });
  const isSeen = async (command: string, names: readonly string[], kind?: 'directory'): Promise<boolean> => {
    const found = await findLinked(command, { cwd: '/repo' }, disk(names, kind));
    return found.every(({ real }) => real.startsWith('/repo'));
  };

  it.each(['cat $(find src -type f)', 'find src -type f | xargs cat', 'for f in $(find src); do cat "$f"; done'])(
    '%s is not known where names are cut, or stand for others',
    async (command) => {
      expect(await isSeen(command, ['a.ts', 'b-c.ts'])).toBe(true);
      for (const name of ['a b', 'a\nb', "a'b", 'a"b', 'a\\b', '-n', 'a*', '[l]']) {
        expect([name, await isSeen(command, ['a.ts', name])]).toEqual([name, false]);
      }
      expect(await isSeen(command, ['a '], 'directory')).toBe(false);
    },
  );

  it('but where they are not cut', async () => {
    expect(await isSeen('find src -type f -print0 | xargs -0 cat', ['a b'])).toBe(true);
    expect(await isSeen('find src -type f -exec cat {} +', ['a b'])).toBe(true);
    expect(await isSeen("cat $(find src -name '*.ts')", ['a b.txt'])).toBe(true);
  });
});

describe('E2 searches under a rule that denies a hidden file', () => {
  const ENV = { deny: ['Read(./.env)'] };
  const ENVS = { deny: ['Read(./.env)', 'Read(./.env.*)'] };

  it.each([
    "git grep -n foo -- '*.ts'",
    "wc -l $(git ls-files '*.ts')",
    "git ls-files -m '*.ts' | xargs cat",
    'git grep -l TODO src',
    'git grep -n TODO main src',
    'rg -t ts foo',
    'rg -tpy -tjs foo',
    "rg -l TODO -g '*.ts'",
    "rg -l TODO --glob '*.{ts,tsx}' -g '!x.ts'",
    "rg foo -g '!*.md'",
    "grep -rn foo . --include='*.ts'",
  ])('%s does not open it', (command) => {
    expect(judge(command, ENV)).toBe('allow');
  });

  it.each(['rg foo', 'rg foo src', "rg foo -g '!*.md'", 'git grep -l TODO src'])('%s opens none of them', (command) => {
    expect(judge(command, ENVS)).toBe('allow');
  });

  it.each([
    'rg -t sh foo',
    'rg -t all foo',
    'rg --type sh foo',
    'rg -t ts -t sh foo',
    "rg foo -g '.e*'",
    "rg foo -g '*'",
    "rg foo -g '*.ts' -g '.env'",
    "rg foo --iglob '.ENV'",
    'rg foo --hidden',
    'wc -l $(git ls-files *.ts)',
    "wc -l $(git ls-files '*.ts' '*')",
    "wc -l $(git ls-files '*v')",
    'git grep -l TODO gone',
    'git grep -l TODO src gone',
    'git grep --threads 2 TODO src',
    'git grep -f src TODO',
    'git grep TODO src ..',
  ])('%s may open it', (command) => {
    expect(judge(command, ENV)).toBe('ask');
  });

  // A file may be called `.env.x.ts`.
  it.each(['rg -t ts foo', "rg foo -g '*.ts'", "git grep foo -- '*.ts'"])('%s may open one of them', (command) => {
    expect(judge(command, ENVS)).toBe('ask');
  });

  it('a type shows hidden files that are of it', () => {
    expect(judge('rg -t json foo', { deny: ['Read(./.secret.json)'] })).toBe('ask');
    expect(judge('rg foo', { deny: ['Read(./.secret.json)'] })).toBe('allow');
  });
});

describe('D1 what tells nothing, and writes nowhere', () => {
  it.each(['printenv HOME', 'printenv PATH USER', 'echo a | tee /dev/null', 'ls | tee /dev/stderr'])(
    '%s',
    (command) => {
      expect(judge(command)).toBe('allow');
    },
  );

  it.each(['printenv', 'printenv TOKEN', 'echo a | tee /dev/null x', 'echo a | tee /dev/sda', 'echo a | tee x'])(
    '%s is asked about',
    (command) => {
      expect(judge(command)).toBe('ask');
    },
  );
});
