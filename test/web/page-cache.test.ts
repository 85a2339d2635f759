import { expect, it } from 'vitest';
import { type CachedPage, createPageCache } from '../../src/engine/web/page-cache.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';

const page = (text: string): CachedPage => ({ url: 'u', code: 200, codeText: 'OK', bytes: text.length, text });
const MEGABYTE = 1024 * 1024;

it('forgets after 15 minutes', () => {
  const clock = createFakeClock();
  const cache = createPageCache();
  cache.set('a', page('A'), clock);
  clock.advance(15 * 60_000 - 1);
  expect(cache.get('a', clock)?.text).toBe('A');
  clock.advance(1);
  expect(cache.get('a', clock)).toBeUndefined();
});

it('keeps 50 pages, those that were used last', () => {
  const clock = createFakeClock();
  const cache = createPageCache();
  for (let i = 0; i < 50; i += 1) cache.set(`p${i}`, page('x'), clock);
  expect(cache.get('p0', clock)).toBeDefined();
  cache.set('new', page('x'), clock);
  expect(['p0', 'p1', 'p2', 'new'].map((url) => cache.get(url, clock) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ]);
});

it('keeps 25 MB', () => {
  const clock = createFakeClock();
  const cache = createPageCache();
  cache.set('a', page('x'.repeat(6 * MEGABYTE)), clock);
  cache.set('a', page('y'.repeat(6 * MEGABYTE)), clock);
  cache.set('b', page('x'.repeat(6 * MEGABYTE)), clock);
  expect(cache.get('a', clock)?.text[0]).toBe('y');
  cache.set('c', page('x'.repeat(6 * MEGABYTE)), clock);
  expect(['a', 'b', 'c'].map((url) => cache.get(url, clock) !== undefined)).toEqual([true, false, true]);
  cache.set('huge', page('x'.repeat(13 * MEGABYTE)), clock);
  expect(['a', 'c', 'huge'].map((url) => cache.get(url, clock) !== undefined)).toEqual([true, true, false]);
});
