import { describe, expect, it } from 'vitest';
import { checkSizes } from './sizes.js';
import { readTree } from './tree.js';

const sizes = (path: string, lines: number): string[] => checkSizes([{ path, text: 'x\n'.repeat(lines) }]);

describe('checkSizes', () => {
  it.each([
    ['src/engine/turn.ts', 500],
    ['scripts/build.js', 500],
    ['test/engine/turn.test.ts', 800],
    ['README.md', 100],
  ])('%s may have %i lines, not one more', (path, limit) => {
    expect(sizes(path, limit)).toEqual([]);
    expect(sizes(path, limit + 1)).toEqual([`${path}: ${limit + 1} lines, at most ${limit}`]);
  });

  it('counts a last line without a newline', () => {
    expect(checkSizes([{ path: 'src/a/b.ts', text: `${'x\n'.repeat(500)}x` }])).toHaveLength(1);
  });

  it('leaves generated code, data and other documents alone', () => {
    expect(sizes('src/protocol/schemas.generated.ts', 900)).toEqual([]);
    expect(sizes('test/fixtures/wire.jsonl', 900)).toEqual([]);
    expect(sizes('docs/errors.md', 900)).toEqual([]);
  });

  it('holds for this repository', () => {
    expect(checkSizes(readTree())).toEqual([]);
  });
});
