import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';
import type { CaseSetup } from '../../src/engine/permissions/check-setup.js';

const input = { tool: 'Bash', command: 'rm x' };
const judge = (setup: unknown, more: object = {}) => judgeCase({ id: 'c', setup: setup as CaseSetup, input, ...more });

describe('a case that cannot be read is no verdict, and the field is named', () => {
  it.each([
    [{ deny: 'Bash(rm)' }, /^setup\.deny must be a list of rules, not "Bash\(rm\)"/],
    [{ allow: { tool: 'Bash' } }, /^setup\.allow must be a list/],
    [{ mode: 'plann' }, /^setup\.mode must be one of default, .*, not "plann"/],
    [{ denny: ['Bash'] }, /^setup\.denny is no field of a case; did you mean "deny"\?/],
    [{ permissions: { deny: ['Bash'] } }, /^setup\.permissions is no field of a case/],
    [{ mangaed: ['Bash'] }, /^setup\.mangaed .*"managed"/],
    [{ managed: 'Bash' }, /^setup\.managed must be a list of rules or an object/],
    [{ managed: { denies: ['Bash'] } }, /^setup\.managed\.denies is no field of a case/],
    [{ managed: { permissions: { deny: 'Bash' } } }, /^setup\.managed\.permissions\.deny must be a list/],
    [{ managed: { permissions: ['Bash'] } }, /^setup\.managed\.permissions must be an object/],
    [{ flag: { deny: {} } }, /^setup\.flag\.deny must be a list/],
    [{ trusted: 'no' }, /^setup\.trusted must be true or false, not "no"/],
    [{ cwd: 5 }, /^setup\.cwd must be a text/],
    [{ fs: '/a -> /b' }, /^setup\.fs must be a list of texts/],
    [{ additionalDirectories: '/x' }, /^setup\.additionalDirectories must be a list of texts/],
    [['Bash'], /^setup must be an object/],
  ])('%j', (setup, reason) => {
    expect(judge(setup)).toEqual({
      id: 'c',
      verdict: 'error',
      rule: null,
      layer: null,
      segments: [],
      reason: expect.stringMatching(reason),
    });
  });

  it.each([
    [{ stup: { deny: ['Bash'] } }, /^stup is no field of a case; did you mean "setup"\?/],
    [{ input: 'rm x' }, /^input must be an object/],
    [{ input: null }, /^input\.tool is missing/],
    [{ setup: null, input: { tool: 'Bash' } }, /^input\.command is missing/],
    [{ input: { tool: 'Read', filepath: '/etc/passwd' } }, /^input\.file_path is missing/],
    [{ input: { tool: 'Read', file_path: 5 } }, /^input\.file_path must be a text, not 5/],
    [{ input: { tool: 'Glob', input: { pattern: ['/etc/*'] } } }, /^input\.input\.pattern must be a text/],
    [{ input: { tool: 'Bash' } }, /^input\.command is missing/],
    [{ input: { tool: 'Bash', command: 5 } }, /^input\.command must be a text, not 5/],
    [{ input: { tool: 'Bash', input: { command: ['ls'] } } }, /^input\.input\.command must be a text/],
    [
      { input: { ...input, project_settings: { permissions: { deny: 'Bash' } } } },
      /^input\.project_settings\.permissions\.deny must be a list/,
    ],
  ])('outside of the setup: %j', (more, reason) => {
    expect(judge({}, more)).toMatchObject({ verdict: 'error', reason: expect.stringMatching(reason) });
  });
});

describe('what a session would not start with never makes an allow', () => {
  it.each([
    [{ deny: ['bash(rm:*)'] }, /under deny cannot be used: "bash" names no tool; did you mean "Bash"\?/],
    [{ deny: ['BASH(rm)'] }, /did you mean "Bash"/],
    [{ ask: ['Bash rm'] }, /under ask cannot be used: "Bash rm" is no name of a tool/],
    [{ deny: ['read(./x)'] }, /did you mean "Read"/],
    [{ managed: ['bash(rm:*)'] }, /did you mean "Bash"/],
    [{ fs: ['garbage'] }, /setup\.fs holds "garbage", which is not understood/],
    [{ fs: ['/repo/l is a symlink'] }, /not understood/],
  ])('%j', (setup, reason) => {
    expect(judge({ allow: ['Bash'], ...setup })).toMatchObject({
      verdict: 'ask',
      reason: expect.stringMatching(reason),
    });
  });

  it('a verdict that is none of it stays, with a word about it', () => {
    const { verdict, reason } = judge({ deny: ['Bash(rm:*)', 'read(./x)'] });
    expect(verdict).toBe('deny');
    expect(reason).toMatch(/did you mean "Read"/);
  });

  it.each(['/repo/a.ts', 'a.ts', '/repo/a is a regular file at check time', '/repo/d is a directory', '~/x exists'])(
    '%s is understood',
    (fact) => {
      expect(judge({ allow: ['Bash'], fs: [fact] }).verdict).toBe('allow');
    },
  );
});

describe('what says nothing, or only something about the case, is no fault', () => {
  it.each([
    { note: 'x', server: 'y', flags: ['--x'], model: 'm', os: 'linux', deny: ['Bash(rm:*)'] },
    { managed: null, fs: null, deny: [{ tool: 'Bash', command: 'rm' }] },
    { managed: ['Bash(rm:*)'] },
    { managed: { deny: ['Bash(rm:*)'], note: 'policy' } },
    { managed: { permissions: { deny: ['Bash(rm:*)'] } } },
    { user: { permissions: { deny: ['Bash(rm:*)'] } } },
  ])('%j', (setup) => {
    expect(judge(setup)).toMatchObject({ verdict: 'deny' });
  });
});

describe('a case is judged as a session would judge it', () => {
  const read = (path: string) => ({ tool: 'Read', file_path: path });
  const SECRETS = ['Read(./secrets/**)'];
  const FETCH = { allow: ['WebFetch(domain:a.org)'] };
  const fetching = (hop: string) => ({ tool: 'WebFetch', url: 'https://a.org/x', redirects: [hop] });
  const agent = (tools: string) => ({ tool: 'mcp__a__b', agent: `sub tools:[${tools}]` });
  it.each([
    ['folders at home', { additionalDirectories: ['~/x'] }, read('/home/user/x/a'), 'allow'],
    ['a link to a name with blanks', { fs: ['/repo/l -> /repo/a b'], deny: ['Read(./a b)'] }, read('/repo/l'), 'deny'],
    ['words behind a link', { fs: ['/repo/l -> /etc/x (dangling)'] }, read('/repo/l'), 'ask'],
    ['a link in words', { fs: ['/repo/l is a symlink to /etc'] }, read('/repo/l/x'), 'ask'],
    ['a glob', { deny: SECRETS }, { tool: 'Grep', pattern: 'x', glob: 'secrets/**' }, 'deny'],
    ['a glob that climbs', {}, { tool: 'Grep', pattern: 'x', glob: '../**' }, 'ask'],
    ['a glob that leaves out', { deny: SECRETS }, { tool: 'Grep', pattern: 'x', glob: '!secrets/**' }, 'allow'],
    ['a server of an agent', { allow: ['mcp__a'] }, agent('Read,mcp__a'), 'allow'],
    ['tools of a server of an agent', { allow: ['mcp__a'] }, agent('mcp__a__*'), 'allow'],
    ['another server of an agent', { allow: ['mcp__a'] }, agent('mcp__ab,mcp__a__c'), 'deny'],
    ['a relative link', { fs: ['l -> /etc'] }, read('l/x'), 'ask'],
    ['another arrow', { fs: ['/repo/l => /etc'] }, read('/repo/l/x'), 'ask'],
    ['a folder at home to work in', { cwd: '~/repo' }, read('a'), 'allow'],
    ['a redirect within the host', FETCH, fetching('/b'), 'allow'],
    ['a redirect to another host', FETCH, fetching('//b.org/'), 'ask'],
    ['a relative path on Windows', { platform: 'win32', cwd: 'C:\\repo' }, read('src\\a.ts'), 'allow'],
    ['one that climbs out', { platform: 'win32', cwd: 'C:\\repo' }, read('..\\a.ts'), 'ask'],
    ['a denied one', { platform: 'win32', cwd: 'C:\\repo', deny: ['Read(./a.ts)'] }, read('a.ts'), 'deny'],
    ['a commit is no file', { deny: ['Read(./.env)'] }, { tool: 'Bash', command: 'git grep SECRET HEAD' }, 'ask'],
  ])('%s', (_, setup, call, verdict) => {
    expect(judge({ cwd: '/repo', ...setup }, { input: call }).verdict).toBe(verdict);
  });
});
