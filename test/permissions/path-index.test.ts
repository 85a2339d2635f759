import { describe, expect, it } from 'vitest';
import { PathIndex, toPathKey } from '../../src/engine/permissions/rules/path-index.js';
import { compilePathPattern } from '../../src/engine/permissions/rules/path-pattern.js';

interface Rule {
  text: string;
  rank: number;
}

const PLACE = { base: '/repo', home: '/home/user' };

function indexOf(...texts: string[]): PathIndex<Rule> {
  const index = new PathIndex<Rule>();
  for (const [rank, text] of texts.entries()) {
    const patterns = compilePathPattern(text, PLACE);
    if (typeof patterns === 'string') throw new Error(patterns);
    for (const pattern of patterns) index.add(pattern, { text, rank });
  }
  return index;
}

describe('the folders on the way to a path', () => {
  it.each(['/a/bc/d', '//a//bc/d', '/a/bc/d/', 'a/bc/d', 'a/bc/d/'])('%s', (path) => {
    expect(toPathKey(path)).toEqual({ names: ['a', 'bc', 'd'], anchors: ['/', '/a', '/a/bc', '/a/bc/d'] });
  });

  it('is the root alone for the root', () => {
    expect(toPathKey('/')).toEqual({ names: [], anchors: ['/'] });
  });
});

describe('the first of many patterns', () => {
  const index = indexOf('*.key', 'id_*', '*.pem', 'secret', 'src/**/*.lock', '/opt/*.key', '*.longer-end', '*y');

  it.each([
    ['/repo/a.key', '*.key'],
    ['/repo/.key', '*.key'],
    ['/repo/key', '*y'],
    ['/repo/deep/x.pem/inside', '*.pem'],
    ['/repo/id_rsa', 'id_*'],
    ['/repo/id_', 'id_*'],
    ['/repo/id_a.key', '*.key'],
    ['/repo/secret', 'secret'],
    ['/repo/src/a/b.lock', 'src/**/*.lock'],
    ['/repo/a.longer-end', '*.longer-end'],
    ['/repo/id', undefined],
    ['/repo/pem', undefined],
    ['/repo/a.lock', undefined],
  ])('%s: %s', (path, text) => {
    expect(index.find(path)?.text).toBe(text);
  });
});
