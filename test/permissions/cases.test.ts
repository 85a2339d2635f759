import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPermissions } from '../../src/cli/permissions-check.js';
import { judgeCase, type PermissionCase } from '../../src/engine/permissions/check.js';

interface KnownCase extends PermissionCase {
  id: string;
  area: string;
  expected: 'allow' | 'ask' | 'deny';
  why: string;
}

const read = (file: string): KnownCase[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../fixtures/permissions', file), 'utf8')) as KnownCase[];
const CASES = read('cases.json');

/** Asking may be stricter; denying and allowing may not be anything else. */
const scores = (expected: string, verdict: string): boolean =>
  expected === 'ask' ? verdict === 'ask' || verdict === 'deny' : verdict === expected;

describe('the cases that a permission engine must judge rightly', () => {
  it.each(CASES.map((each) => [each.id, each.why, each] as const))('D1 %s: %s', (_, __, each) => {
    const verdict = judgeCase(each);
    expect({ ...verdict, rightly: scores(each.expected, verdict.verdict) }).toEqual({ ...verdict, rightly: true });
  });

  it('are as many as were given', () => {
    expect(CASES.length).toBe(166);
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(166);
  });
});

describe('permissions check', () => {
  async function check(...lines: string[]): Promise<unknown[]> {
    let written = '';
    const input = (async function* () {
      const bytes = new TextEncoder().encode(lines.join('\n'));
      for (let at = 0; at < bytes.length; at += 7) yield bytes.slice(at, at + 7);
    })();
    const code = await checkPermissions({ input, write: (text) => void (written += text) }, judgeCase);
    expect(code).toBe(0);
    return written
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  }

  it('D4 answers each line with verdict, rule, layer, segments and reason', async () => {
    const setup = { mode: 'default', cwd: '/repo', trusted: true, allow: ['Bash(git:*)'], deny: ['Bash(rm:*)'] };
    const line = JSON.stringify({ id: 'x', setup, input: { tool: 'Bash', command: 'git status && rm -rf "ü b"' } });
    expect(await check(line)).toEqual([
      {
        id: 'x',
        verdict: 'deny',
        rule: 'Bash(rm:*)',
        layer: 'user',
        segments: ['git status', 'rm -rf ü b'],
        reason: 'Permission to use Bash with command git status && rm -rf "ü b" has been denied.',
      },
    ]);
  });

  it('writes one line for each case, whatever signs stand in it', async () => {
    let written = '';
    const line = JSON.stringify({ id: 'a\u2028b\u2029c\u0085', input: { tool: 'Bash', command: 'ls' } });
    const input = (async function* () {
      yield line;
    })();
    await checkPermissions({ input, write: (text) => void (written += text) }, judgeCase);
    expect(written).not.toMatch(/[\u2028\u2029\u0085]/);
    expect(JSON.parse(written)).toMatchObject({ id: 'a\u2028b\u2029c\u0085', verdict: 'allow' });
  });

  it('goes on after a line that cannot be judged', async () => {
    const answers = await check(
      '{',
      '[]',
      'null',
      '',
      '{"id":7}',
      '{"id":8,"setup":{"deny":[7]},"input":{"tool":"Read"}}',
    );
    expect(answers).toMatchObject([
      { id: null, verdict: 'error' },
      { id: null, verdict: 'error' },
      { id: null, verdict: 'error' },
      { id: 7, verdict: 'error' },
      { id: 8, verdict: 'error' },
    ]);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['a managed deny', { allow: ['Bash(npm:*)'], managed: { deny: ['Bash(npm:*)'] } }, { command: 'npm test' }, 'deny'],
    ['managed rules as a list', { allow: ['Bash(npm:*)'], managed: ['Bash(npm:*)'] }, { command: 'npm test' }, 'deny'],
    [
      'a project that nobody trusts',
      { trusted: false, project: { allow: ['Bash(npm:*)'] } },
      { command: 'npm test' },
      'ask',
    ],
    ['a project that is trusted', { project: { allow: ['Bash(npm:*)'] } }, { command: 'npm test' }, 'allow'],
    [
      'a hard link',
      { deny: ['Read(./k)'], fs: ['/repo/h is a hard link to /repo/k'] },
      { tool: 'Read', file_path: '/repo/h' },
      'deny',
    ],
    [
      'a link to what is denied',
      { deny: ['Read(./k)'], fs: ['/repo/l -> /repo/k'] },
      { tool: 'Read', file_path: '/repo/l' },
      'deny',
    ],
    [
      'a relative link',
      { deny: ['Read(./k)'], fs: ['/repo/a/l -> ../k'] },
      { tool: 'Read', file_path: '/repo/a/l' },
      'deny',
    ],
    ['a link in a shell line', { deny: ['Read(./k)'], fs: ['/repo/l -> /repo/k'] }, { command: 'cat l' }, 'deny'],
    [
      'a link for a folder of a rule',
      { deny: ['Read(./s/**)'], fs: ['/repo/s -> /data/s'] },
      { tool: 'Read', file_path: '/data/s/k' },
      'deny',
    ],
    [
      'a link that would carry an allow elsewhere',
      { allow: ['Read(./l/**)'], fs: ['/repo/l -> /etc'] },
      { tool: 'Read', file_path: '/repo/l/x' },
      'ask',
    ],
    [
      'an allow in a project that is a link',
      { allow: ['Edit(./d/**)'], fs: ['/repo -> /data/repo'] },
      { tool: 'Edit', file_path: '/repo/d/x' },
      'allow',
    ],
    ['a home that is of somebody else', {}, { tool: 'Read', file_path: '~root/.ssh/id_rsa' }, 'ask'],
    ['a variable for a path', {}, { tool: 'Read', file_path: '$HOME/.ssh/id_rsa' }, 'ask'],
    [
      'a short name on Windows',
      { mode: 'acceptEdits', cwd: 'C:\\repo', platform: 'win32' },
      { tool: 'Write', file_path: 'C:\\repo\\GIT~1\\config' },
      'ask',
    ],
    ['a linked folder that leads out', { fs: ['/repo/l -> /etc'] }, { command: 'cat l/passwd' }, 'ask'],
    ['a project that is a link', { fs: ['/repo -> /data/repo'] }, { tool: 'Read', file_path: '/repo/a' }, 'allow'],
    [
      'links that go round',
      { fs: ['/repo/a -> /repo/b', '/repo/b -> /repo/a'] },
      { tool: 'Read', file_path: '/repo/a' },
      'deny',
    ],
    ['a socket', { fs: ['/repo/s is a socket'] }, { tool: 'Read', file_path: '/repo/s' }, 'deny'],
    [
      'another case on a Mac',
      { deny: ['Read(./.env)'], platform: 'darwin' },
      { tool: 'Read', file_path: '/repo/.ENV' },
      'deny',
    ],
    ['another case on Linux', { deny: ['Read(./.env)'] }, { tool: 'Read', file_path: '/repo/.ENV' }, 'allow'],
    [
      'an unknown tool with a path',
      { deny: ['Edit(./k)'], allow: ['*'] },
      { tool: 'Patch', file_path: '/repo/k' },
      'deny',
    ],
    [
      'a private host that is open',
      { allow: ['WebFetch'], privateHosts: ['localhost:3000'] },
      { tool: 'WebFetch', url: 'http://localhost:3000/' },
      'allow',
    ],
  ])('judges %s', (_, setup, input, verdict) => {
    const given = { mode: 'default', cwd: '/repo', trusted: true, ...setup };
    expect(judgeCase({ id: 1, setup: given, input: { tool: 'Bash', ...input } }).verdict).toBe(verdict);
  });
});
