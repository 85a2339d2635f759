/** The guide says what is so: its examples are judged, and the tests that it names exist. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/index.js';

const root = new URL('../../', import.meta.url);
const guide = readFileSync(new URL('docs/permissions.md', root), 'utf8');

/** The rows of the table under a heading, as cells. */
function rowsOf(heading: string): string[][] {
  const section = guide.split(/^## /m).find((each) => each.startsWith(heading)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
}

const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** The verdict on what an example names, with the rule as the only one, in a mode where nothing runs by itself. */
async function verdictOf(rule: string, example: string): Promise<string> {
  const tool = /^\w+/.exec(rule)?.[0] ?? '';
  const path = example.startsWith('/') || example.startsWith('~') ? example : `/repo/${example}`;
  const input = tool === 'Bash' ? { command: example } : tool === 'WebFetch' ? { url: example } : { file_path: path };
  // To read in the project needs no rule, so that what rules are about is seen by what they ask about.
  const setup = { cwd: '/repo', home: '/home/user', ...(tool === 'Read' ? { ask: [rule] } : { allow: [rule] }) };
  const { verdict, rule: decided } = await judgeCase({ setup, input: { tool, ...input } });
  const expected = tool === 'Read' ? 'ask' : 'allow';
  return verdict === expected && decided === rule ? 'meant' : 'not meant';
}

describe('docs/permissions.md', () => {
  const examples = rowsOf('Rules').flatMap(([rules = '', meant = '', others = '']) =>
    codes(rules).flatMap((rule) => [
      ...codes(meant).map((example) => [rule, example, 'meant'] as const),
      ...codes(others).map((example) => [rule, example, 'not meant'] as const),
    ]),
  );

  it('has examples', () => expect(examples.length).toBeGreaterThan(40));

  it.each(examples)('%s and %s: %s', async (rule, example, expected) => {
    expect(await verdictOf(rule, example)).toBe(expected);
  });

  const FATES: Readonly<Record<string, readonly string[]>> = {
    run: ['allow'],
    runs: ['allow'],
    // Where nobody can be asked a plan is not carried out.
    asked: ['ask', 'deny'],
    denied: ['deny'],
  };

  it.each(rowsOf('Modes'))('mode %s', async (mode = '', ...cells) => {
    const setup = {
      mode: codes(mode)[0] ?? '',
      cwd: '/repo',
      allow: ['Bash(npm test)'],
      deny: ['Bash(npm publish:*)'],
    };
    const judge = async (input: object) => (await judgeCase({ setup, input: { ...input } })).verdict;
    const calls = [
      { tool: 'Read', file_path: '/repo/a' },
      { tool: 'Write', file_path: '/repo/a', content: '' },
      { tool: 'Bash', command: 'npm test' },
      { tool: 'Bash', command: 'npm install' },
    ];
    for (const [at, call] of calls.entries()) expect(FATES[cells[at] ?? '']).toContain(await judge(call));
    expect(await judge({ tool: 'Bash', command: 'npm publish' })).toBe('deny');
    expect(await judge({ tool: 'Write', file_path: '/repo/.git/config', content: '' })).not.toBe('allow');
  });

  it.each<[string, object, string, string]>([
    ['a deny is read widely', { deny: ['Bash(rm -rf:*)'] }, '/bin/rm -fr x', 'deny'],
    ['in any order', { deny: ['Bash(rm -rf:*)'] }, 'rm -r x --force', 'deny'],
    ['past options', { deny: ['Bash(git push:*)'] }, 'git -C x push', 'deny'],
    ['an allow narrowly', { allow: ['Bash(tar:*)'] }, 'tar xf a.tar --to-command=sh', 'ask'],
    ['an allow narrowly', { allow: ['Bash(find:*)'] }, 'find . -exec sh {} +', 'ask'],
    ['an allow narrowly', { allow: ['Bash(git log:*)'] }, 'git -c core.pager=sh log', 'ask'],
    ['inside of a wrapper', { allow: ['Bash(npm test)'] }, 'timeout 9 nice npm test', 'allow'],
    [
      'inside of a wrapper',
      { deny: ['Bash(npm publish:*)'], allow: ['Bash'] },
      'sudo env A=1 sh -c "npm publish"',
      'deny',
    ],
    ['one that does more', { allow: ['Bash(npm test)'] }, 'sudo npm test', 'ask'],
    ['a variable that is known', { allow: ['Bash(npm test)'] }, 'x=test; npm $x', 'allow'],
    ['a command that is not', { allow: ['Bash(echo:*)'] }, '$(cat x) y', 'ask'],
    ['a variable that changes what runs', { allow: ['Bash(npm test)'] }, 'PATH=. npm test', 'ask'],
    ['a connection', { allow: ['Bash(echo:*)'] }, 'echo x > /dev/tcp/1.2.3.4/80', 'ask'],
    ['what hides, beside a rule that denies', { allow: ['Bash'], deny: ['Bash(curl:*)'] }, '$X y', 'ask'],
    ...[
      'ls -la',
      'find . -name x',
      'jq . a.json',
      'sed -n 1p a',
      'sort a | uniq -c',
      'git branch -a',
      'git status',
    ].map((line): [string, object, string, string] => ['only reads', {}, line, 'allow']),
    ...['sort -o b a', 'find . -delete', 'sed -i s/a/b/ a', 'rg --pre sh x', 'date -s 1', 'cat ../a'].map(
      (line): [string, object, string, string] => ['does not only read', {}, line, 'ask'],
    ),
    ['git where nobody trusts', { trusted: false }, 'git status', 'ask'],
  ])('%s: %j, %s: %s', async (_, setup, command, expected) => {
    const { verdict } = await judgeCase({ setup: { cwd: '/repo', ...setup }, input: { tool: 'Bash', command } });
    expect(verdict).toBe(expected);
  });

  it('names, for every staged case, a test with the case in its title, or what it waits for', () => {
    const rows = rowsOf('Cases');
    expect(rows).toHaveLength(43);
    expect(new Set(rows.map(([id]) => id)).size).toBe(43);
    const wrong = rows.flatMap(([id = '', title = '', where = '']) => {
      const [file] = codes(where);
      if (file === undefined) return /^later: (?:MCP servers|web page and roles)$/.test(where) ? [] : [id];
      const titles = readFileSync(new URL(file, root), 'utf8').split('\n');
      return titles.some((line) => line.includes(`'`) && line.includes(id) && line.includes(`: ${title}`)) ? [] : [id];
    });
    expect(wrong).toEqual([]);
  });
});
