import { describe, expect, it } from 'vitest';
import { localImports, resolveImport, scanImports } from './imports.js';

const brief = (text: string): string[] =>
  scanImports(text).map(
    ({ kind, typeOnly, specifier, names }) =>
      `${kind}${typeOnly ? ' type' : ''} ${specifier ?? '?'}${names.length > 0 ? ` [${names.join(' ')}]` : ''}`,
  );

describe('scanImports', () => {
  it.each<[string, string[]]>([
    [`import 'a';`, ['static a']],
    [`import a from 'b';`, ['static b [default]']],
    [`import { a, b as c } from 'd';`, ['static d [a b]']],
    [`import a, { b } from 'c';`, ['static c [default b]']],
    [`import * as a from 'b';`, ['static b [*]']],
    [`import {\n  a, // from 'x'\n} from 'b';`, ['static b [a]']],
    [`import { type A, b } from 'c';`, ['static c [A b]']],
    [`import { type } from 'c';`, ['static c [type]']],
    [`import type { A } from 'b';`, ['static type b [A]']],
    [`import type A from 'b';`, ['static type b [default]']],
    [`import type * as A from 'b';`, ['static type b [*]']],
    [`import type from 'b';`, ['static b [default]']],
    [`import a from 'b' with { type: 'json' };`, ['static b [default]']],
    [`export * from 'a';`, ['static a [*]']],
    [`export * as a from 'b';`, ['static b [*]']],
    [`export { a, type B } from 'c';`, ['static c [a B]']],
    [`export type { A } from 'b';`, ['static type b [A]']],
    [`export type * from 'b';`, ['static type b [*]']],
    [`const a = await import('b');`, ['dynamic b']],
    ['const a = await import(`b`);', ['dynamic b']],
    [`type A = import('b').C;`, ['dynamic b']],
    [`const a = () => import('./' + name);`, ['dynamic ?']],
    ['const a = () => import(`./${name}`);', ['dynamic ?']],
    ['`${await import("b")}`', ['dynamic b']],
  ])('reads %s', (text, expected) => {
    expect(brief(text)).toEqual(expected);
  });

  it.each([
    `// import 'a';`,
    `/* import { a } from 'b'; */`,
    `const a = "import 'b'";`,
    'const a = `import { b } from "c"`;',
    `const a = import.meta.url;`,
    `export const a = { from: 'b' };`,
    `export { a };\nconst from = 'b';`,
    `export type A = { from: 'b' };`,
    `export default 'a';`,
    `a.import('b');`,
  ])('sees nothing in %s', (text) => {
    expect(brief(text)).toEqual([]);
  });

  it('reads several, with their lines', () => {
    const found = scanImports(`import 'a';\n\nimport type { B } from 'b';\nexport { c } from 'c';\n`);
    expect(found.map(({ specifier, line }) => [specifier, line])).toEqual([
      ['a', 1],
      ['b', 3],
      ['c', 4],
    ]);
  });
});

describe('resolveImport', () => {
  it('leads from a specifier to the source file', () => {
    expect(resolveImport('src/wire/peer.ts', '../protocol/index.js')).toBe('src/protocol/index.ts');
    expect(resolveImport('src/wire/peer.ts', './queue.js')).toBe('src/wire/queue.ts');
    expect(resolveImport('src/wire/peer.ts', 'node:fs')).toBeUndefined();
  });

  it('is what localImports adds', () => {
    const file = { path: 'src/a/b.ts', text: `import 'node:fs';\nimport '../c/index.js';` };
    expect(localImports(file).map(({ target }) => target)).toEqual(['src/c/index.ts']);
  });
});
