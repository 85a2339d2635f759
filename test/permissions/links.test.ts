/** E2 patterns and odd paths lead where links lead, and rules hold there. */
import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';

const FS = ['/repo/ldir -> ../outside', '/repo/sub/lfile.txt -> /outside/secret.txt', '/repo/in -> /repo/src'];

function judge(command: string, rules: { allow?: string[]; deny?: string[] } = {}): string {
  const setup = { mode: 'default', cwd: '/repo', trusted: true, fs: FS, ...rules };
  return judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict;
}

const DENY = { allow: ['Bash'], deny: ['Read(//outside/**)'] };

describe('E2 links behind a pattern', () => {
  it.each([
    'cat ldir/secret.txt',
    'cat ld*/secret.txt',
    'cat */secret.txt',
    'cat ?dir/secret.txt',
    'cat [k-m]dir/secret.txt',
    'cat *d*/*.txt ldir/secret.txt',
    'cat sub/*',
    'cat sub/*.txt',
    'cat s?b/l*',
    'cat < sub/lf*',
    'head -n1 sub/*',
    'grep -r SECRET l*',
    'grep x */*',
    'for f in sub/*; do cat "$f"; done',
    'find l*/ -exec cat {} +',
    'find . -exec cat {} +',
    "find . -regex '.*' -exec cat {} +",
    "find . -name '*.txt' -exec cat {} +",
    'find . | xargs cat',
    'find sub -type l -exec cat {} +',
    "find . -type f -o -name '*.txt' -exec cat {} +",
    'git ls-files | xargs cat',
    'cat ld*/../outside/secret.txt',
  ])('%s is asked about, and denied where a rule says so', (command) => {
    expect(judge(command)).toBe('ask');
    expect(judge(command, DENY)).not.toBe('allow');
  });

  it.each(['cat ld*/secret.txt', 'cat */secret.txt', 'cat sub/*.txt', 'grep -r SECRET l* ldir/x'])(
    '%s is certainly denied',
    (command) => {
      expect(judge(command, DENY)).toBe('deny');
    },
  );

  it.each([
    'cat *.ts',
    'cat in/*',
    'cat i*/a.ts',
    'cat src/*',
    'ls',
    'ls src/*',
    'find . -type f -exec cat {} +',
    "find . -name '*.ts' -exec cat {} +",
    'find src -exec cat {} +',
    'find . -type f | xargs cat',
  ])('%s leads nowhere else', (command) => {
    expect(judge(command)).toBe('allow');
    expect(judge(command, DENY)).toBe('allow');
  });
});

describe('E2 `..` behind a link', () => {
  it('is where the system goes, and where the text says', () => {
    const deny = ['Read(//outside/k)'];
    const fs = ['/repo/l -> /outside/deep'];
    const verdict = (command: string): string =>
      judgeCase({ setup: { cwd: '/repo', fs, allow: ['Bash'], deny }, input: { tool: 'Bash', command } }).verdict;
    expect(verdict('cat l/../k')).toBe('deny');
    expect(verdict('cat < l/../k')).toBe('deny');
    expect(verdict('cat l/../j')).toBe('allow');
  });

  it.each(['cat .*/outside/secret.txt', 'cat .?/outside/k', 'cat [.][.]/outside/k', 'cat sub/../.*/outside/k'])(
    '%s may climb in older shells',
    (command) => {
      expect(judge(command)).toBe('ask');
      expect(judge(command, DENY)).toBe('ask');
    },
  );

  it.each(['cat .env*', 'ls *.ts', 'cat *.*'])('%s does not', (command) => {
    expect(judge(command)).toBe('allow');
  });
});

describe('E2 /proc leads wherever a process is', () => {
  const ENV = { allow: ['Bash'], deny: ['Read(./.env)'] };

  it.each([
    'cat /proc/self/cwd/.env',
    'cat /proc/thread-self/cwd/.env',
    'cat /proc/$$/cwd/.env',
    'cat /proc/$PPID/cwd/.env',
    'cat /proc/1/root/repo/.env',
    'cat /proc/*/cwd/.env',
    'cat /pro?/self/cwd/.env',
    'cat /proc/self/c?d/.env',
    'cat /proc/self/task/1/cwd/.env',
    'cat /dev/fd/../../self/cwd/.env',
    'cat /dev/fd/3/.env 3< .',
    'cat /dev/stdin/.env < .',
    'cat /proc/self/fd/3/.env 3< .',
    'cat //proc//self/./cwd/.env',
    'cd /proc/self/cwd && cat .env',
    'cat < /proc/self/cwd/.env',
    'cp /proc/self/cwd/.env x',
  ])('%s', (command) => {
    expect(judge(command, ENV)).not.toBe('allow');
    expect(judge(command)).toBe('ask');
  });

  it.each(['cat /proc/cpuinfo', 'cat /proc/self/status', 'echo /proc/self/cwd'])('%s does not', (command) => {
    expect(judge(command, ENV)).toBe('allow');
  });
});
