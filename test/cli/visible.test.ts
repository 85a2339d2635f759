import { describe, expect, it } from 'vitest';
import { toVisible, toVisibleLine } from '../../src/cli/visible.js';

describe('toVisible (D6)', () => {
  it.each([
    ['plain text, ümlaut, 日本, 👍🏽 ❤️\ttab\nline', 'plain text, ümlaut, 日本, 👍🏽 ❤️\ttab\nline'],
    ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\x07\x00\x7f\x9b', '\\x07\\x00\\x7f\\x9b'],
    ['a\r\nb\rc', 'a\nb\\rc'],
    ['rm \u202Efdp.txt', 'rm \\u202efdp.txt'],
    ['a\u200Bb\u200Dc\uFEFFd\u2060e\u00ADf', 'a\\u200bb\\u200dc\\ufeffd\\u2060e\\xadf'],
    ['\u2066x\u2069\u061C\u200F', '\\u2066x\\u2069\\u061c\\u200f'],
    ['a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
    ['hidden \u{E0041}\u{E007F}', 'hidden \\u{e0041}\\u{e007f}'],
    ['\u3164\u115F', '\\u3164\\u115f'],
    ['lone \uD800 surrogate', 'lone \\ud800 surrogate'],
  ])('%j', (text, visible) => {
    expect(toVisible(text)).toBe(visible);
  });

  it('toVisibleLine keeps to one line', () => {
    expect(toVisibleLine('a\nb\tc\u200b')).toBe('a\\nb\\tc\\u200b');
  });
});
