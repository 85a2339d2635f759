import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseJsonc } from '../../src/engine/settings/jsonc.js';
import { changeText, END, type ValueChange } from '../../src/engine/settings/jsonc-edit.js';

const change = (text: string, path: ValueChange['path'], value?: unknown): Promise<string> =>
  changeText({ text, changes: [{ path, value }], file: 'x.json' });

const RULES = `{
  // ours
  "permissions": {
    "allow": [
      "A", // why a
      "B" // why b
    ],
    "deny": []
  }, /* end */
}
`;
const ALLOW = ['permissions', 'allow'];

describe('changeText', () => {
  it('adds at the end of a list, each comment with its rule', async () => {
    const text = await change(RULES, [...ALLOW, END], 'C');
    expect(text).toBe(RULES.replace('"B" // why b', '"B", // why b\n      "C"'));
  });

  it('adds to an empty list and a new key', async () => {
    expect(await change(RULES, ['permissions', 'deny', END], 'D')).toBe(
      RULES.replace('"deny": []', '"deny": [\n      "D"\n    ]'),
    );
    expect(await change(RULES, ['model'], 'x')).toBe(RULES.replace('}, /* end */', '}, /* end */\n  "model": "x",'));
  });

  it.each([
    [0, '      "A", // why a\n', ''],
    [1, '"A", // why a\n      "B" // why b', '"A" // why a'],
  ])('takes rule %i away, and nothing of the others', async (index, from, to) => {
    expect(await change(RULES, [...ALLOW, index])).toBe(RULES.replace(from, to));
  });

  it.each([
    ['{"a":["x", "y"]}', ['a', END], 'z', '{"a":["x", "y", "z"]}'],
    ['{"a":["x", "y",]}', ['a', END], 'z', '{"a":["x", "y", "z",]}'],
    ['{"a":["x", "y"]}', ['a', 0], undefined, '{"a":["y"]}'],
    ['{"a":["x", "y"]}', ['a', 1], undefined, '{"a":["x"]}'],
    ['{"a":["x", "y",]}', ['a', 1], undefined, '{"a":["x",]}'],
    ['{"a":["x"]}', ['a', 0], undefined, '{"a":[]}'],
    ['{"a":1}', ['b', 'c'], [true], '{"a":1, "b": {"c":[true]}}'],
    ['{"a":1}', ['a'], { b: 2 }, '{"a":{"b":2}}'],
    ['{"a":1}', ['b'], undefined, '{"a":1}'],
    ['{"a":1}', ['a'], undefined, '{}'],
    ['{}', ['a', 'b', END], 'x', '{\n  "a": {\n    "b": [\n      "x"\n    ]\n  }\n}'],
    ['{}\n', ['a'], 1, '{\n  "a": 1\n}\n'],
    ['{ /* c */ }', ['a'], 1, '{ /* c */ "a": 1 }'],
    ['{\n\t"a": 1\n}', ['b'], { c: 2 }, '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 2\n\t}\n}'],
    ['{\r\n    "a": 1\r\n}\r\n', ['b'], [2], '{\r\n    "a": 1,\r\n    "b": [\r\n        2\r\n    ]\r\n}\r\n'],
    ['{\n  "a": [\n    1\n    // last\n  ]\n}', ['a', END], 2, '{\n  "a": [\n    1,\n    2\n    // last\n  ]\n}'],
    ['{\n  "a": [\n    // none yet\n  ]\n}', ['a', END], 2, '{\n  "a": [\n    // none yet\n    2\n  ]\n}'],
  ] as const)('%j %j = %j', async (text, path, value, expected) => {
    expect(await change(text, path, value)).toBe(expected);
  });

  it('refuses to put a value where none can be', async () => {
    await expect(change('{"permissions": "all"}', ['permissions', 'allow', END], 'A')).rejects.toMatchObject({
      code: 'invalid_settings',
      message: 'x.json: permissions cannot be added to. It was not changed.',
    });
    await expect(change('{"a": {}}', ['a', END], 'A')).rejects.toThrow('cannot be added to');
  });

  it('random changes of random texts do what they say, and keep every other comment', async () => {
    const random = createRandom(20_260_101);
    for (let run = 0; run < 400; run += 1) {
      const value = { list: randomList(random), table: { k: randomList(random), n: 1 }, last: true };
      const text = write(random, value);
      const path = random(2) === 0 ? ['list'] : ['table', 'k'];
      const list = path.length === 1 ? value.list : value.table.k;
      const at = random(list.length + 1);
      const isRemoval = at < list.length && random(2) === 0;
      const place = isRemoval ? at : at === list.length ? END : at;
      const after = await change(text, [...path, place], isRemoval ? undefined : `new ${run}`);
      list.splice(at, at < list.length ? 1 : 0, ...(isRemoval ? [] : [`new ${run}`]));
      const parsed = await parseJsonc(after);
      const facts = { text, after, faults: parsed.faults, same: isDeepStrictEqual(parsed.value, value) };
      expect(facts).toMatchObject({ faults: [], same: true });
      const kept = commentsIn(text).filter((comment) => !after.includes(comment));
      // A comment on the line of what was taken away goes with it.
      expect({ text, after, lost: kept.length }).toMatchObject({ lost: isRemoval ? expect.any(Number) : 0 });
      expect(kept.length).toBeLessThanOrEqual(2);
    }
  });
});

type Random = (below: number) => number;

function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const randomList = (random: Random): string[] =>
  Array.from({ length: random(4) }, (_, at) => ['a, b', 'c // d', '"e"', '[f]'][random(4)] ?? String(at));

let comments = 0;

/** JSON with comments and white space wherever they may stand. */
function write(random: Random, value: unknown): string {
  const gap = (): string => {
    const kind = random(7);
    if (kind === 0) return ` /* c${(comments += 1)}; */ `;
    if (kind === 1) return ` // c${(comments += 1)};\n  `;
    return kind < 4 ? '\n    ' : (['', ' ', '  '][random(3)] ?? '');
  };
  const part = (inner: unknown): string => {
    if (typeof inner !== 'object' || inner === null) return JSON.stringify(inner);
    const [open, close] = Array.isArray(inner) ? '[]' : '{}';
    const items = Array.isArray(inner)
      ? inner.map(part)
      : Object.entries(inner).map(([key, each]) => `${JSON.stringify(key)}${gap()}:${gap()}${part(each)}`);
    const trailing = items.length > 0 && random(3) === 0 ? `,${gap()}` : '';
    return `${open}${gap()}${items.join(`${gap()},${gap()}`)}${gap()}${trailing}${close}`;
  };
  return `${gap()}${part(value)}${gap()}\n`;
}

const commentsIn = (text: string): string[] => text.match(/c\d+;/g) ?? [];
