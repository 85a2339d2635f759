import { describe, expect, it } from 'vitest';
import { checkAgainst } from '../../src/engine/tools/json-schema.js';

type Schema = Record<string, unknown>;

const object = (properties: Schema, rest: Schema = {}): Schema => ({ type: 'object', properties, ...rest });
const text = { type: 'string' };
const number = { type: 'number' };
const invalid = (...words: string[]) =>
  expect.objectContaining({
    code: 'invalid_config',
    message: expect.stringMatching(words.map((word) => word.replace(/[$^*()[\].|\\+?{}]/g, '\\$&')).join('.*')),
  });

describe('checkAgainst', () => {
  const order = object(
    { colour: { enum: ['indigo', 'weld'] }, spools: { type: 'integer', minimum: 1 }, note: text },
    { required: ['colour', 'spools'], additionalProperties: false },
  );

  it('has nothing to say about a value that matches', async () => {
    expect(await checkAgainst(order, { colour: 'weld', spools: 2 })).toEqual([]);
    expect(await checkAgainst({}, null)).toEqual([]);
  });

  it('names every wrong field once, why, and what is expected', async () => {
    expect(await checkAgainst(order, { colour: 'red', note: 5, when: 'now' })).toEqual([
      'The required parameter `spools` is missing',
      'The parameter `colour` is not valid: expected one of "indigo", "weld"',
      'The parameter `note` type is expected as `string` but provided as `number`',
      'An unexpected parameter `when` was provided',
    ]);
    expect(await checkAgainst(order, { colour: 'weld', spools: 'two' })).toEqual([
      'The parameter `spools` type is expected as `integer` but provided as `string`',
    ]);
    expect(await checkAgainst(order, 'weld')).toEqual(['The input is expected as `object` but provided as `string`']);
  });

  it('speaks of results in other words than of inputs', async () => {
    expect(await checkAgainst(order, { colour: 'weld' }, 'output')).toEqual(['The required field `spools` is missing']);
    expect(await checkAgainst(order, [], 'output')).toEqual([
      'The output is expected as `object` but provided as `array`',
    ]);
  });

  it.each<[what: string, schema: Schema, value: unknown, expected: string[]]>([
    [
      'a field deep inside',
      object({ a: object({ 'b/c': { type: 'array', items: object({ n: number }) } }) }),
      { a: { 'b/c': [{ n: 1 }, { n: null }] } },
      ['The parameter `a.b/c[1].n` type is expected as `number` but provided as `null`'],
    ],
    [
      'names that a pointer has to escape',
      object({ 'a~b %23#ü': text }),
      { 'a~b %23#ü': 1 },
      ['The parameter `a~b %23#ü` type is expected as `string` but provided as `number`'],
    ],
    [
      'a type beside other keywords',
      object({ a: { type: 'string', enum: ['x'], minLength: 2 } }),
      { a: 1 },
      ['The parameter `a` type is expected as `string` but provided as `number`'],
    ],
    [
      'several reasons at one field',
      object({ a: { type: 'string', minLength: 3, pattern: '^[a-z]+$' } }),
      { a: '1' },
      ['The parameter `a` is not valid: expected at least 3 characters; expected a match of the pattern ^[a-z]+$'],
    ],
    [
      'limits of numbers',
      object({ a: { maximum: 2 }, b: { exclusiveMinimum: 0 }, c: { multipleOf: 0.5 } }),
      { a: 3, b: 0, c: 0.7 },
      [
        'The parameter `a` is not valid: expected at most 2',
        'The parameter `b` is not valid: expected a number above 0',
        'The parameter `c` is not valid: expected a multiple of 0.5',
      ],
    ],
    [
      'limits of lists and tables',
      object({
        a: { maxItems: 1, uniqueItems: true },
        b: { minProperties: 1 },
        c: { prefixItems: [text], items: false },
      }),
      { a: [1, 1], b: {}, c: ['x', 'y'] },
      [
        'The parameter `a` is not valid: expected at most 1 items; expected items that differ from each other',
        'The parameter `b` is not valid: expected at least 1 fields',
        'An unexpected parameter `c[1]` was provided',
      ],
    ],
    [
      'a format',
      object({ a: { format: 'date' } }),
      { a: 'soon' },
      ['The parameter `a` is not valid: expected the format date'],
    ],
    ['a constant', object({ a: { const: 7 } }), { a: 8 }, ['The parameter `a` is not valid: expected 7']],
    ['what is excluded', { not: { type: 'null' } }, null, ['The input is not valid: the schema excludes this value']],
    [
      'a list of types',
      object({ a: { type: ['string', 'null'] } }),
      { a: 1 },
      ['The parameter `a` type is expected as `string | null` but provided as `number`'],
    ],
    [
      'a reference',
      object({ a: { $ref: '#/$defs/Colour' } }, { $defs: { Colour: { enum: ['red', 'blue'] } } }),
      { a: 'green' },
      ['The parameter `a` is not valid: expected one of "red", "blue"'],
    ],
    [
      'what another field asks for',
      { dependentRequired: { a: ['b'] }, if: object({ a: { const: 2 } }), else: { required: ['c'] } },
      { a: 1 },
      ['The required parameter `c` is missing', 'The required parameter `b` is missing'],
    ],
    [
      'names of fields',
      { propertyNames: { maxLength: 2 } },
      { long: 1 },
      ['The input is not valid: Property name "long" does not match schema'],
    ],
    [
      'a list without what it must contain',
      { contains: number },
      ['a', 'b'],
      ['The input is not valid: Array does not contain item matching schema'],
    ],
  ])('tells %s', async (_, schema, value, expected) => {
    expect(await checkAgainst(schema, value)).toEqual(expected);
  });

  describe('of several allowed forms', () => {
    const shape = {
      anyOf: [
        object({ kind: { const: 'circle' }, r: number }, { required: ['kind', 'r'] }),
        object({ kind: { const: 'square' }, side: number }, { required: ['kind', 'side'] }),
      ],
    };

    it.each<[what: string, schema: Schema, value: unknown, expected: string[]]>([
      [
        'types are put together',
        object({ a: { anyOf: [text, { type: 'null' }] } }),
        { a: 1 },
        ['The parameter `a` type is expected as `string | null` but provided as `number`'],
      ],
      [
        'the one that was meant is told by its type',
        object({ a: { oneOf: [text, { type: 'array', items: text }] } }),
        { a: ['x', 1] },
        ['The parameter `a[1]` type is expected as `string` but provided as `number`'],
      ],
      [
        'the one that was meant is told by its kind',
        shape,
        { kind: 'square', side: 'x' },
        ['The parameter `side` type is expected as `number` but provided as `string`'],
      ],
      [
        'kinds are put together',
        shape,
        { kind: 'line' },
        ['The parameter `kind` is not valid: expected one of "circle", "square"'],
      ],
      [
        'a few examples are given when none was meant',
        { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
        {},
        [
          'The input is not valid: it matches none of the allowed forms (The required parameter `a` is missing; or: The required parameter `b` is missing)',
        ],
      ],
      [
        'more than one is too many',
        { oneOf: [number, { minimum: 0 }] },
        1,
        ['The input is not valid: it matches more than one of the allowed forms'],
      ],
      ['none is possible', object({ a: { anyOf: [false] } }), { a: 1 }, ['An unexpected parameter `a` was provided']],
    ])('%s', async (_, schema, value, expected) => {
      expect(await checkAgainst(schema, value)).toEqual(expected);
    });
  });

  describe('takes the draft that the schema names', () => {
    const strict = { definitions: { Any: {} }, properties: { a: { $ref: '#/definitions/Any', type: 'string' } } };

    it.each<[draft: string, problems: number]>([
      ['http://json-schema.org/draft-07/schema#', 0],
      ['https://json-schema.org/draft/2019-09/schema', 1],
      ['https://json-schema.org/draft/2020-12/schema', 1],
      ['https://example.org/own', 1],
    ])('%s', async ($schema, problems) => {
      // In draft 7 nothing beside a reference counts.
      expect(await checkAgainst({ $schema, ...strict }, { a: 1 })).toHaveLength(problems);
    });
  });

  it('leaves the schema as it is, frozen or not, and may be given it again', async () => {
    const schema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
    });
    for (const value of [{ a: 1 }, { a: 2 }]) expect(await checkAgainst(schema, value)).toHaveLength(1);
    expect(Reflect.ownKeys(schema)).toEqual(['type', 'properties']);
  });

  it('sees a value as JSON has it', async () => {
    const schema = object({ at: { type: 'string', format: 'date-time' } }, { additionalProperties: false });
    expect(await checkAgainst(schema, { at: new Date(0), gone: undefined })).toEqual([]);
    const circle: Schema = {};
    circle.self = circle;
    for (const value of [undefined, () => 1, 1n, circle]) {
      expect(await checkAgainst({}, value)).toEqual([
        expect.stringMatching(/^The input is not valid: (?:there is none|it is not JSON \(.+\))$/),
      ]);
    }
  });

  describe('H1: a schema that cannot be used is an error of its own', () => {
    it.each<[what: string, schema: Schema, words: string[]]>([
      ['an unknown type', object({ a: { type: 'strnig' } }), ['properties.a.type is "strnig"', 'known types']],
      ['required that is no list', object({ a: { required: true } }), ['properties.a.required must be a list']],
      ['properties that are a list', { properties: [] }, ['properties must be a table']],
      ['a part that is no schema', { anyOf: [5] }, ['anyOf[0] must be an object or a boolean']],
      ['forms that are no list', { anyOf: {} }, ['anyOf must be a list']],
      ['a broken pattern', { items: { pattern: '(' } }, ['items.pattern is no regular expression']],
      ['a broken pattern of names', { patternProperties: { '[': {} } }, ['patternProperties has [']],
      ['a reference to nothing', { $ref: '#/$defs/X' }, ['$ref leads to "#/$defs/X"']],
      ['a remote reference', { $ref: 'http://127.0.0.1:9/x.json' }, ['x.json"', 'nothing is fetched']],
      ['an address that is none', { $id: 'http://[' }, ['Invalid URL']],
      ['an enum that is no list', { enum: 'a' }, ['enum must be a list']],
      ['what is not JSON', { default: 1n }, ['not JSON']],
    ])('%s', async (_, schema, words) => {
      await expect(checkAgainst(schema, {})).rejects.toEqual(invalid('A JSON Schema cannot be used: ', ...words));
    });

    it('what only looks like a schema is not one', async () => {
      const schema = object({ type: text, $ref: text }, { 'x-note': { type: 'fancy' }, default: { $ref: '#/no' } });
      expect(await checkAgainst(schema, { type: 'x', $ref: 1 })).toEqual([
        'The parameter `$ref` type is expected as `string` but provided as `number`',
      ]);
    });
  });

  describe('H5: is bounded', () => {
    it('tells at most twenty problems, in sentences that end', async () => {
      const many = await checkAgainst(
        { items: text },
        Array.from({ length: 500 }, () => 1),
      );
      expect(many).toHaveLength(20);
      expect(many.at(-1)).toBe('There are more problems.');
      const [long] = await checkAgainst({ enum: ['x'.repeat(10_000)] }, 1);
      expect(long?.length).toBeLessThan(600);
    });

    it('takes values that are huge or deep', async () => {
      const items = { type: 'array', items: number };
      expect(
        await checkAgainst(
          items,
          Array.from({ length: 30_000 }, () => 1),
        ),
      ).toEqual([]);
      expect(
        await checkAgainst(
          items,
          Array.from({ length: 30_000 }, () => 'x'),
        ),
      ).toEqual(['The parameter `[0]` type is expected as `number` but provided as `string`']);
      const tree = { type: 'object', additionalProperties: { $ref: '#' } };
      const deep = (levels: number): unknown => {
        let value: unknown = {};
        for (let level = 0; level < levels; level += 1) value = { a: value };
        return value;
      };
      expect(await checkAgainst(tree, deep(100))).toEqual([]);
      expect(await checkAgainst(tree, deep(100_000))).toEqual([expect.stringContaining('The input is not valid: it ')]);
      expect(await checkAgainst({ $ref: '#' }, 1)).toEqual([expect.stringContaining('nested too deeply')]);
    });

    it.each<[what: string, schema: Schema, value: unknown]>([
      ['a pattern that explodes', object({ a: { pattern: '^(a+)+$' } }), { a: `${'a'.repeat(50)}!` }],
      ['a pattern of names that explodes', { patternProperties: { '^(a+)+$': {} } }, { [`${'a'.repeat(50)}!`]: 1 }],
      ['comparing everything with everything', { uniqueItems: true }, Array.from({ length: 200_000 }, (_, i) => i)],
      [
        'references that double',
        {
          $ref: '#/$defs/n0',
          $defs: Object.fromEntries(
            Array.from({ length: 60 }, (_, i) => {
              const next = { $ref: `#/$defs/n${i + 1}` };
              return [`n${i}`, { allOf: [next, next] }];
            }).concat([['n60', {} as never]]),
          ),
        },
        1,
      ],
    ])('stops %s', async (_, schema, value) => {
      expect(await checkAgainst(schema, value)).toEqual([
        'The input is not valid: it could not be checked within 500 ms, because the schema is too costly for it',
      ]);
    });
  });
});
