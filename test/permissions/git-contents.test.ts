/** What git shows of files that it does not name, or names in its own ways. */
import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';

function judge(command: string, setup: Record<string, unknown> = {}) {
  const given = { mode: 'default', cwd: '/repo', trusted: true, allow: ['Bash'], deny: ['Read(./.env)'], ...setup };
  return judgeCase({ id: 1, setup: given, input: { tool: 'Bash', command } });
}

describe('E2 a denied file in commits', () => {
  it.each([
    'git show HEAD:.env',
    "git show 'HEAD^{/a:b}:.env'",
    "git cat-file -p 'HEAD^{/a:b}:.env'",
    "git show 'HEAD@{0:0}:.env'",
    'git show :0:.env',
    'git show :.env',
    'git -C sub show HEAD:.env',
    'cd sub && git show HEAD:.env',
    `git show ${'HEAD:a '.repeat(40)}HEAD:.env`,
    `cd sub && git show ${'HEAD:a '.repeat(40)}HEAD:.env`,
    // Patterns of git go over slashes.
    "git grep x -- '.en*'",
    'git grep x -- .en*',
    "git diff -- '.en*'",
    "git diff -- '.[e]nv'",
    "git diff '*.env'",
    "git log -p -- '*.env'",
    "git show HEAD -- '*nv'",
    "git show HEAD -- '.e?v'",
    "git diff -- ':(icase).ENV'",
    "cd sub && git grep x -- ':/'",
    'cd sub && git grep x -- :/.env',
    // What looks like a limit, and is none.
    'git grep -- x',
    'git grep -n -- a.ts',
    'git grep -A 3 -- a.ts',
    'git log -p --full-diff -- src',
    "git log -p --grep -- --author ':!.env'",
    "git log -p -S ':!.env'",
    "git grep ':!.env'",
    "git grep -e ':!.env'",
    "git stash show -p -- ':!.env'",
    "git status -v -- ':!.env'",
    "git bundle create b HEAD -- ':!.env'",
    "git diff -- . ':!src'",
    "git diff -- . ':!.env.example'",
    "cd sub && git diff -- ':!.env'",
    // The contents of an object are shown with any flag.
    'git show --stat abc1234',
    'git show -s abcd',
    'git show --name-only v1-3-gabc1234',
    'git show --stat main..abc1234',
    "git show -s 'main^{blob}'",
    'git show -s $(git rev-parse x)',
    'echo abc1234 | git show -s --stdin',
    "git show abc1234 -- src ':!.env'",
    'git diff abc1234 src/a.ts',
    'git diff abc1234 -- src/a.ts',
  ])('%s', (command) => {
    expect(judge(command).verdict).not.toBe('allow');
    expect(judge(command, { allow: [] }).verdict).not.toBe('allow');
  });

  it.each([
    "git diff -- . ':!.env'",
    "git diff ':!.env'",
    "git diff -- ':(exclude).env'",
    "git log -p -- . ':^.env'",
    "git grep -n x -- . ':!.env'",
    "git grep -e x -- . ':!.env'",
    "git diff HEAD~1 --stat -p -- . ':!.env'",
    "git diff -- '*.ts'",
    "git diff -- 'src/*'",
    'git show --stat HEAD',
    'git show --stat abc1234^',
    "git show -s 'abc1234^{commit}'",
    'git diff abc1234..def5678 -- src/a.ts',
    'git diff HEAD~1:a.ts HEAD:a.ts',
    'kill $(lsof -t -i:3000)',
  ])('%s leaves it alone', (command) => {
    expect(judge(command).verdict).toBe('allow');
  });

  it.each([
    'git grep SECRET -- /repo',
    'git grep SECRET -- "$PWD"',
    'git diff topic -- /repo/',
    'git log -p topic -- /repo/.',
    'git show v1 a.txt /repo',
    'git -C sub diff -- /repo',
    'git diff -- ../repo',
    'git diff -- /',
    "git diff -- '/repo/*'",
    'git range-diff --creation-factor=100 master...other',
    'git add -p',
    'git commit -v --dry-run',
    'git commit --patch',
    'git checkout -p other',
    'git merge-tree main other',
  ])('%s reaches it', (command) => {
    expect(judge(command).verdict).not.toBe('allow');
    expect(judge(command, { allow: [] }).verdict).not.toBe('allow');
  });

  it.each(['git diff -- /repo/src', 'git grep x -- /repo/src/a.ts', 'git add -A'])('%s does not', (command) => {
    expect(judge(command).verdict).toBe('allow');
  });

  it('a project may be called as files are', () => {
    const setup = { cwd: '/code/next.js' };
    for (const path of ['/code/next.js', '../next.js']) {
      expect(judge(`git diff -- ${path}`, setup).verdict).toBe('ask');
      expect(judge(`diff a.ts ${path}`, setup).verdict).toBe('ask');
    }
    expect(judge('git diff -- /code/next.js/a.ts', setup).verdict).toBe('allow');
  });

  it.each([
    'git show next.js',
    'git diff rel.md',
    'git log -p next.js',
    'git show fix/a.ts',
    'git diff main next.js',
    'git show src next.js',
    'git -C sub show next.js',
    'cd sub && git show next.js',
  ])('%s: what is no file is a branch', (command) => {
    const missing = ['next.js', 'rel.md', 'fix/a.ts', 'sub/next.js'].map((name) => `/repo/${name} is missing`);
    for (const allow of [['Bash'], []]) expect(judge(command, { allow, fs: missing }).verdict).toBe('ask');
    expect(judge(command).verdict).toBe('allow');
  });

  it('a word too many is not known to be a file', () => {
    expect(judge(`git diff ${Array.from({ length: 120 }, (_, at) => `${at}.ts`).join(' ')}`).verdict).toBe('ask');
  });

  it('folders of two commits are compared file by file', () => {
    const deny = ['Read(./src/conf/**)'];
    expect(judge('git diff HEAD~1:src HEAD:src', { deny }).verdict).toBe('ask');
    expect(judge('git diff HEAD~1:lib HEAD:lib', { deny }).verdict).toBe('allow');
    expect(judge("git diff -- . ':!src/conf'", { deny }).verdict).toBe('allow');
  });

  it('says how to leave it out', () => {
    expect(judge('git diff').reason).toContain("-- . ':!.env'");
  });
});

describe('E3 the config of a repository', () => {
  const bypass = { mode: 'bypassPermissions', deny: [] };

  it.each([
    'git config core.fsmonitor evil.sh',
    'git config --comment --get core.fsmonitor evil.sh',
    'git config --comment=x core.fsmonitor evil.sh',
    'git config --comm user.name core.fsmonitor evil.sh',
    'git config --type --get core.fsmonitor evil.sh',
    'git config --glob core.fsmonitor evil.sh',
    'git config set core.fsmonitor evil.sh',
    'git config --add core.fsmonitor evil.sh',
    'git config --unset core.fsmonitor',
  ])('%s changes it', (command) => {
    expect(judge(command, bypass).verdict).toBe('ask');
  });

  it.each([
    'git config --get core.fsmonitor',
    'git config --type bool --get core.fsmonitor',
    'git config get core.fsmonitor',
    'git config core.fsmonitor',
    'git config -l',
    'git config --global user.name me',
    'git config --comment why user.name me',
  ])('%s does not', (command) => {
    expect(judge(command, bypass).verdict).toBe('allow');
    expect(judge(command, { allow: ['Bash(git:*)'], deny: [] }).verdict).toBe('allow');
  });

  it('under a rule for git, too', () => {
    const allow = ['Bash(git:*)'];
    expect(judge('git config --comm user.name core.pager evil.sh', { allow, deny: [] }).verdict).toBe('ask');
    expect(judge('git config --comment --get core.pager evil.sh', { allow, deny: [] }).verdict).toBe('ask');
  });
});
