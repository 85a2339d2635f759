/** E2 links that a line brings to a place itself, and then goes through. */
import { describe, expect, it } from 'vitest';
import { judgeLine, type Rules } from './judge-line.js';

const FS = [
  '/repo/q/k -> ../.claude',
  '/repo/q/a.txt -> ../../outside/a.txt',
  '/repo/q/s -> ../src',
  '/repo/w/d -> ../../outside',
  '/repo/deep/in/up -> ../../outside/a.txt',
  '/repo/lib/x -> ./y',
  '/repo/lib/y',
  '/repo/src/a.ts',
  '/repo/m is missing',
];

const judge = (command: string, rules: Rules = {}): string => judgeLine(command, { fs: FS, ...rules });

const MAKERS =
  'cp mv ln link rsync tar unzip cpio git patch mkdir rm xargs 7z hg svn wget docker rename touch npm gzip zcat zstd'
    .split(' ')
    .map((name) => `Bash(${name}:*)`);
const DENIED: Rules = { allow: ['Bash'], deny: ['Read(//outside/**)'] };

const READS = [
  'cp -r q m; cat m/a.txt',
  'cp -R q m && cat m/a.txt',
  'cp --recursive q m; cat m/a.txt',
  'cp -rv q m; cat m/a.txt',
  'cp -a deep/in/up u; cat u',
  'cp -d deep/in/up u; cat u',
  'cp -P deep/in/up u; cat u',
  'cp -r q/. m; cat m/a.txt',
  'cp -rT q m; cat m/a.txt',
  'cp -rt m q; cat m/q/a.txt',
  'cp -r q src m; cat m/q/a.txt',
  'cp -r q/* m; cat m/a.txt',
  'cp $F q m; cat m/a.txt',
  'cp -r $F m; cat m/a.txt',
  'cp -r "$(printf q)" m; cat m/a.txt',
  'D=$(printf m); cp -r q "$D"; cat m/a.txt',
  'mv q m; cat m/a.txt',
  'mv -t m q; cat m/q/a.txt',
  'git mv q m; cat m/a.txt',
  'rename s/q/m/ q; cat m/a.txt',
  'rsync -a q/ m; cat m/a.txt',
  'rsync -a host:q m; cat m/a.txt',
  'mkdir m; cp -r lib m; cat m/x',
  'cp -r q m; mv m n; cat n/a.txt',
  'cp -r q m; cd m; cat a.txt',
  'cp -r q m; cd m && cat ../q2',
  'cp -r q m; cat m/../x',
  'cp -r q m; cat < m/a.txt',
  'cp -r q m; cat m/*',
  'cp -r q m; cat ?/a.txt',
  'cp -r q m; find m -exec cat {} +',
  'cp -r q m; find m | xargs cat',
  'cp -r q m; head $(find m)',
  'cp -r q m; wc -l $(git ls-files)',
  'cp -r q M; cat m/a.txt',
  'ln -s q y; cat y/a.txt',
  'ln q/a.txt y; cat y',
  'link q/a.txt y; cat y',
  'ln -s "$(printf ../outside)" y; cat y/secret.txt',
  'X=$(printf ../outside); ln -s "$X" y && cat y/secret.txt',
  'X=$(printf ../outside); ln -s $X y && cat y/secret.txt',
  'read X <<< ../outside; ln -s "$X" y; cat y/secret.txt',
  'echo ../outside | xargs -I{} ln -s {} y; cat y/secret.txt',
  'ln -s "$(printf ../outside)" y; cat < y/secret.txt',
  'ln -s "$(printf ../outside)" y; cd y; cat secret.txt',
  'for t in "$(printf ../outside)"; do ln -s "$t" y; done; cat y/secret.txt',
  'for i in 1 2; do cat m/a.txt; cp -r q m; done',
  'while cat m/a.txt; do cp -r q m; done',
  'cat m/a.txt & cp -r q m',
  'f() { cat m/a.txt; }; cp -r q m; f',
  'cat m/a.txt; cp -r q m; cat m/a.txt',
  'git checkout -q lk; cat lnk',
  'git checkout lk -- src; cat src/a.ts',
  'git checkout -- src; cat src/a.ts',
  'git checkout -b x lk; cat lnk',
  'git switch lk && cat lnk',
  'git switch -c x lk && cat lnk',
  'git merge lk; cat src/a.ts',
  'git rebase lk; cat src/a.ts',
  'git cherry-pick lk; cat src/a.ts',
  'git stash; cat src/a.ts',
  'git stash pop; cat src/a.ts',
  'git reset --hard lk; cat src/a.ts',
  'git restore -s lk src; cat src/a.ts',
  'git pull; cat src/a.ts',
  'git pull && cat *.ts',
  'git pull && ls src',
  'git apply x.diff; cat src/a.ts',
  'git am x.mbox; cat src/a.ts',
  'git read-tree -u lk; cat src/a.ts',
  'git submodule update; cat lib/y',
  'git clone https://x.example/y.git; cat y/a',
  'git clone https://x.example/y.git z; cat z/a',
  'git worktree add wt lk; cat wt/a',
  'git co lk; cat lnk',
  'git -C src checkout lk; cat src/a.ts',
  'git checkout lk && head -1 src/a.ts src/b.ts',
  'patch -p1 < x.diff; cat src/a.ts',
  'tar xf x.tgz; cat a.txt',
  'tar -xf x.tgz -C m; cat m/a.txt',
  'tar c q | tar x -C m; cat m/a.txt',
  'unzip x.zip; cat a.txt',
  'unzip x.zip -d m; cat m/a.txt',
  'cpio -i < x.cpio; cat a.txt',
  '7z x x.7z; cat a.txt',
  '7z x x.7z -om; cat m/a.txt',
  'hg update lk; cat a.txt',
  'svn checkout https://x.example/y; cat y/a.txt',
  'docker cp c:/x m; cat m/a.txt',
  'wget -r ftp://x.example/; cat x.example/a.txt',
];

describe('E2 what a line has made unknown', () => {
  it.each(READS)('%s is asked about, for it may lead elsewhere', (command) => {
    expect(judge(command, { allow: MAKERS })).toBe('ask');
  });

  const names = (command: string): boolean => command.endsWith(' ls src');
  it.each(READS.filter((command) => !names(command)))('%s does not open what is denied', (command) => {
    expect(judge(command, DENIED)).not.toBe('allow');
  });

  it.each([
    'cp -R w m; grep -R X m',
    'cp -R w m; find -L m -name x -exec cat {} +',
    'mv w m; tar ch m',
    'git pull; grep -R x .',
    'git checkout lk; git commit -F lnk',
  ])('%s does not go through it', (command) => {
    expect(judge(command, DENIED)).not.toBe('allow');
  });

  it.each([
    "cp -r q m; echo '{}' > m/k/settings.json",
    "cp -r q m; echo '{}' > m/k/x.json",
    "mv q m && echo '{}' > m/k/settings.json",
    "mv q deep/m && echo '{}' > deep/m/k/x",
    'cp -a q m; echo x | tee m/k/settings.json',
    'cp -a q m; cp x m/k/settings.json',
    "X=$(printf .cla)ude; ln -s $X z; echo '{}' > z/settings.json",
    'X=$(printf .cla)ude/settings.json; ln -s "$X" z; echo > z',
    "X=$(printf .cla)ude; echo '{}' > $X/settings.json",
    'X=$(printf .cla)ude; echo \'{}\' > "$X/settings.json"',
    'X=$(printf .cla)ude; echo \'{}\' > "/repo/$X/settings.local.json"',
    'cp x "$X/hooks/pre-commit"',
    'cp x "$HOME/$X/authorized_keys"',
    'tee "$X/agents/a.md"',
    'X=$(printf .cla)ude; cp src/a.ts $X/',
    'X=$(printf .cla)ude; cp src/a.ts $X',
    'X=$(printf .cla)ude; mkdir $X/x',
    'X=$(printf .bash)rc; tee "$X"',
    'touch "$A.claude/x"',
    "find . -name 'sett*' -exec sh -c 'echo 1 > $1' _ {} \\;",
    "find . -name settings.json -exec bash -c 'echo 1 > $1' _ {} \\;",
    "find . -name 'sett*' | xargs -n1 sh -c 'echo 1 > $0'",
    "git checkout lk; echo '{}' > lnk/settings.json",
    "tar xf a.tgz; echo '{}' > lnk/settings.json",
  ])('%s is asked about in every mode', (command) => {
    for (const rules of [{ mode: 'bypassPermissions' }, { allow: ['Bash'] }, { mode: 'acceptEdits', allow: MAKERS }])
      expect(judge(command, rules)).toBe('ask');
  });

  it.each([
    'ln -s "$(printf ../outside)" z; echo PWN > z/new.txt',
    'cp -r q m; echo PWN > m/a.txt',
    'git checkout lk; echo PWN > lnk',
    'mv w m; touch m/d/new.txt',
    'mv w m; cp src/a.ts m/d/new.txt',
  ])('%s is no edit that a mode accepts', (command) => {
    expect(judge(command, { mode: 'acceptEdits', allow: MAKERS })).toBe('ask');
  });

  it('a denied place is not changed through it', () => {
    expect(judge('mv q m; echo PWN > m/s/a.ts', { allow: ['Bash'], deny: ['Edit(/src/**)'] })).not.toBe('allow');
  });

  it.each([
    'cp -r src dist && cat dist/a.ts',
    'cp -r src dist && ls dist && cat dist/*.ts',
    'cp -r src m && cd m && cat a.ts',
    'mkdir -p dist && cp -r src/. dist/ && ls dist',
    'cp -r q m; cat src/a.ts',
    'cat src/a.ts; cp -r q m',
    'cp -r lib m; cat m/x',
    'cp src/a.ts b.ts && diff src/a.ts b.ts',
    'mv src m && cat m/a.ts',
    'mv a.ts b.ts && cat b.ts',
    'ln -s src y && cat y/a.ts',
    'git checkout -b feature && git add src/a.ts && git commit -m "x y"',
    'git checkout -b feature && cat src/a.ts',
    'git checkout main && git pull && git log --oneline -3',
    'git checkout main && npm test',
    'git checkout main && ls',
    'git stash && npm test && git stash pop',
    'git stash && git diff -- src && git stash pop',
    'git stash list && cat src/a.ts',
    'git reset HEAD~1 && cat src/a.ts',
    'git restore --staged src/a.ts && cat src/a.ts',
    'git restore src/b.ts && cat src/a.ts',
    'git fetch && git rebase origin/main && git status',
    'git commit -am x && cat src/a.ts',
    'cat src/a.ts; git checkout main',
    'tar czf x.tgz src && cat src/a.ts',
    'tar xzf x.tgz -C m && cat src/a.ts',
    'git clone https://x.example/y.git && cat src/a.ts',
  ])('%s needs no question', (command) => {
    expect(judge(command, { allow: MAKERS })).toBe('allow');
    expect(judge(command, { allow: ['Bash'], deny: ['Read(//outside/**)'] })).toBe('allow');
  });

  it.each([
    'git checkout main && echo hi > notes.txt',
    'cp -r src dist && echo x > dist/a.ts',
    'cp -r "$A" dist && echo x > dist/a.ts',
    'cp a "$X/hooks/useFoo.ts"',
    'echo \'{}\' > "$X/config"',
    'X=$(date +%s); echo > "$X.json"; echo > "log-$X.txt"; mkdir "${X}s"',
    'cp a "$X/"; cp a "$X.d/"; rm -r "$X.git"',
    "find src -name 'sett*' -exec sh -c 'echo 1 > $1' _ {} \\;",
    "find . -name '*.ts' -exec sh -c 'mv $1 $1.bak' _ {} \\;",
  ])('%s runs where everything does', (command) => {
    expect(judge(command, { mode: 'bypassPermissions' })).toBe('allow');
  });
});

describe('E2 programs that pack go through the links of folders', () => {
  it.each([
    'gzip -rc q | zcat',
    'gzip --recursive --stdout . | zcat',
    'gzip -cfr .',
    'gzip -rc .',
    'zcat -rf q',
    'pigz -rc q',
    'zstd -rc q',
    'gunzip -rc q',
  ])('%s', (command) => {
    expect(judge(command, DENIED)).not.toBe('allow');
  });
});

describe('E2 names of programs that others run', () => {
  it.each([
    'yarn run rm x',
    'deno task rm',
    'yarn run --silent rm x',
    'deno task --cwd src rm',
    'pnpm run rm',
    'pnpm run -C src rm x',
    'corepack yarn run rm x',
    'corepack pnpm dlx rm x',
    'corepack yarn@1.22 run rm x',
    'npx rm@1 x',
  ])('%s', (command) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Bash(rm:*)'] })).toBe('deny');
  });

  it.each([
    'yarn run build',
    'yarn run test --watch',
    'deno task build',
    'pnpm run build',
    'corepack enable',
    'corepack yarn install',
  ])('%s needs no more than a rule', (command) => {
    const allow = ['yarn run', 'deno task', 'pnpm run', 'corepack'].map((name) => `Bash(${name}:*)`);
    expect(judge(command, { allow })).toBe('allow');
  });
});
