import { describe, expect, it } from 'vitest';
import { compilePattern, splitList, splitPattern, toTypeFilter } from '../../src/engine/tools/glob-pattern.js';

const matches = (pattern: string, path: string) => compilePattern(pattern)(path);

describe('compilePattern', () => {
  const cases: [pattern: string, yes: string[], no: string[]][] = [
    ['*.ts', ['a.ts', 'x/y/a.ts', '.hidden.ts'], ['a.tsx', 'a.ts/b']],
    ['/*.ts', ['a.ts'], ['x/a.ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/x/y/a.ts'], ['a.ts', 'x/src/a.ts']],
    ['**/*.ts', ['a.ts', 'x/a.ts'], ['a.js']],
    ['src/**', ['src/a', 'src/x/y'], ['src', 'other']],
    ['**', ['a', 'a/b'], []],
    ['a/*/c', ['a/b/c'], ['a/c', 'a/b/b/c']],
    ['**/a/**/b', ['a/b', 'x/a/y/z/b', 'a/a/b'], ['a', 'b', 'x/b']],
    ['?.js', ['a.js', 'é.js', '😀.js'], ['ab.js']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a-c]x', ['dx'], ['ax']],
    ['[^]]x', ['ax'], [']x']],
    ['[x', ['[x'], ['x']],
    ['*.{ts,tsx}', ['a.ts', 'b/a.tsx'], ['a.js']],
    ['{a,b/{c,d}}/*.js', ['a/x.js', 'b/c/x.js', 'b/d/x.js'], ['b/x.js', 'x.js']],
    ['a\\*b', ['a*b'], ['axb']],
    ['a**b', ['axxb'], ['a/b']],
    ['*', ['a', 'x/a', '.env'], []],
  ];
  it.each(cases)('%s', (pattern, yes, no) => {
    expect(yes.filter((path) => !matches(pattern, path))).toEqual([]);
    expect(no.filter((path) => matches(pattern, path))).toEqual([]);
  });

  it('takes bounded time for patterns made to be slow', () => {
    const name = 'a'.repeat(250);
    expect(matches(`${'*a'.repeat(100)}b`, name)).toBe(false);
    expect(matches(`${'**/a/'.repeat(40)}b`, 'a/'.repeat(200))).toBe(false);
    expect(() => matches('{a,b}'.repeat(40), 'x')).toThrow('more than 256 patterns');
  });
});

describe('splitPattern', () => {
  it('takes plain folders off the front', () => {
    expect(splitPattern('*.ts')).toEqual({ folder: '', rest: '*.ts' });
    expect(splitPattern('./*.ts')).toEqual({ folder: '', rest: '*.ts' });
    expect(splitPattern('src/lib/**/*.ts')).toEqual({ folder: 'src/lib', rest: '/**/*.ts' });
    expect(splitPattern('src/a.ts')).toEqual({ folder: 'src', rest: '/a.ts' });
    expect(splitPattern('/usr/*')).toEqual({ folder: '/usr', rest: '/*' });
    expect(splitPattern('/*')).toEqual({ folder: '/', rest: '/*' });
    expect(splitPattern('{a,b}/c')).toEqual({ folder: '', rest: '{a,b}/c' });
  });
});

describe('splitList', () => {
  const cases: [list: string, patterns: string[]][] = [
    ['*.ts', ['*.ts']],
    ['*.ts,*.tsx', ['*.ts', '*.tsx']],
    ['*.ts, *.tsx ,', ['*.ts', '*.tsx']],
    ['*.{ts,tsx},!*.d.ts', ['*.{ts,tsx}', '!*.d.ts']],
    ['[a,b]*,c', ['[a,b]*', 'c']],
    ['a\\,b', ['a\\,b']],
    ['{a,b', ['{a,b']],
    [' a', [' a']],
    ['', ['']],
  ];
  it.each(cases)('%s', (list, patterns) => expect(splitList(list)).toEqual(patterns));
});

describe('toTypeFilter', () => {
  const type = (name: string) => [`--type-add=heddle:${name}`, '--type=heddle'];
  const cases: [pattern: string, args: string[]][] = [
    ['*.ts', type('*.ts')],
    ['/src/**/*.{ts,tsx}', type('*.{ts,tsx}')],
    ['**/[a-c]?.js', type('[a-c]?.js')],
    ['*', []],
    ['**', []],
    ['a**b', []],
    ['{a,b/{c,d}}', []],
    ['{a/b,c}/d.{js,ts}', []],
    ['a{,b}.ts', []],
    ['[x', []],
    ['a\\*b', []],
    ['include:x', []],
  ];
  it.each(cases)('%s', (pattern, args) => {
    expect(toTypeFilter(pattern)).toEqual(args);
  });
});
