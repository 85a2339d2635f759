import { describe, expect, it } from 'vitest';
import { findArray } from '../../src/engine/tools/json-span.js';

/** Numbers in [0, 1) that are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const STRINGS = ['', 'a', '"', '\\', '\\"', '[{]},:', 'é\u2028😀\n', 'cells'];

function makeValue(random: () => number, depth: number): unknown {
  const pick = Math.floor(random() * (depth > 0 ? 7 : 5));
  const many = Math.floor(random() * 4);
  if (pick === 0) return null;
  if (pick === 1) return random() < 0.5;
  if (pick === 2) return Math.round(random() * 1e6) / 10 ** many;
  if (pick < 5) return STRINGS[Math.floor(random() * STRINGS.length)];
  const items = Array.from({ length: many }, () => makeValue(random, depth - 1));
  return pick === 5 ? items : Object.fromEntries(items.map((item, i) => [STRINGS[i + 1], item]));
}

const indents = ['', ' ', '\t', '    '];
const textOf = (value: unknown, seed: number): string => JSON.stringify(value, null, indents[seed % indents.length]);

describe('findArray', () => {
  it('finds each element of what JSON.parse finds', () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const random = createRandom(seed);
      const cells = Array.from({ length: seed % 5 }, () => makeValue(random, 4));
      const text = `\r\n${textOf({ before: makeValue(random, 3), cells, '\\"': makeValue(random, 3) }, seed)} `;
      const found = findArray(text, 'cells');
      expect(found?.elements.map(({ start, end }) => JSON.parse(text.slice(start, end)))).toEqual(cells);
      expect(JSON.parse(text.slice(found?.start, found?.end))).toEqual(cells);
    }
  });

  it('finds the key that counts, as JSON.parse does', () => {
    const text = '{"cells": [1], "\\u0063ells": [2, 3], "inner": {"cells": [4]}}';
    expect(findArray(text, 'cells')?.elements).toHaveLength(2);
  });

  it.each(['{}', '[]', '7', '{"cells": {}}', '{"other": [1]}', '{"inner": {"cells": []}}'])(
    'finds none in %s',
    (text) => {
      expect(findArray(text, 'cells')).toBeUndefined();
    },
  );
});
