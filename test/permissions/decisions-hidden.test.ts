/** Where everything is allowed, rules that deny hold against what a line hides. */
import { describe, expect, it } from 'vitest';
import { commandAccesses } from '../../src/engine/permissions/command.js';
import { type Decision, decidePermission } from '../../src/engine/permissions/decide.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';

const HOME = '/home/user';

function decide(command: string, deny: string[]): Decision {
  const book = compileRules([{ name: 'user', base: '/repo', deny }], { home: HOME });
  const accesses = commandAccesses(command, '/repo', HOME);
  return decidePermission(
    { tool: 'Bash', input: { command }, readOnly: false, edits: false, accesses, command },
    { mode: 'bypassPermissions', book, roots: ['/repo'], home: HOME, cwd: '/repo', trusted: true },
  );
}

describe('a variable by which a program is told what to run', () => {
  const LINES = [
    "GIT_EDITOR='rm victim; true' git commit --allow-empty",
    "PAGER='rm victim' git -p log",
    "MANPAGER='rm victim' man ls",
    "LESSOPEN='|rm victim' less a",
    "GIT_SSH_COMMAND='rm victim' git fetch",
    "EDITOR='rm victim' crontab -e",
    "env EDITOR='rm victim' git commit",
    "export GIT_EDITOR='rm victim'; git commit",
    "bash -c 'git commit' && PATH=.:$PATH ls",
    'LD_PRELOAD=./x.so ls',
  ];

  it.each(LINES)('%s', (line) => {
    expect(decide(line, ['Bash(rm:*)']).verdict).toBe('ask');
    expect(decide(line, ['Read(./.env)']).verdict).toBe('ask');
  });

  it('is named', () => {
    expect(decide("GIT_EDITOR='x' git commit", ['Bash(rm:*)']).reason).toMatch(/it sets GIT_EDITOR, which may change/);
  });

  it.each(["GIT_EDITOR='rm victim' git commit", "export PAGER='rm victim'; git log"])(
    'without a rule it is nothing special: %s',
    (line) => {
      expect(decide(line, []).verdict).toBe('allow');
    },
  );

  it.each([
    'NODE_ENV=test npm test',
    'GIT_AUTHOR_NAME=me GIT_AUTHOR_DATE=now git commit -m x',
    'AWS_PROFILE=dev aws s3 ls',
    'PGPASSWORD=x psql -c "select 1"',
    'cat list | while IFS= read -r line; do echo "$line"; done',
    'name=x; echo $name',
  ])('others hide nothing: %s', (line) => {
    expect(decide(line, ['Bash(rm:*)']).verdict).toBe('allow');
  });
});

describe('what is shown of a decision', () => {
  const sizeOf = (decision: Decision): number => JSON.stringify(decision).length;

  it.each([
    ['guesses', 'sudo -z '.repeat(900)],
    ['a long word', `sudo -z ${'x'.repeat(9_000)} `],
    ['many commands', Array.from({ length: 400 }, (_, at) => `echo ${at} ${'y'.repeat(10)}`).join('; ')],
    ['what runs elsewhere', `ssh -z ${'word '.repeat(900)}`],
  ])('is bounded, however long the line: %s', (_, line) => {
    expect(sizeOf(decide(line, ['Bash(rm:*)']))).toBeLessThan(25_000);
    expect(sizeOf(decide(line, []))).toBeLessThan(25_000);
  });

  it('says how much more there is', () => {
    const line = Array.from({ length: 150 }, (_, at) => `echo ${at}`).join('; ');
    const { segments = [] } = decide(line, []);
    expect(segments).toHaveLength(101);
    expect(segments.at(-1)).toBe('\u2026 (50 more)');
    expect(decide('ls; pwd; ls', []).segments).toEqual(['ls', 'pwd']);
  });
});
