import { describe, expect, it } from 'vitest';
import { exists, readTree } from './tree.js';

describe('readTree', () => {
  const paths = readTree().map(({ path }) => path);

  it.each([
    'README.md',
    '.ci/run',
    '.gitignore',
    'src/protocol/error.ts',
    'test/house/tree.ts',
    'docs/decisions/0001-one-package-with-checked-layers.md',
  ])('reads %s', (path) => {
    expect(paths).toContain(path);
  });

  it('leaves out what is installed or built', () => {
    expect(paths.filter((path) => /^(node_modules|dist|coverage|\.git)\//.test(path))).toEqual([]);
  });

  it('reads every file once, with its text', () => {
    expect(new Set(paths).size).toBe(paths.length);
    expect(readTree().find(({ path }) => path === 'README.md')?.text).toMatch(/^# Heddle\n/);
  });
});

describe('exists', () => {
  it('knows files and folders', () => {
    expect([exists('README.md'), exists('docs/decisions'), exists('docs/nowhere.md')]).toEqual([true, true, false]);
  });
});
