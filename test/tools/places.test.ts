import { describe, expect, it } from 'vitest';
import { findPlaces, MAX_PLACES, replacePlaces } from '../../src/engine/tools/places.js';
import { createRandom } from './apply-patch.js';

const replace = (text: string, from: string, to: string): string => replacePlaces(text, findPlaces(text, from), to);
const toLf = (text: string): string => text.replaceAll('\r\n', '\n');

describe('findPlaces and replacePlaces', () => {
  it('take a text without CRLF as it is', () => {
    expect(findPlaces('aaa\n', 'aa')).toEqual([{ start: 0, end: 2 }]);
    expect(findPlaces('a\nb', 'a\r\nb')).toEqual([]);
    expect(replace('a\nb', 'b', '$& c\r\nd')).toBe('a\n$& c\r\nd');
  });

  it('find both endings, and each place keeps its own', () => {
    expect(replace('x\r\ny\r\nq\r\nx\ny\n', 'x\ny', 'X\nY')).toBe('X\r\nY\r\nq\r\nX\nY\n');
    expect(replace('x\r\ny\nz\r\n', 'x\r\ny\r\nz', 'X\nY\nZ')).toBe('X\r\nY\nZ\r\n');
    expect(replace('a\r\nb\nc\n', 'b\n', '')).toBe('a\r\nc\n');
    expect(replace('a\r\nb\n', '\nb', '')).toBe('a\n');
  });

  it('give lines that are put in the ending of the place, or else the one around it', () => {
    expect(replace('a\r\nb\n', 'a\nb', '1\n2\n3')).toBe('1\r\n2\r\n3\n');
    expect(replace('a\nb\r\nc', 'b', '1\n2')).toBe('a\n1\r\n2\r\nc');
    expect(replace('a\nb\r\nc', 'a', '1\r\n2')).toBe('1\n2\nb\r\nc');
    expect(replace('a\nb\r\nc', 'c', '1\n2')).toBe('a\nb\r\n1\r\n2');
  });

  it('change what a reader without CR sees, and no other line ending', () => {
    const random = createRandom(3);
    const words = (count: number) =>
      Array.from({ length: count }, () => ['a', 'b', '\n', '\r\n', 'é😀'][random(5)]).join('');
    let found = 0;
    for (let round = 0; round < 2_000; round += 1) {
      const text = words(40);
      const [from, to] = [toLf(words(1 + random(3))), toLf(words(random(4)))];
      const places = findPlaces(text, from);
      found += places.length;
      const changed = replacePlaces(text, places, to);
      expect(toLf(changed)).toBe(toLf(text).replaceAll(from, () => to));
      expect(replacePlaces(text, places, from)).toBe(text);
    }
    expect(found).toBeGreaterThan(5_000);
  });

  it('stop behind a million', () => {
    expect(findPlaces('a'.repeat(MAX_PLACES + 9), 'a')).toHaveLength(MAX_PLACES + 1);
  });
});
