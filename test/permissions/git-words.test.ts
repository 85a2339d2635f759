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
    'git clean -fdx -e -n',
    'git clean -fdx --exclude --dry-run',
    'git clean -n --no-dry-run -fdx',
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

describe('E2 folders that git is told to take for its own', () => {
  const WRITES = [
    'checkout ev -- settings.json',
    'restore -s ev settings.json',
    'reset --hard ev',
    'checkout -f ev',
    'switch ev',
    'stash',
    'stash pop',
    'checkout-index -fa',
    'read-tree -um ev',
    'merge ev',
    'pull',
    'unheard-of',
  ];
  const GUARDED = [
    '.claude',
    './.claude',
    'plain/../.claude',
    '$PWD/.claude',
    'q/k',
    '.git/hooks',
    '.git',
    '..',
    '~',
    '~/.claude',
    '~/.config/git',
    'holder',
  ];
  const WITH = [...FS, '/repo/holder/.claude/settings.json'];
  const EMPTY = PROTECTED.map((name) => `/repo/plain/${name} is missing`);

  it.each(GUARDED)('what is below %s is not written unasked', (folder) => {
    for (const rules of EVERYWHERE) {
      for (const write of WRITES) {
        for (const way of ['--work-tree=D', '--work-tree D', '-C plain --work-tree=../D', '-C . --work-tree D']) {
          if (way.includes('../D') && /^[~$]/.test(folder)) continue;
          const command = `git ${way.replace('D', folder.replace('~', '$HOME'))} ${write}`;
          expect([command, judge(command, { ...rules, fs: WITH })]).toEqual([command, 'ask']);
        }
      }
    }
  });

  it.each([
    'GIT_WORK_TREE=@ git checkout ev -- settings.json',
    'env GIT_WORK_TREE=@ git reset --hard ev',
    'export GIT_WORK_TREE=@; git checkout -f ev',
    'declare -x GIT_WORK_TREE=@; git checkout -f ev',
    'GIT_WORK_TREE=@; export GIT_WORK_TREE; git checkout -f ev',
    'X=@; GIT_WORK_TREE=$X git checkout -f ev',
    "bash -c 'GIT_WORK_TREE=@ git checkout -f ev'",
    'GIT_DIR=@ git init',
    'GIT_DIR=@/.git git init',
    'GIT_INDEX_FILE=@/settings.json git add -A',
    'GIT_OBJECT_DIRECTORY=@ git add -A',
    'GIT_TRACE=$PWD/@/settings.json git status',
    'GIT_TRACE2_EVENT=$PWD/@/settings.json git status',
    'GIT_TRACE_SETUP=$PWD/@/settings.json git status',
    'env GIT_TRACE=$PWD/@/settings.json git status',
    'export GIT_TRACE2=$PWD/@/settings.json && git status',
    'GIT_CONFIG_GLOBAL=@/settings.json git config --global user.name x',
    'git --git-dir=@ init',
    'git --git-dir @/.git init',
  ])('%s', (command) => {
    for (const rules of EVERYWHERE) {
      expect(judge(command.replace('@', '.claude'), rules)).toBe('ask');
      expect(judge(`cp -r q m; ${command.replace('@', 'm/k')}`, rules)).toBe('ask');
    }
  });

  it.each([
    'cd .claude && git --git-dir=../.git reset --hard ev',
    'cd .claude && git --work-tree=. --git-dir=../.git checkout -f ev',
    'git -C .claude --git-dir=../.git reset --hard ev',
    'cd .git/hooks && git --git-dir=.. reset --hard ev',
    'cd .claude && GIT_DIR=../.git git reset --hard ev',
    'export GIT_DIR=$PWD/.git; cd .claude; git reset --hard ev',
    'cd q && git --work-tree=k stash',
    'env -C q GIT_WORK_TREE=k git checkout -f ev',
    'read GIT_WORK_TREE <<< .claude; export GIT_WORK_TREE; git checkout -f ev',
    'for GIT_WORK_TREE in .claude; do export GIT_WORK_TREE; git stash; done',
  ])('%s starts elsewhere', (command) => {
    for (const rules of EVERYWHERE) expect(judge(command, rules)).toBe('ask');
  });

  it('a program that a variable names is asked about', () => {
    expect(judge('GIT_EXTERNAL_DIFF=./evil git diff', { allow: ['Bash'] })).toBe('ask');
  });

  it('rules for files and folders hold below it', () => {
    const denied = { mode: 'bypassPermissions', deny: ['Edit(/plain/**)'] };
    for (const command of [
      'git --work-tree=plain checkout -f ev',
      'git -C plain --work-tree . checkout -f ev -- a.txt',
      'GIT_WORK_TREE=plain git checkout -f ev',
      'GIT_TRACE=/repo/plain/a.txt git status',
    ])
      expect([command, judge(command, denied)]).not.toEqual([command, 'allow']);
    const edits = { mode: 'acceptEdits', allow: ['Bash(git:*)'] };
    expect(judge('git --work-tree=/outside checkout -f ev', edits)).toBe('ask');
  });

  it.each([
    'git --work-tree=. checkout -f ev',
    'git --work-tree=$PWD --git-dir=.git checkout -f ev',
    'git --git-dir=$PWD/.git checkout -f ev',
    'git --work-tree=.claude status',
    'git --work-tree=plain checkout -f ev',
    'GIT_TRACE=1 git fetch',
    'GIT_WORK_TREE=. GIT_DIR=.git git checkout -f ev',
    'GIT_TRACE=/repo/plain/trace.txt git status',
    'GIT_EDITOR=true git rebase --continue',
  ])('%s needs no question where all may run', (command) => {
    expect(judge(command, { mode: 'bypassPermissions', fs: [...FS, ...EMPTY] })).toBe('allow');
  });
});

describe('E2 files that git writes by flags', () => {
  it.each([
    'git fast-export --export-marks=P/settings.json HEAD',
    'git fast-export --export-marks P/settings.json HEAD',
    'git fast-export --export-m=P/settings.json HEAD',
    'git fast-export --import-marks=P/settings.json HEAD',
    'git fast-import --export-marks=P/settings.json </dev/null',
    'git fast-import --export-pack-edges=P/settings.json </dev/null',
    'git pack-objects P/p',
    'git pack-objects -q P/p </dev/null',
    'git index-pack -o P/x.idx a.pack',
    'git bugreport -o P',
    'git bugreport --output-directory=P',
    'git diagnose -o P',
    'git diagnose -oP',
    'git archive -o P/settings.json HEAD',
    'git format-patch -oP -1',
    'git merge-file P/settings.json a b',
    'git mailsplit -oP mbox',
    'git mailinfo P/settings.json b',
    'git interpret-trailers --in-place P/settings.json',
    'git read-tree --index-output=P/settings.json HEAD',
    'git unheard-of --store=P/settings.json',
    'git unheard-of --store P/settings.json',
    'git unheard-of -sP/settings.json',
    'git unheard-of P/settings.json',
  ])('%s', (command) => {
    for (const rules of EVERYWHERE) {
      expect(judge(command.replace('P', '.claude'), rules)).toBe('ask');
      expect(judge(`cp -r q m; ${command.replace('P', 'm/k')}`, rules)).toBe('ask');
      expect(judge(command.replace('P', 'q/k'), rules)).toBe('ask');
    }
  });

  it.each([
    'git fast-export --export-marks=plain/marks HEAD',
    'git pack-objects plain/p',
    'git bugreport -o plain',
    'git unheard-of --store=plain/a.txt',
    'git co feature/x',
  ])('%s writes an ordinary file', (command) => {
    for (const rules of EVERYWHERE) expect(judge(command, rules)).toBe('allow');
  });
});
