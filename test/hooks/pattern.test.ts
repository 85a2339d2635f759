import { describe, expect, it } from 'vitest';
import { compilePattern, PatternError } from '../../src/engine/hooks/pattern.js';
import { createRandom } from '../soak/random.js';

const test = (pattern: string, text: string): boolean => compilePattern(pattern).test(text);

describe('patterns', () => {
  it.each([
    ['mcp__memory__.*', 'mcp__memory__store', true],
    ['mcp__memory__.*', 'mcp__files__read', false],
    ['mcp__.*__write.*', 'mcp__files__write_all', true],
    ['Notebook.*', 'NotebookEdit', true],
    ['Edit.*', 'NotebookEdit', true],
    ['^Edit', 'NotebookEdit', false],
    ['Edit$', 'NotebookEdit', true],
    ['^(Edit|Write)$', 'Write', true],
    ['^(Edit|Write)$', 'Writer', false],
    ['^(?:Edit|Multi(?:Edit)?)$', 'MultiEdit', true],
    ['^[A-Z][a-z]+$', 'Bash', true],
    ['^[^B]', 'Bash', false],
    ['^Web(Fetch|Search)', 'WebSearch', true],
    ['^\\w{4}$', 'Bash', true],
    ['^\\w{5,}$', 'Bash', false],
    ['^a{2,3}$', 'aaaa', false],
    ['\\bEdit\\b', 'an Edit here', true],
    ['\\bEdit\\b', 'NotebookEdit', false],
    ['a.c', 'a\nc', false],
    ['^$', '', true],
    ['', 'anything', true],
    ['a|', 'b', true],
    ['[]a]', 'x', undefined],
    ['[a\\]-]', '-', true],
    ['é+$', 'café', true],
    ['^.$', '😀', true],
  ])('%s on %s', (pattern, text, expected) => {
    if (expected === undefined) expect(() => test(pattern, text)).toThrow(PatternError);
    else expect(test(pattern, text)).toBe(expected);
  });

  it.each([
    ['(a', '( is not closed'],
    ['a)', ') was not opened'],
    ['[a', '[ is not closed'],
    ['*Edit', 'there is nothing that * could repeat'],
    ['a**', 'a repetition is repeated'],
    ['a{3,1}', 'the numbers in { } are out of order'],
    ['a{', 'a number is missing'],
    ['a{2', '{ is not closed'],
    ['a{9999}', 'more than 1000 repetitions'],
    ['[z-a]', 'a bad range'],
    ['(?=a)', '(? is not supported'],
    ['(?<!a)b', '(? is not supported'],
    ['(?i)bash', '(? is not supported'],
    ['(a)\\1', 'references back are not supported'],
    ['\\p{L}', '\\p is not supported'],
    ['a\\', 'it ends in a backslash'],
    ['^*', 'a place cannot be repeated'],
    ['((a{1000}){1000}){1000}', 'it repeats too much'],
    ['((()){1000}){1000}', 'it repeats too much'],
  ])('refuses %s', (pattern, problem) => {
    expect(() => compilePattern(pattern)).toThrow(problem);
  });

  it('refuses a pattern that is too long', () => {
    expect(() => compilePattern('x'.repeat(1_001))).toThrow('it is longer than 1000 characters');
  });

  it('returns for patterns that explode in other engines', () => {
    const long = `${'a'.repeat(50_000)}!`;
    for (const hostile of [
      '(a+)+$',
      '^(a|a)*$',
      '(a|aa)+$',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
      '(.*)*x',
      '(a*)*b',
      'a*a*a*a*a*b',
    ]) {
      expect(test(hostile, long)).toBe(false);
    }
  });

  it('says what RegExp says about random patterns it accepts', () => {
    const random = createRandom(7);
    const parts = [
      'a',
      'b',
      '.',
      'a*',
      'b+',
      'a?',
      '(ab|b)',
      '(a|b)*',
      '[ab]',
      '[^a]',
      '^',
      '$',
      '|',
      '(?:ab)+',
      'a{2}',
      'b{1,2}',
      '\\b',
      '\\w',
    ];
    for (let run = 0; run < 3_000; run += 1) {
      const pattern = Array.from({ length: 1 + random.below(6) }, () => random.pick(parts)).join('');
      const text = Array.from({ length: random.below(7) }, () => random.pick(['a', 'b', 'c', ' '])).join('');
      expect(`${pattern} on ${text}: ${test(pattern, text)}`).toBe(
        `${pattern} on ${text}: ${new RegExp(pattern).test(text)}`,
      );
    }
  });

  it('refuses what cannot occur in the names it is for', () => {
    const possible = (char: string): boolean => /\w/.test(char);
    expect(() => compilePattern('Bash(git status:*)', { possible })).toThrow('no name can contain " "');
    expect(compilePattern('Bash.*', { possible }).test('BashOutput')).toBe(true);
  });
});
