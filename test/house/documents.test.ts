import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { checkDependencyList, checkLinks } from './documents.js';
import { exists, readTree, root } from './tree.js';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const links = (text: string): string[] =>
  checkLinks([{ path: 'docs/a.md', text }], (path) => ['docs/b.md', 'README.md'].includes(path));

describe('checkLinks', () => {
  it('accepts links to files, to headings and to other sites', () => {
    expect(links('[b](b.md) [top](../README.md#status) [here](#x) [there](https://example.org/x)')).toEqual([]);
  });

  it('rejects a link to nothing', () => {
    expect(links('[c](c.md)')).toEqual(['docs/a.md: the link c.md leads to nothing']);
    expect(links('[b](../b.md)')).toHaveLength(1);
  });

  it('does not read code', () => {
    expect(links('`[c](c.md)`\n```\n[c](c.md)\n```')).toEqual([]);
  });

  it('holds for this repository', () => {
    expect(checkLinks(readTree(), exists)).toEqual([]);
  });
});

describe('checkDependencyList', () => {
  it('finds what is missing and what is too much', () => {
    expect(checkDependencyList('| `a` | why |\n| `b` | why |\n', ['a', 'c'])).toEqual([
      'c is not explained',
      'b is explained but not a dependency',
    ]);
  });

  it('holds for this repository', () => {
    const { dependencies, optionalDependencies, devDependencies } = manifest;
    const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
    expect(checkDependencyList(read('docs/dependencies.md'), packages)).toEqual([]);
  });
});

describe('the two commands', () => {
  it('are in the README', () => {
    expect(read('README.md')).toContain('npm install && npm start');
    expect(read('README.md')).toContain('npm install && npm test');
  });

  it('are what CI runs', () => {
    expect(() => accessSync(join(root, '.ci/run'), constants.X_OK)).not.toThrow();
    const commands = read('.ci/run')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(commands).toEqual(['set -eu', 'cd "$(dirname "$0")/.."', 'npm install && npm test']);
  });
});
