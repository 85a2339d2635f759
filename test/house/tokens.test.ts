import { describe, expect, it } from 'vitest';
import { tokenize } from './tokens.js';

const words = (text: string): string[] =>
  tokenize(text)
    .filter(({ kind }) => kind === 'word')
    .map(({ text: word }) => word);

describe('tokenize', () => {
  it.each<[string, string, string[]]>([
    ['line comment', 'a // b\nc', ['a', 'c']],
    ['block comment', 'a /* b\n c */ d', ['a', 'd']],
    ['shebang', '#!/usr/bin/env node\na', ['a']],
    ['strings', `a 'b' "c" d`, ['a', 'd']],
    ['escaped quote', String.raw`a 'b\'c' d`, ['a', 'd']],
    ['comment mark in a string', `a 'http://b' c`, ['a', 'c']],
    ['quote in a comment', "a // don't\nb", ['a', 'b']],
    ['template', 'a `b // c` d', ['a', 'd']],
    ['substitution', 'a `b ${c} d` e', ['a', 'c', 'e']],
    ['braces in a substitution', 'a `${b({ c: `${d}` })} x` e', ['a', 'b', 'c', 'd', 'e']],
    ['regular expression', 'a = /b\'"`c/g; d', ['a', 'd']],
    ['slash in a class', "a = /[/'b]/; c", ['a', 'c']],
    ['division', 'a / b / c', ['a', 'b', 'c']],
    ['division after a call', "f(a) / 2; 'b'; c", ['f', 'a', 'c']],
    ['expression after a condition', "if (a) /'/.test(b)", ['if', 'a', 'test', 'b']],
    ['expression after return', "return /'/.test(b)", ['return', 'test', 'b']],
    ['unclosed quote ends with its line', "a ' b\nc", ['a', 'c']],
  ])('%s', (_name, text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('counts lines across comments, templates and strings', () => {
    const lines = tokenize('/*\n*/ a\n`\n${b}\n` c').map(({ kind, line, text }) =>
      kind === 'word' ? [text, line] : [],
    );
    expect(lines.filter((pair) => pair.length > 0)).toEqual([
      ['a', 2],
      ['b', 4],
      ['c', 5],
    ]);
  });
});
