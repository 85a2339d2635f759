/** Rules about places hold for commands that open or change what they do not name. */
import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';

function judge(command: string, rules: { allow?: string[]; deny: string[] }): string {
  const setup = { mode: 'default', cwd: '/repo', trusted: true, ...rules };
  return judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict;
}

describe('E2 what is read without being named', () => {
  const READS = [
    "find . -name '*.ts' -exec cat {} +",
    "find . -name '*.ts' -print0 | xargs -0 cat",
    'find . | xargs cat',
    'find .. | xargs cat',
    'grep -r --include=*.ts x .',
    "grep -r --include='*.ts' x .",
    'git grep x',
    'git -C . grep x',
    'git grep x -- . src',
    'git diff',
    'git diff HEAD~1',
    'git diff --stat -p',
    'git diff :/',
    'git log -p',
    'git log -3 --patch',
    'git log -p -- .',
    'git show',
    'git show abc',
    'git status -v',
    'git stash show -p',
    'git cat-file blob abc',
    'cd sub && git diff',
  ];
  const MORE = [
    'grep -R x .',
    'grep --dereference-recursive x',
    'rg -uuu --follow x',
    'ag x',
    'git diff --ext-diff',
    'git archive HEAD',
    'git format-patch -1',
    'git bundle create b HEAD',
    'git fast-export HEAD',
    'git checkout-index -a',
    'git difftool',
    'git cat-file -p abc',
    'git reflog -p',
    'git rev-list -p HEAD',
    'git whatchanged -p',
    'git diff-tree -p HEAD',
    'git diff-index -p HEAD',
    'git diff-files -p',
    'git log -u',
    'git log -U1',
    'git log -c',
    'git log --cc',
    'git log -L1,2:a',
    'git log -W',
    'git log --unified=1',
    'git log --word-diff',
    'git log --color-words',
    'git log --function-context',
    'git log --binary',
    'git log --diff-merges=on',
    'git log --remerge-diff',
    'git log --textconv',
    'git log --ext-diff',
    'git status --verbose',
    'rsync --files-from=list . x',
    'tar cf x -T list',
  ];

  describe.each([
    'Read(./conf.d)',
    'Read(.secrets)',
    'Read(./conf/**)',
    'Read(./conf/k)',
    'Read(./.env/)',
    'Read(conf.d/)',
  ])('under deny %s', (rule) => {
    it.each(READS)('%s', (command) => {
      expect(judge(command, { deny: [rule] })).toBe('ask');
      expect(judge(command, { allow: ['Bash'], deny: [rule] })).toBe('ask');
    });
    it.each(MORE)('%s', (command) => {
      expect(judge(command, { allow: ['Bash'], deny: [rule] })).toBe('ask');
    });
  });

  it.each([
    "find src -name '*.ts' -exec cat {} +",
    'git log',
    'git log --oneline -5',
    'git diff --stat',
    'git diff --name-only HEAD~1',
    'git show --name-only',
    'git show --no-patch',
    'git show --name-status',
    'git show --stat',
    'git show --numstat',
    'git show --shortstat',
    'git show --dirstat',
    'git show --cumulative',
    'git show --summary',
    'git show --compact-summary',
    'git show --raw',
    'git show --quiet',
    'git show -s',
    'git show HEAD:src/a.ts',
    'git diff -- src',
    'git diff src/a.ts',
    'git diff HEAD~1 -- src/a.ts',
    'git log -p -- src/a.ts',
    'git status -uno',
    'git stash list',
    'git commit -m x',
    'git cat-file -t HEAD',
    'grep -rn x src',
    'mv src lib',
    'ln -s src lib',
  ])('%s reads nothing of conf', (command) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Read(./conf/**)'] })).toBe('allow');
  });

  it.each([
    ['grep -r --include=*.env x .', 'ask'],
    ['grep -r --include=.e* x .', 'ask'],
    ['grep -r --include=.en? x .', 'ask'],
    ["grep -r --include='*.env' x .", 'ask'],
    ['grep -r --include="$X" x .', 'ask'],
    ['grep -r --include=*.ts x .', 'allow'],
    ["find . -name '*.ts' -exec grep -l foo {} +", 'allow'],
    ["find . -name '*.env' -exec cat {} +", 'ask'],
  ])('a file of a certain name: %s: %s', (command, verdict) => {
    expect(judge(command, { deny: ['Read(.env)'] })).toBe(verdict);
    expect(judge(command, { deny: ['Read(./.env)'] })).toBe(verdict);
  });

  it.each(['mv conf c; cat c/k', 'ln -s conf c; cat c/k', 'cp -rs conf c'])('%s: under another name', (command) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Read(./conf/k)'] })).toBe('ask');
  });
});

describe('E2 what is changed without being named', () => {
  it.each([
    'rm -rf conf',
    'mv conf x',
    'chmod -R 777 conf',
    'ln -s conf c; echo > c/k',
    'cp evil/k conf',
    'cp -r evil/. conf',
    'rsync -a e/ .',
    'tar xf a.tar',
    'tar -x -f a.tar -C conf',
    'unzip a.zip',
    'find conf -delete',
    'prettier -w .',
    'git checkout .',
    'git checkout -- conf/',
    'git restore .',
    'git clean -fd .',
    'git rm -r conf',
    'wget https://x.example/k -P conf',
  ])('%s', (command) => {
    expect(['ask', 'deny']).toContain(judge(command, { allow: ['Bash'], deny: ['Edit(./conf/k)'] }));
  });

  it.each([
    ['cp evil/k .', 'deny'],
    ['cp -t . evil/k', 'deny'],
    ['tar xf a.tar k', 'deny'],
    ['unzip a.zip k', 'deny'],
    ['curl -O https://x.example/k', 'deny'],
    ['sed -i -es/a/b/ k', 'deny'],
    ['chmod -w k', 'deny'],
    ['git mv a/k .', 'deny'],
    ['cp k backup.txt', 'allow'],
    ['cp evil/k x', 'allow'],
  ])('one file: %s: %s', (command, verdict) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Edit(./k)'] })).toBe(verdict);
  });

  it.each([
    'rm -rf dist',
    'mv a b',
    'cp -r src dist',
    'cp a.ts dist/',
    'tar xf a.tar -C dist',
    'chmod -R 755 dist',
    'git checkout main',
    'git checkout -b x/y',
  ])('%s changes nothing of it', (command) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Edit(./conf/k)', 'Edit(lock.json)'] })).toBe('allow');
  });

  it.each([
    'git archive -o /etc/x HEAD',
    'git bundle create /etc/x HEAD',
    'git worktree add /etc/x',
    'git clone u /etc/x',
  ])('%s writes outside', (command) => {
    expect(judge(command, { allow: ['Bash(git:*)'], deny: [] })).toBe('ask');
  });
});

describe('E2 what lies below a folder that only a pattern matches', () => {
  it.each([
    'grep -rn x *',
    'grep -rn x */',
    'grep -r x c*',
    'grep -r x con?',
    'grep -r x [c]onf',
    'rg x ./c*',
    'for d in */; do grep -r x "$d"; done',
    "find . -name '*onf' -exec grep -r x {} +",
    'diff -r ./c* src',
    'cp -r c* out',
    'mv c* out',
    'rm -r c*',
  ])('%s is asked about', (command) => {
    for (const rule of ['Read(./conf/prod.env)', 'Read(./conf/keys/**)'])
      expect([rule, judge(command, { allow: ['Bash(cp:*)', 'Bash(mv:*)', 'Bash(rm:*)'], deny: [rule] })]).toEqual([
        rule,
        'ask',
      ]);
  });

  it.each(['rm -r c*', 'mv c* out', 'chmod -R u+w c*'])('%s changes it', (command) => {
    expect(judge(command, { allow: ['Bash(rm:*)', 'Bash(mv:*)', 'Bash(chmod:*)'], deny: ['Edit(./conf/k)'] })).toBe(
      'ask',
    );
  });

  it.each(['grep -rn x s*', 'grep -rn x src/*', 'grep -rn x *', "grep -rn --include='*.ts' x *", 'ls c*', 'cat c*'])(
    '%s goes elsewhere',
    (command) => {
      expect(judge(command, { deny: command.includes(' *') ? ['Read(./.env)'] : ['Read(./conf/prod.env)'] })).toBe(
        'allow',
      );
    },
  );
});
