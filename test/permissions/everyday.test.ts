/** Lines of every day that change nothing, and those beside them that may. */
import { expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';
import { judgeLine, type Rules } from './judge-line.js';

const NO = {};
const A = 'ask';
const O = 'allow';

it.each<[string, string, Rules]>([
  // what only tells names
  ['git ls-files .env', O, { deny: ['Read(./.env)'] }],
  ['git check-ignore .env', O, { deny: ['Read(./.env)'] }],
  ['[[ -f /etc/shadow ]]', A, NO],
  ['[[ -f src/a ]]', O, NO],
  // harmless as such
  ['git branch --merged', O, NO],
  ['git branch --merged main', O, NO],
  ['git branch x', A, NO],
  ['grep x README.md /dev/null', O, NO],
  ['ls --help', O, NO],
  ['npm --help', A, NO],
  ['expr 1 + 2', O, NO],
  ['PAGER=cat git diff', O, NO],
  ['PAGER=./x git diff', A, NO],
])('%s: %s', (command, expected, setup) => {
  expect(judgeLine(command, setup)).toBe(expected);
});

const reasonOf = (command: string): string =>
  judgeCase({ id: 1, setup: { mode: 'default', cwd: '/repo', trusted: true }, input: { tool: 'Bash', command } })
    .reason;

it('D4 of several commands it is said which one nothing covers', () => {
  expect(reasonOf('ls && npm install && cat x')).toBe('This command requires approval: npm install');
  expect(reasonOf('npm install')).toBe('This command requires approval');
});
