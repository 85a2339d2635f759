import { describe, expect, it } from 'vitest';
import { checkCycles } from './cycles.js';
import { readTree } from './tree.js';

const graph = (edges: Record<string, string[]>): string[] =>
  checkCycles(
    Object.entries(edges).map(([name, targets]) => ({
      path: `src/x/${name}.ts`,
      text: targets.map((target) => `import './${target}.js';`).join('\n'),
    })),
  );

describe('checkCycles', () => {
  it('accepts a diamond', () => {
    expect(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] })).toEqual([]);
  });

  it('finds a cycle of two', () => {
    expect(graph({ a: ['b'], b: ['a'] })).toEqual(['import cycle: src/x/a.ts > src/x/b.ts > src/x/a.ts']);
  });

  it('finds a file that imports itself', () => {
    expect(graph({ a: ['a'] })).toEqual(['import cycle: src/x/a.ts > src/x/a.ts']);
  });

  it('finds a long cycle behind other files, once', () => {
    expect(graph({ a: ['b'], b: ['c'], c: ['d'], d: ['b'] })).toEqual([
      'import cycle: src/x/b.ts > src/x/c.ts > src/x/d.ts > src/x/b.ts',
    ]);
  });

  it('finds two separate cycles', () => {
    expect(graph({ a: ['b'], b: ['a'], c: ['d'], d: ['c'] })).toHaveLength(2);
  });

  it.each([`import type { B } from './b.js';`, `const b = await import('./b.js');`, `export * from './b.js';`])(
    'counts %s',
    (text) => {
      const tree = [
        { path: 'src/x/a.ts', text },
        { path: 'src/x/b.ts', text: `import { a } from './a.js';` },
      ];
      expect(checkCycles(tree)).toHaveLength(1);
    },
  );

  it('holds for this repository', () => {
    expect(checkCycles(readTree())).toEqual([]);
  });
});
