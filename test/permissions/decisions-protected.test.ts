/** Protected files, where the folder or the name is only known when the line runs. */
import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';
import { commandAccesses } from '../../src/engine/permissions/command.js';
import { decidePermission } from '../../src/engine/permissions/decide.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';

const HOME = '/home/user';

function judge(command: string): string {
  const book = compileRules([{ name: 'user', base: '/repo' }], { home: HOME });
  const accesses = commandAccesses(command, '/repo', HOME);
  return decidePermission(
    { tool: 'Bash', input: { command }, readOnly: false, edits: false, accesses, command },
    { mode: 'bypassPermissions', book, roots: ['/repo'], home: HOME, cwd: '/repo', trusted: true },
  ).verdict;
}

describe('E3 a folder that is not known', () => {
  it.each([
    'cd .cl* && cp ../x settings.json',
    'cd .cl* && touch anything',
    'cd .cl*; echo {} > x.json',
    'cd "$(echo .claude)" && touch settings.json',
    'cd -- "$(echo .claude)" && touch settings.json',
    'cd "$D" && echo {} > settings.local.json',
    'cd "$D" && cp x ./settings.json',
    'cd "$D" && mkdir -p hooks/a',
    'cd "$D"; cd .claude; touch x',
    'pushd "$D"; tee settings.json < x',
    'cd -; sed -i s/deny/allow/ settings.json',
    'cd "$(git rev-parse --git-dir)" && cp x config',
    'cp x "$D/settings.json"',
    'echo {} > "$(echo .claude)/settings.json"',
    'tar xf a.tar -C "$D" settings.json',
  ])('%s', (command) => {
    expect(judge(command)).toBe('ask');
  });

  it.each([
    'cd "$D" && npm ci',
    'cd "$D" && touch a.txt && mkdir -p dist',
    'cd "$D" && cat settings.json',
    'cd src && touch settings.json',
    'cd packages/* && touch a',
    'cp x "$D/config/a.yml"',
    'cp x "$D/a.json"',
    'touch settings.json',
    'mkdir -p config hooks',
  ])('%s is no change of one', (command) => {
    expect(judge(command)).toBe('allow');
  });
});

describe('E3 a name that is handed on', () => {
  it.each([
    'f(){ cp evil $1; }; f .mcp.json',
    'f() { cat evil > "$1"; }; f .claude/settings.json',
    'echo .mcp.json | xargs cp evil',
    'printf %s .mcp.json | xargs -I{} cp evil {}',
    'xargs cp evil <<< .mcp.json',
    'cp evil $(echo .mcp.json)',
    'set -- .mcp.json; cp evil "$1"',
    'read f <<< .mcp.json; cp evil "$f"',
    'a=(.mcp.json); cp evil "${a[0]}"',
    'echo .bashrc | while read f; do cat evil > "$f"; done',
  ])('%s', (command) => {
    expect(judge(command)).toBe('ask');
  });

  it.each([
    'shuf -o .mcp.json x',
    'shuf --output=.mcp.json x',
    'mycopy evil .claude/settings.json',
    'mycopy evil .claude',
    './x .mcp.json',
    'python3 x.py .mcp.json',
    'python3 -m json.tool x .mcp.json',
    'git cat-file-x .mcp.json',
  ])('to a program that may do anything with it: %s', (command) => {
    expect(judge(command)).toBe('ask');
  });

  it.each([
    "sed -n 'w .mcp.json' evil",
    'sed -n w.mcp.json evil',
    "sed -e 's/a/b/w .bashrc' evil",
    "sed '-enw .claude/x' evil",
    "gsed -n '1W .mcp.json' evil",
  ])('to a script that writes it: %s', (command) => {
    expect(judge(command)).toBe('ask');
  });

  it.each([
    'ssh -i ~/.ssh/id host true',
    'git add .claude/settings.json .mcp.json',
    'git diff .mcp.json',
    'git commit -m "add .mcp.json"',
    'cat .mcp.json; cp a "$D"',
    'jq . .mcp.json > "$OUT"',
    'bat .mcp.json',
    'python3 -m json.tool .mcp.json',
    'tokei --exclude .git',
    'foo --ignore=.git src',
    'foo "fix .mcp.json soon"',
    'source ~/.bashrc',
    'cd .git',
    'ls .claude',
    'echo .mcp.json',
    "sed -n '/w/p' .mcp.json",
    "sed 's/window/w/' evil",
  ])('%s is no change of one', (command) => {
    expect(judge(command)).toBe('allow');
  });
});

describe('E2 what a search finds', () => {
  const judgeUnder = (command: string, rules: object): string =>
    judgeCase({ id: 1, setup: { cwd: '/repo', trusted: true, ...rules }, input: { tool: 'Bash', command } }).verdict;

  it.each([
    "find . -name '*ettings.json' -exec cp evil {} \\;",
    "find . -name '*.mcp.json' -exec cp evil {} \\;",
    "find . -name '*re-commit' -exec cp evil {} \\;",
    "find . -name '*.claude' -exec rm -rf {} +",
    'find ./ -name settings.json -exec cp evil {} \\;',
    'find ./ -type f | xargs -n1 cp evil',
    'for f in $(find ./ -type f); do cp evil $f; done',
    'find /repo/ -type f -exec cp evil {} \\;',
    'find ./ -type d -exec cp evil {}/settings.json \\;',
  ])('%s may be a protected file', (command) => {
    for (const rules of [{ allow: ['Bash(cp:*)', 'Bash(rm:*)'] }, { allow: ['Bash'] }, { mode: 'bypassPermissions' }])
      expect([rules, judgeUnder(command, rules)]).toEqual([rules, 'ask']);
  });

  it.each([
    "find . -name '*.ts' -exec cp a {} \\;",
    'find src -type f -exec cp a {} \\;',
    "find ./ -name '*.orig' | xargs rm",
    "find ./ -name '*.json' -exec cat {} +",
  ])('%s may not', (command) => {
    expect(judgeUnder(command, { allow: ['Bash(cp:*)', 'Bash(rm:*)'] })).toBe('allow');
  });
});
