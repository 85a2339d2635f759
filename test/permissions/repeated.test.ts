/** Which of several flags counts, and where flags end, is read as each program reads it; where that is not certain, it asks. */
import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';

function judge(command: string, rules: Record<string, unknown> = {}): string {
  const setup = { mode: 'default', cwd: '/repo', home: '/home/user', trusted: true, ...rules };
  return judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict;
}

const RM = { allow: ['Bash'], deny: ['Bash(rm:*)'] };
const ENV = { allow: ['Bash'], deny: ['Read(./.env)'] };

describe('D1 of marks and counts xargs takes the last', () => {
  const FLAGS = [
    '-I{}',
    '-I A',
    '-i',
    '-iA',
    '--replace',
    '--replace=A',
    '-L1',
    '-L 2',
    '-l',
    '-n1',
    '-n 2',
    '--max-args=2',
  ];
  const MARKS = FLAGS.slice(0, 6);
  const pairs = MARKS.flatMap((mark) => FLAGS.flatMap((other) => [`${mark} ${other}`, `${other} ${mark}`]));

  it.each(['cat', 'sed p', 'sort', 'find .', 'awk 1'])('%s is asked about with any two of them', (program) => {
    expect(pairs.filter((flags) => judge(`echo a.txt | xargs ${flags} ${program}`) !== 'ask')).toEqual([]);
    expect(pairs.filter((flags) => judge(`echo x | xargs ${flags} rm`, RM) !== 'deny')).toEqual([]);
  });
});

describe('D1 folders that are given again', () => {
  it.each([
    'env -C sub -C / cat etc/hostname',
    'env -C sub --chdir=/ cat etc/hostname',
    'env --chdir=/ -C sub cat ../etc/hostname',
    'env --chdir=sub --chdir=.. cat a',
  ])('%s', (command) => {
    expect(judge(command)).toBe('ask');
  });

  it.each([
    'env -C sub -C / cat repo/.env',
    'sudo -D sub -D / cat repo/.env',
    'conda run --cwd sub --cwd / cat repo/.env',
    'tar -C .. -cf - repo',
    'tar -C / -cf - repo/.env',
    'tar --directory=/ -cf - repo/.env',
    'tar cC / repo/.env',
    'tar cC . .',
    'tar -C sub -C .. -cf - .env',
    'cd sub && git -C .. show HEAD -- .env',
    'cd sub && git -C /repo diff -- .',
    'git -C .. checkout -- repo/.env',
    'make -C sub ../.env',
  ])('%s', (command) => {
    expect(judge(command, ENV)).not.toBe('allow');
  });
});

describe('D1 flags of shells may be taken back, and take the next word', () => {
  it.each([
    "bash +x -c 'rm x'",
    "sh +x -c 'rm x'",
    "bash -c +x 'rm x'",
    "bash -c + 'rm x'",
    "bash -c - 'rm x'",
    "sh -c - 'rm x'",
    "bash +o posix -c 'rm x'",
    "bash +O extglob -c 'rm x'",
    "bash -O extglob -c 'rm x'",
    "bash -o errexit +x -c 'rm x'",
    "bash -oc errexit 'rm x'",
    "bash -c -oe history 'rm x'",
    "bash -euo pipefail -c 'rm x'",
    "sudo bash +x -c 'rm x'",
    "find . -exec bash +x -c 'rm x' ';'",
    `eval "bash +x -c 'rm x'"`,
    "env -S '-i' -S 'rm x'",
    "env -S 'A=1' -S 'rm x'",
  ])('%s', (command) => {
    expect(judge(command, RM)).toBe('deny');
  });

  it.each(["bash +x <<< 'rm x'", 'echo rm x | bash +x', "bash -c - <<< 'rm x'", "bash -o posix +e <<< 'rm x'"])(
    '%s',
    (command) => {
      expect(judge(command, RM)).not.toBe('allow');
    },
  );

  it('what would destroy is asked about in every mode', () => {
    const bypass = { mode: 'bypassPermissions' };
    expect(judge("bash +x -c 'rm -rf ~'", bypass)).toBe('ask');
    expect(judge("bash -c - 'rm -rf ~'", bypass)).toBe('ask');
  });
});

describe('D1 what runs programs', () => {
  it.each([
    'npm x -- rm x',
    "npm exec ls --call='rm x'",
    "npm exec -c 'ls' -- rm x",
    'npx rm x',
    "npx -c 'rm x'",
    'pnpm dlx rm x',
    'yarn dlx rm x',
    'bunx rm x',
    'uvx rm x',
    'mise x -- rm x',
    'mise x node@20 -- rm x',
    'nix shell p -c rm x',
    "nix develop -c bash -c 'rm x'",
    "nix-shell -p a b --run 'rm x'",
    'cross-env A=b rm x',
    "concurrently 'ls' 'rm x'",
    'sem rm x',
    "tmux new-session -d 'rm x'",
    'tmux neww rm x',
    "start-stop-daemon -S -x /bin/bash -- -c 'rm x'",
    'rustup run stable rm x',
    'direnv exec . rm x',
    'dotenvx run -- rm x',
  ])('%s', (command) => {
    expect(judge(command, RM)).toBe('deny');
  });

  it.each(["strace -o '|rm x' ls", "systemd-run -p ExecStartPre='rm x' true", "hyperfine -L x rm '{x} y'"])(
    '%s',
    (command) => {
      expect(judge(command, RM)).not.toBe('allow');
    },
  );

  it.each(['npx tsc --noEmit', 'npx --yes vitest run', 'npx eslint . --fix'])('a rule for npx allows %s', (command) => {
    expect(judge(command, { allow: ['Bash(npx:*)'] })).toBe('allow');
    expect(judge(command)).toBe('ask');
  });
});

describe('E2 flags behind operands', () => {
  it.each(['xxd a -u', 'xxd a -p', 'xxd a --', 'uniq a -c', 'uniq a --', "sed 'w x' -e p", 'head a -n /etc/passwd'])(
    '%s may be files',
    (command) => {
      expect(judge(command)).toBe('ask');
    },
  );

  it.each(['xxd -u a', 'uniq -c a', 'sed -e p a', 'head a -n 5', 'sort a -k 2'])('%s', (command) => {
    expect(judge(command)).toBe('allow');
  });

  it.each([
    "find . -type f -exec cat {} + -name '*.ts'",
    "find . -print -name '*.ts' | xargs cat",
    "find . -print0 -name '*.ts' | xargs -0 cat",
    "grep -r --exclude=q --include='*.ts' x .",
    'git stash show',
    'git stash show --color',
    'git stash show -w',
    'git stash list -p',
    'git show HEAD a.txt .',
    'git show . a.txt',
    'git log -p a.txt ./',
    'git log -u a.txt .',
    'git show --quiet --no-quiet',
  ])('%s may read what is denied', (command) => {
    expect(judge(command, ENV)).toBe('ask');
  });

  it.each([
    "find . -name '*.ts' -exec cat {} +",
    "grep -r --include='*.ts' x .",
    'git stash show --stat',
    'git stash list',
    'git diff HEAD a.txt',
    'git diff main a.txt src/b.ts',
    'git show --quiet',
    'git show --stat --no-color',
  ])('%s does not', (command) => {
    expect(judge(command, ENV)).toBe('allow');
  });
});

describe('E2 rules that name more than they seem to', () => {
  it('`Edit` alone is every change, `Read` alone every reading', () => {
    const edit = { allow: ['Bash', 'Write'], deny: ['Edit'] };
    const read = { allow: ['Bash', 'Grep'], deny: ['Read'] };
    for (const command of ['sed -i s/a/b/ x', 'echo > x', 'rm x']) expect(judge(command, edit)).toBe('deny');
    for (const command of ['npm test', 'cat a', 'ls']) expect(judge(command, edit)).toBe('allow');
    for (const command of ['cat a', 'grep x a', 'cp a b', 'cat < a']) expect(judge(command, read)).toBe('deny');
    for (const command of ['npm test', 'ls', 'echo a']) expect(judge(command, read)).toBe('allow');
    const call = (tool: string, setup: object): string =>
      judgeCase({ setup: { cwd: '/repo', ...setup }, input: { tool, file_path: 'a', pattern: 'x' } }).verdict;
    expect(call('Write', edit)).toBe('deny');
    expect(call('Read', edit)).toBe('allow');
    expect(call('Grep', read)).toBe('deny');
    expect(judge('echo > x', { allow: ['Bash'], ask: ['Edit'] })).toBe('ask');
  });

  it.each(['git clean -fdx', 'git clean -fd -e dist', 'git apply p', 'git am p', 'patch -p1 < p', 'patch -p1 -i p'])(
    '%s may change what is denied',
    (command) => {
      expect(judge(command, { allow: ['Bash'], deny: ['Edit(/docs/**)'] })).toBe('ask');
    },
  );

  it.each(['git clean -fdx', 'git clean -fd .', 'git clean -fdx -e -n', 'git stash -a', 'git stash push -u'])(
    '%s may take away what must not be read',
    (command) => {
      for (const rule of ['Read(./.env)', 'Read(./secrets/**)', 'Edit(./.env)'])
        expect([rule, judge(command, { allow: ['Bash(git:*)'], deny: [rule] })]).toEqual([rule, 'ask']);
    },
  );

  it.each(['git clean -nd', 'git clean -fdx dist', 'git stash', 'git stash push -u -- src'])(
    '%s does not',
    (command) => {
      expect(judge(command, { allow: ['Bash(git:*)'], deny: ['Read(./.env)'] })).toBe('allow');
    },
  );

  it('git clean of one folder changes that', () => {
    expect(judge('git clean -fd dist', { allow: ['Bash'], deny: ['Edit(/docs/**)'] })).toBe('allow');
  });

  it('tools of one server may be allowed by a pattern', () => {
    const verdict = (tool: string, more: object = {}): string =>
      judgeCase({ setup: { cwd: '/repo', allow: ['mcp__gh__get_*'], ...more }, input: { tool, input: {} } }).verdict;
    expect(verdict('mcp__gh__get_issue')).toBe('allow');
    for (const tool of [
      'mcp__gh__put',
      'mcp__ghx__get_a',
      'mcp__gh__get_a__b',
      'mcp__gh___get_a',
      'mcp__x__gh__get_a',
    ]) {
      expect(verdict(tool)).toBe('ask');
    }
    expect(verdict('mcp__gh__get_issue', { allow: ['mcp__*__get_*'] })).toBe('ask');
    expect(verdict('mcp__gh__get_issue', { deny: ['mcp__gh'] })).toBe('deny');
  });
});

describe('D2 what only tells is not asked about', () => {
  it.each([
    'node --version',
    'node -v',
    'python3 --version',
    'tsc --version',
    'go version',
    'hash -r',
    'git config user.name',
    'git config --list',
  ])('%s', (command) => {
    expect(judge(command)).toBe('allow');
  });

  it.each([
    'node --version x',
    'python3 -v',
    'node -v -e 1',
    'npm --version',
    'git config user.name x',
    'hash -p x y',
    'git config edit',
  ])('%s is', (command) => {
    expect(judge(command)).toBe('ask');
  });

  it('only where the folder is trusted', () => {
    expect(judge('tsc --version', { trusted: false })).toBe('ask');
  });
});

it('names a file at home as one', () => {
  const setup = { cwd: '/repo', mode: 'bypassPermissions' };
  const input = { tool: 'Bash', command: 'git config --global core.hooksPath x' };
  expect(judgeCase({ setup, input }).reason).toMatch(/^~\/\.gitconfig decides/);
});
