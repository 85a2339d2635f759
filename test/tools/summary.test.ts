import { describe, expect, it } from 'vitest';
import { summarizeCalls } from '../../src/engine/tools/summary.js';

const call = (name: string, input: Record<string, unknown> = {}, isError = false) => ({
  block: { type: 'tool_use' as const, id: 'x', name, input },
  isError,
});

describe('summarizeCalls', () => {
  const cases: [string, Parameters<typeof summarizeCalls>[0], string][] = [
    ['one call', [call('Bash', { command: 'npm test' })], 'Ran npm test'],
    ['calls of one kind', ['a', 'b', 'c'].map((file_path) => call('Read', { file_path })), 'Read a and 2 more'],
    [
      'several kinds, in the order they came',
      [call('Grep', { pattern: 'x' }), call('Edit', { file_path: 'a.ts' }), call('Grep', { pattern: 'y' })],
      'Searched for x and 1 more, edited a.ts',
    ],
    ['old names', [call('FileRead', { file_path: 'a' })], 'Read a'],
    ['tools it does not know', [call('mcp__x__y'), call('mcp__x__y')], 'Used mcp__x__y 2 times'],
    ['a failure', [call('Bash', { command: 'false' }, true)], 'Ran false (failed)'],
    ['some failures', [call('Read', { file_path: 'a' }), call('Read', {}, true)], 'Read a and 1 more (1 of 2 failed)'],
    ['a subject that is no text', [call('Bash', { command: 3 })], 'Ran'],
    ['a long subject', [call('Bash', { command: `echo ${'x'.repeat(100)}\n2` })], `Ran echo ${'x'.repeat(54)}…`],
  ];
  it.each(cases)('%s', (_, calls, expected) => {
    expect(summarizeCalls(calls)).toBe(expected);
  });
});
