/** E2 files that git opens itself: its own names go through no links, all other paths of it do. */
import { describe, expect, it } from 'vitest';
import { PROTECTED } from '../../src/engine/permissions/path.js';
import { judgeLine, type Rules } from './judge-line.js';

const FS = [
  '/repo/q/k -> ../.claude',
  '/repo/q/s -> ../src',
  '/repo/w/l -> ../../outside',
  '/repo/deep/wt/lnk -> ../../outside/secret.txt',
  '/repo/deep/wt/c -> ../.claude',
  '/repo/plain/a.txt',
  '/repo/m is missing',
];

const judge = (command: string, rules: Rules = {}): string => judgeLine(command, { fs: FS, ...rules });

const DENIED: Rules = { allow: ['Bash'], deny: ['Read(//outside/**)'] };
const EVERYWHERE: Rules[] = [{ mode: 'bypassPermissions' }, { allow: ['Bash'] }];

describe('E2 git behind links that a line brings', () => {
  it.each([
    'git diff --output=P/settings.json HEAD',
    'git diff --outp=P/settings.json HEAD',
    'git diff --output P/settings.json HEAD',
    'git show --output P/settings.json',
    'git log -1 --output=P/settings.json',
    'git stash show -p --output=P/settings.json',
    'git diff-tree --output=P/settings.json HEAD',
    'git format-patch -1 -o P',
    'git archive -o P/settings.json HEAD',
    'git mv plain/a.txt P/settings.json',
    'git -C P init',
  ])('%s writes what is protected', (command) => {
    for (const rules of EVERYWHERE) {
      expect([rules, judge(`cp -r q m; ${command.replace('P', 'm/k')}`, rules)]).toEqual([rules, 'ask']);
      expect([rules, judge(command.replace('P', '.claude'), rules)]).toEqual([rules, 'ask']);
    }
  });

  it('a link of a branch may be what is written', () => {
    for (const rules of EVERYWHERE)
      expect(judge('git checkout -q lk; git diff --output=lnc/settings.json HEAD', rules)).toBe('ask');
  });

  const READS = [
    'git -C P/repo log',
    'git -C P/repo show',
    'git -C P grep --no-index x',
    'git --git-dir=P/repo/.git log',
    'git --git-dir P/repo/.git log',
    'git --work-tree=P status',
    'git --work-tree P diff',
    'git fetch P/repo',
    'git fetch -q P/repo main',
    'git pull P/repo main',
    'git push -q P/repo HEAD:refs/heads/new',
    'git push --repo=P/repo',
    'git remote add z P/repo',
    'git ls-remote P/repo',
    'git clone P/repo z',
    'git blame --contents P/a a.txt',
    'git blame --cont=P/a a.txt',
    'git blame --cont P/a a.txt',
    'git commit -F P/a',
    'git commit --fil=P/a',
    'git commit --fil P/a',
    'git commit -qFP/a',
    'git commit -qF P/a',
    'git commit -tP/a',
    'git tag -a x --fil=P/a',
    'git tag -aFP/a x',
    'git merge --fi=P/a --no-ff x',
    'git add --pathspec-fr=P/a',
    'git rm --pathspec-from-file P/a',
    'git log -OP/a -p',
    'git grep -fP/a',
    'git grep -nf P/a',
    'git ls-files -o -X P/a',
    'git notes add -F P/a',
    'git diff --no-ind P/a a.txt',
    'git diff P/a.txt a.txt',
    'git diff P/a ../x',
    'git config -f P/a -l',
  ];
  it.each(READS)('%s does not open what is denied', (command) => {
    expect(judge(`cp -r w m; ${command.replace('P', 'm/l')}`, DENIED)).not.toBe('allow');
    expect(judge(`git checkout -q lk; ${command.replace('P', 'lnd')}`, DENIED)).not.toBe('allow');
    expect(judge(`ln -s "$(printf ../outside)" y; ${command.replace('P', 'y')}`, DENIED)).not.toBe('allow');
    expect(judge(command.replace('P', 'w/l'), DENIED)).not.toBe('allow');
  });

  it.each(['git grep -n x y', 'git grep x', 'git blame y/a.ts', 'git commit -m x y/a.ts'])(
    'what git tracks behind another folder of that name is opened by %s',
    (command) => {
      expect(judge(`rm -r y; ln -s "$(printf ../outside)" y; ${command}`, DENIED)).not.toBe('allow');
    },
  );

  it.each([
    'git checkout main && git pull origin main',
    'git checkout main && git pull --ff-only && git merge --no-ff feature/x -m "a b"',
    'git checkout main && git push -u origin HEAD:main',
    'git checkout main && git push --force-with-lease origin main',
    'git checkout main && git log --oneline -n3 --since=2.days -- src && git show --stat HEAD:src/a.ts',
    'git checkout main && git commit -am "x y" && git tag -a v1 -m z && git fetch --all --prune',
    'git checkout main && git grep -n foo src && git blame src/a.ts',
    'git checkout main && git diff --stat src && git add -A src && git rebase --onto main a b',
    'git stash && git checkout -q x -- src/a.ts && git stash pop',
    'git clone https://x.example/y.git && git -C y log --oneline',
    'git remote -v && git fetch origin && git reset --hard origin/main',
    'cp -r w m; git add m/l && git diff -- m && git status',
  ])('%s needs no question', (command) => {
    expect(judge(command, DENIED)).toBe('allow');
  });
});

describe('E2 folders that git moves', () => {
  it.each([
    'git worktree move deep/wt m; cat m/lnk',
    'git worktree move -f deep/wt m && cat m/lnk',
    'git worktree move deep/wt sub; cat sub/wt/lnk',
    'git -C deep worktree move wt ../m; cat m/lnk',
    'git worktree move "$X" m; cat m/lnk',
    'git worktree add m lk; cat m/lnk',
    'git worktree "$X" deep/wt m; cat m/lnk',
  ])('%s', (command) => {
    expect(judge(command, { allow: ['Bash(git:*)'] })).toBe('ask');
    expect(judge(command, DENIED)).not.toBe('allow');
  });

  it('what is protected lies behind its links', () => {
    const rules = { allow: ['Bash'], deny: ['Edit(/src/**)'] };
    expect(judge('git worktree move deep/wt m && echo 1 > m/c/settings.json', rules)).toBe('ask');
  });

  it.each(['git worktree list; cat plain/a.txt', 'git worktree prune && cat plain/a.txt'])('%s is quiet', (command) => {
    expect(judge(command, { allow: ['Bash(git:*)'] })).toBe('allow');
  });

  it('a folder without links brings none', () => {
    expect(judge('git worktree move plain m; cat m/a.txt', { allow: ['Bash(git:*)'] })).toBe('allow');
  });
});

describe('E2 a file right behind the letters of flags', () => {
  it.each([
    'git commit --allow-empty -qF../outside/secret.txt',
    'git commit -qaF../outside/secret.txt',
    'git commit -aqt../outside/secret.txt',
    'git tag -aF../outside/secret.txt x',
    'git merge -qF../outside/secret.txt x',
    'git notes add -fF../outside/secret.txt',
    'git grep -nf../outside/secret.txt',
    'git ls-files -oX../outside/secret.txt',
  ])('%s', (command) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Read(//outside/**)'] })).toBe('deny');
  });

  it('is none behind a message', () => {
    expect(judge('git commit -qam"F/outside/x"', { allow: ['Bash'], deny: ['Read(//outside/**)'] })).toBe('allow');
  });
});

describe('E2 protected files that git takes away', () => {
  const GONE = PROTECTED.filter((name) => !/^\.(?:claude|git|gitmodules)$/.test(name)).map(
    (name) => `/repo/${name} is missing`,
  );
  const WITH = [...FS, ...GONE];
  const WITHOUT = [...WITH, '/repo/.claude is missing'];

  it.each([
    'git clean -fdx',
    'git clean -fd',
    'git clean -f .',
    "git clean -fdx -e 'n*'",
    "git clean -fdx -- ':/'",
    "git clean -fdx '.c*'",
    'git -C . clean -fdx',
    'git stash -u',
    'git stash -a',
    'git stash -ku',
    'git stash push -u',
    'git stash push --include-untracked -m "a b"',
    'git stash --inc',
    'git stash --al',
    'git stash save -u x',
    'git stash push -u -- .',
  ])('%s is asked about where there are some', (command) => {
    for (const rules of [...EVERYWHERE, { allow: ['Bash(git:*)'] }])
      expect([rules, judge(command, { ...rules, fs: WITH })]).toEqual([rules, 'ask']);
    for (const rules of EVERYWHERE) expect(judge(command, { ...rules, fs: WITHOUT })).toBe('allow');
  });

  it.each(['git stash -u -- .claude', 'git stash push .claude/settings.json', 'git clean -fdx .claude'])(
    '%s names them',
    (command) => {
      for (const rules of EVERYWHERE) expect(judge(command, { ...rules, fs: WITHOUT })).toBe('ask');
    },
  );

  it.each([
    'git clean -ndx',
    'git clean --dry-run -x',
    'git clean -fdx src',
    'git stash',
    'git stash -k',
    'git stash push -u -- src',
    'git stash pop',
    'git stash show -u',
  ])('%s leaves them', (command) => {
    for (const rules of EVERYWHERE) expect(judge(command, { ...rules, fs: WITH })).toBe('allow');
  });
});
