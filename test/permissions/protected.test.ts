/** What decides what may run is asked about in every mode, whatever program writes it and however that is spelled. */
import { describe, expect, it } from 'vitest';
import { commandAccesses } from '../../src/engine/permissions/command.js';
import { decidePermission, type PermissionPolicy } from '../../src/engine/permissions/decide.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';

const HOME = '/home/user';

function judge(command: string, policy: Partial<PermissionPolicy> & { allow?: string[] } = {}): string {
  const { allow = [], ...rest } = policy;
  const book = compileRules([{ name: 'user', base: '/repo', allow }], { home: HOME });
  const accesses = commandAccesses(command, '/repo', HOME);
  return decidePermission(
    { tool: 'Bash', input: { command }, readOnly: false, edits: false, accesses, command },
    { mode: 'default', book, roots: ['/repo'], home: HOME, cwd: '/repo', trusted: true, ...rest },
  ).verdict;
}

const BYPASS = { mode: 'bypassPermissions' } as const;

describe('E3 protected files', () => {
  it.each([
    // programs with a flag for what they write, or that change what they are given
    'shuf -o .mcp.json a',
    'iconv -o .mcp.json a',
    'ld -o .mcp.json a',
    'objcopy .mcp.json',
    'lz4 x .mcp.json',
    'xmllint --output .mcp.json a',
    'coreutils cp a .mcp.json',
    'flock .mcp.json ls',
    'flock -w 5 .mcp.json ls',
    'script -c ls .mcp.json',
    'strace -o .mcp.json ls',
    'mktemp .mcp.json',
    "vim -es -c 'w .mcp.json'",
    "vim -es '+w .mcp.json'",
    "sed -n 'w .mcp.json' a",
    "sed 's/a/b/w.mcp.json' a",
    "sed -n -e '/x/{w .mcp.json' -e '}' a",
    // more places than are looked at
    'cp -t a -t b -t c -t d -t e -t f -t g -t h -t . a b c d e f g .config/git',
    // target and name of the source
    'cp evil/.mcp.json .',
    'cp -r evil/.claude .',
    'cp -r evil/.claude/ ./',
    'cp -r -- evil/.claude .',
    'cp evil/.bashrc ~',
    'cp evil/.bashrc sub',
    'cp a evil/.mcp.json sub',
    'cp -t . evil/.mcp.json',
    'cp -vt . evil/.mcp.json',
    'cp --target-directory=. evil/.mcp.json',
    'cp --target-dir . evil/.mcp.json',
    'cp --target-dir=.claude x',
    'cp -St x .claude/settings.json',
    'cp --parents a/.claude/x b',
    'cp a/{.mcp.json,b} .',
    'f=.mcp.json; cp evil/$f .',
    'cp "$X" .claude/',
    'cp evil/.* .',
    'mv evil/.mcp.json .',
    'install x/.mcp.json .',
    'install -d .claude x',
    'rsync -a evil/.claude .',
    'rsync -aR evil/./.claude/x .',
    'scp -r host:.claude .',
    'docker cp c:/x/.mcp.json .',
    'ln -s evil/.claude .',
    'ln -s evil/.claude',
    'ln .claude/settings.json s.json',
    'cp -l .claude/settings.json s.json',
    'cd sub && cp ../evil/.mcp.json ..',
    'env cp evil/.mcp.json .',
    'sh -c "cp evil/.mcp.json ."',
    'gcp x .claude/y',
    // all that is in a folder
    'cp -r evil/. .',
    'cp -rT evil .',
    'cp -a evil/. ~',
    'cp -r evil/. /',
    'rsync -a evil/ .',
    'rsync -a --files-from=list evil .',
    // what is fetched, cloned, unpacked
    'curl -O https://x.example/.mcp.json',
    'curl -sLO https://x.example/.mcp.json?a=b',
    'curl -o.mcp.json https://x.example/',
    'curl --output .mcp.json https://x.example/',
    'curl --output-dir .claude -O https://x.example/a',
    'wget https://x.example/.mcp.json',
    'wget https://x.example/%2emcp.json',
    'git clone https://x.example/.claude',
    'git clone https://x.example/y .claude',
    'git worktree add .claude',
    'tar xf a.tar .claude/settings.json',
    'tar -xf a.tar -C .claude',
    'tar xfC a.tar .claude',
    'tar cCf src .claude/x .',
    'tar --extract --file=a.tar .claude',
    'unzip -o a.zip .claude/settings.json',
    'unzip a.zip -d .claude',
    "unzip -o a.zip '.cl*'",
    '7z x a.7z -o.claude',
    'patch -p1 <<E\n+++ b/.claude/settings.json\nE',
    'git apply <<E\n+++ b/.claude/settings.json\nE',
    'tar c -C evil .claude | tar x',
    'git archive HEAD .claude | tar x',
    'find evil/.claude | cpio -pd .',
    'pax -rw evil/.mcp.json .',
    'find evil -name .mcp.json -exec cp {} . \\;',
    'cp "$X" .',
    'git init --template=evil',
    'git clone --template=evil u d',
    // scripts and flags in every spelling
    'sed -i -es/deny/allow/ .claude/settings.json',
    'sed -i -e s/a/b/ .claude/settings.json',
    'sed -i --expression=s/a/b/ .claude/settings.json',
    'sed -i --expr s/a/b/ .claude/settings.json',
    'sed -i -fe .claude/settings.json',
    'sed -ie s/a/b/ .claude/settings.json',
    'sed --in-pl s/a/b/ .claude/settings.json',
    'sed -ni.bak p .claude/x',
    "perl -0pi -e 's/a/b/' .claude/settings.json",
    'perl -pi -es/a/b/ .claude/settings.json',
    "gawk -i inplace '{print}' .claude/settings.json",
    'gawk -iinplace 1 .mcp.json',
    'yq -i .a=1 .claude/x.yaml',
    'chmod -w .claude/settings.json',
    'chmod --reference=x .claude/settings.json',
    'chattr -i .claude/settings.json',
    'chown me .claude/settings.json',
    'find . -fprint .claude/settings.json',
    'find .claude -name x -delete',
    'split x .claude/y',
    'dd if=x of=.mcp.json',
    'rm -rf .cl*',
    'mv .* x',
    'tee .claud?/settings.json',
    // what they write without naming it
    'git config core.fsmonitor x',
    'git config core.pager evil',
    'git config --add core.hooksPath x',
    'git config --global alias.x !evil',
    'git config set core.hooksPath x',
    'git config --unset core.hooksPath',
    'git config --file .git/config user.name x',
    'git -C . config core.fsmonitor x',
    'npm config set script-shell x',
    'npm set script-shell x',
    // policy, repositories of other names, what the machine reads
    'echo x > managed-settings.d/a.json',
    'echo x > /etc/heddle/a.json',
    'echo x > /etc/profile.d/a.sh',
    'echo x > foo.git/hooks/pre-commit',
    'echo x > .CLAUDE/settings.json',
    'echo x > .\u017fsh/authorized_keys',
    'echo x > ~/.config/systemd/user/a.service',
    // programs in other languages
    `python3 -c "open('.mcp.json','w')"`,
    `node -e "fs.writeFileSync('.bashrc', x)"`,
    "python3 - <<'E'\nopen('.mcp.json', 'w')\nE",
    'gcc -MD -MF .mcp.json -c x.c',
    'gcc -MF.mcp.json -c x.c',
    'g++ -Wl,-Map=.mcp.json x.c',
    'cc -Wp,-MD,.mcp.json x.c',
    'ld -Map=.mcp.json a.o',
    'ld -Map .mcp.json a.o',
    "curl -w '%output{.mcp.json}x' https://x.example",
    'wget --hsts-file=.mcp.json https://x.example',
    'rustc -o.mcp.json x.rs',
    'go test -coverprofile=.mcp.json ./...',
    'ssh -E .mcp.json host',
    'less -o .mcp.json x',
    'shfmt -w .bashrc',
    'tar -g .mcp.json -czf x.tgz src',
    'gpg --status-file .mcp.json -d x',
    'openssl rand -writerand .mcp.json 3',
    'ar rcs .mcp.json x.o',
    'gh release download -O .mcp.json',
    'hg cat -o .mcp.json x',
    'mktemp .git/XXX',
    'git maintenance start',
    'git lfs install',
    'cd .claude && git init',
    // files of variables, however they are set
    'read GIT_INDEX_FILE <<< .mcp.json; export GIT_INDEX_FILE; git read-tree HEAD',
    'mapfile GIT_INDEX_FILE <<< .mcp.json; export GIT_INDEX_FILE; git read-tree HEAD',
    'for GIT_INDEX_FILE in .mcp.json; do export GIT_INDEX_FILE; git read-tree HEAD; done',
    'export GIT_INDEX_FILE; : ${GIT_INDEX_FILE:=.mcp.json}; git read-tree HEAD',
    'printf -v GIT_INDEX_FILE .mcp.json; export GIT_INDEX_FILE; git read-tree HEAD',
    // patterns in braces
    'rm {.mcp.j*,b}',
    // names that another command lists
    'grep -rl old . | xargs sed -i s/a/b/',
    'rg -l old | xargs sed -i s/a/b/',
    'ls -A | xargs rm -rf',
    'git ls-files | grep -v test | xargs sed -i s/a/b/',
    "find . -type f | sed 's|^./||' | xargs rm",
    '(find .; ls) | xargs rm',
    'grep -rl old . | while read f; do sed -i s/a/b/ "$f"; done',
    'while read -r f; do rm "$f"; done < <(find . -type f)',
    'for f in $(ls -A | sort); do echo x > $f; done',
    'sed -i s/a/b/ $(grep -rl old . | tr a b)',
    'printf "%s\\n" .* | xargs rm',
    "find . -name '*.md' -exec cp evil {} \\;",
    "find . -name '*.sh' | xargs chmod +x",
    // what cannot be read
    '"$X" evil .claude/settings.json',
    `${'('.repeat(90)}cp x .claude/settings.json${')'.repeat(90)}`,
    `echo ${'a'.repeat(11_000)} > .mcp.json`,
  ])('%j', (command) => {
    expect(judge(command, BYPASS)).toBe('ask');
    expect(judge(command, { allow: ['Bash'] })).toBe('ask');
    expect(judge(command, { mode: 'acceptEdits', allow: ['Bash', 'Edit'] })).toBe('ask');
  });

  it.each([
    ['cp -r evil/.claude .', 'Bash(cp:*)'],
    ['cp evil/.mcp.json .', 'Bash(cp:*)'],
    ['rsync -a evil/.claude .', 'Bash(rsync:*)'],
    ['sed -i -es/deny/allow/ .claude/settings.json', 'Bash(sed:*)'],
    ['unzip -o a.zip .claude/settings.json', 'Bash(unzip:*)'],
    ['tar xf a.tar .claude/settings.json', 'Bash(tar:*)'],
    ['git config core.fsmonitor x', 'Bash(git config:*)'],
  ])('%s under %s', (command, rule) => {
    expect(judge(command, { allow: [rule] })).toBe('ask');
  });

  it.each([
    'cp src/a.ts src/c.ts',
    'cp -r src dist',
    'cp -r public/. dist',
    'cp -r template/ app',
    'cp .env.example .env',
    'cp .claude/settings.json /tmp/settings.json',
    'cp "$SRC" dest/',
    'mv a b',
    'ln -s ../a b',
    'rsync -a src/ dist/',
    'tar xf a.tar',
    'tar czf out.tgz .',
    'unzip a.zip',
    'git config user.name x',
    'git config core.pager cat',
    'git config --get core.pager',
    'git config core.pager',
    'git config --list',
    'git config get core.pager',
    'git config --type bool core.bare',
    'npm config get registry',
    'git checkout .',
    'git clone https://github.com/x/y.git z',
    'git apply x.patch',
    'patch -p1 < x.patch',
    'wget https://x.example/a.tgz',
    'curl https://x.example/.mcp.json',
    'curl -O https://x.example/a.tgz',
    'sed -i s/a/b/ x.ts',
    "find . -name '*.ts' -exec sed -i s/a/b/ {} +",
    'grep -rl foo src | xargs sed -i s/a/b/',
    "grep -rl --include='*.ts' foo . | xargs sed -i s/a/b/",
    "rg -l -g '*.ts' foo | xargs sed -i s/a/b/",
    "git ls-files '*.ts' | xargs sed -i s/a/b/",
    "git diff --name-only main...HEAD | grep -E '\\.(ts|tsx)$' | xargs prettier --write",
    'find . -name \'*.ts\' | while IFS= read -r f; do sed -i s/a/b/ "$f"; done',
    'ls | xargs rm',
    'gcc -O2 -std=c11 -Wl,-rpath,/usr/lib -MD -MF build/x.d -c x.c -o build/x.o',
    'mktemp /tmp/x.XXXXXX',
    'read -r X <<< .mcp.json; echo "$X"',
    'git commit -m "$(git status --short | head -3)"',
    'tmp=$(mktemp); grep -r x . > "$tmp"',
    'chmod -R 755 dist',
    'rm -rf node_modules',
    'cat .claude/settings.json',
    'find src -name "*.ts" -exec cp {} dist \\;',
    'find src -name "*.ts" -exec cp {} . \\;',
    'for f in dist/*.js; do cp "$f" .; done',
    'cp "$TMP/a.txt" .',
    'tar c src | tar x -C dist',
    `python3 -c "print('.git')"`,
    'eval "$X"',
    `echo ${'a'.repeat(11_000)}`,
  ])('%j is no change of them', (command) => {
    expect(judge(command, BYPASS)).toBe('allow');
  });
});

describe('E3 the settings of the session, under any name', () => {
  const own = { ownPlaces: ['/repo/cfg', '/repo/flags.json', '/repo/deep/er/policy'] };

  it.each([
    'echo x > cfg/settings.json',
    'echo x > cfg/agents/a.md',
    'cp x flags.json',
    'cp evil/flags.json .',
    'mv evil/* .',
    'rm -rf cfg',
    'rm -rf deep',
    'mv deep x',
    'cp -r evil/. deep',
    'tar xf a.tar',
    'unzip a.zip -d deep',
    'cd deep/er && echo x > policy',
    'sed -i s/a/b/ /repo/flags.json',
    `python3 -c "open('flags.json','w')"`,
    'ln -s cfg c; echo x > c/settings.json',
  ])('%s', (command) => {
    expect(judge(command, { ...BYPASS, ...own })).toBe('ask');
    expect(judge(command, BYPASS)).toBe('allow');
  });

  it.each([
    'cat cfg/settings.json',
    'echo x > cfg2/settings.json',
    'tar xf a.tar -C dist',
    'cp a.ts b.ts',
    'rm -rf dist',
  ])('%s is none of them', (command) => {
    expect(judge(command, { ...BYPASS, ...own })).toBe('allow');
  });

  it('letter case does not matter where it does not on the disk', () => {
    expect(judge('echo x > CFG/settings.json', { ...BYPASS, ...own, platform: 'darwin' })).toBe('ask');
    const book = compileRules([], { home: HOME });
    const write = (path: string, platform: string, ownPlaces: string[]): string =>
      decidePermission(
        { tool: 'Write', input: {}, readOnly: false, edits: true, accesses: [{ path, access: 'write' }] },
        { ...BYPASS, book, roots: ['/repo'], home: HOME, cwd: '/repo', trusted: true, platform, ownPlaces },
      ).verdict;
    expect(write('C:\\repo\\CFG\\settings.json', 'win32', ['C:\\repo\\cfg'])).toBe('ask');
    expect(write('C:\\repo\\cfg2\\settings.json', 'win32', ['C:\\repo\\cfg'])).toBe('allow');
    expect(write('/repo/Cfg/x', 'linux', ['/repo/cfg'])).toBe('allow');
  });
});
