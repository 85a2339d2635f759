import { describe, expect, it } from 'vitest';
import { parseOutputSchema } from '../../src/engine/structured-output/schema.js';
import { openStructuredOutput } from '../../src/engine/structured-output/open.js';

const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'number' }, why: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

const field = (a: object): Record<string, unknown> => ({ type: 'object', properties: { a } });

describe('the schema of an answer', () => {
  it('is taken as it is, and copied', async () => {
    const schema = await parseOutputSchema(SCHEMA);
    expect(schema).toEqual(SCHEMA);
    expect(schema).not.toBe(SCHEMA);
  });

  it('that leaves out the type of its root gets it', async () => {
    expect(await parseOutputSchema({ properties: { a: {} } })).toEqual({ type: 'object', properties: { a: {} } });
  });

  it('may refer to its own parts', async () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    const schema = { type: 'object', properties: { first: { $ref: '#/$defs/node' } }, $defs: { node } };
    expect(await parseOutputSchema(schema)).toEqual(schema);
  });

  const DRAFT4 = { $schema: 'http://json-schema.org/draft-04/schema#' };
  it.each<[string, Record<string, unknown>, unknown[], unknown[], object?]>([
    ['an open lower bound', { minimum: 5, exclusiveMinimum: true }, [6], [5, 4]],
    ['an open upper bound', { maximum: 5, exclusiveMaximum: true }, [4], [5, 6]],
    ['closed bounds', { minimum: 5, exclusiveMinimum: false, maximum: 6, exclusiveMaximum: false }, [5, 6], [4, 7]],
    ['nothing to be open', { exclusiveMinimum: true }, [1], []],
    [
      'bounds of both ends, said to be draft 4',
      { minimum: 1, exclusiveMinimum: true, maximum: 3 },
      [2, 3],
      [1, 4],
      DRAFT4,
    ],
    ['a reference, said to be draft 4', { $ref: '#/definitions/n' }, [6], [5], DRAFT4],
    ['bounds of today', { exclusiveMinimum: 5, minimum: 1 }, [6], [5]],
    [
      'fields that are named like keywords',
      { properties: { $dynamicRef: { type: 'string' }, enum: {}, extends: { type: 'string' } } },
      [{}],
      [{ $dynamicRef: 1 }],
    ],
    ['what only others know', { 'x-form': { minLength: 'short', enum: [] }, type: 'string' }, ['x'], [1]],
    ['data that looks like a schema', { default: { $dynamicRef: '#' }, enum: [{ enum: [] }] }, [{ enum: [] }], [1]],
  ])('may have %s', async (_, a, taken, refused, rest = {}) => {
    const definitions = { n: { minimum: 5, exclusiveMinimum: true } };
    const tool = await openStructuredOutput({ ...field(a), required: ['a'], definitions, ...rest });
    for (const value of taken) expect(await tool.parse({ a: value })).toEqual({ a: value });
    for (const value of refused) await expect(tool.parse({ a: value })).rejects.toThrow('does not match');
  });

  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic.self = cyclic;
  let deep: unknown = {};
  for (let depth = 0; depth < 20_000; depth += 1) deep = { properties: { a: deep } };

  it.each<[string, unknown, RegExp]>([
    ['a text', 'object', /is a string, not an object/],
    ['a list', [], /is a list, not an object/],
    ['null', null, /is null, not an object/],
    ['a list at its root', { type: 'array', items: {} }, /the type at its root is "array", and must be "object"/],
    ['nothing at its root', {}, /the type at its root is missing/],
    ['several types at its root', { type: ['object', 'null'] }, /the type at its root is \["object","null"\]/],
    ['a choice at its root', { anyOf: [SCHEMA, SCHEMA] }, /has anyOf at its root/],
    ['a reference at its root', { $ref: '#/$defs/a', $defs: { a: SCHEMA } }, /has a \$ref at its root/],
    ['a type that is none', { type: 'object', properties: { a: { type: 'text' } } }, /properties\.a\.type is "text"/],
    ['a list of fields that is none', { type: 'object', required: 'a' }, /required must be a list of names/],
    [
      'a reference to elsewhere',
      { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } },
      /properties\.a\.\$ref leads to .* nothing is fetched/,
    ],
    ['a reference to nothing', { type: 'object', properties: { a: { $ref: '#/$defs/x' } } }, /not part of it/],
    ['a circle', cyclic, /it is not JSON/],
    ['no end of depth', { type: 'object', properties: { a: deep } }, /cannot be used/],
    [
      'more than 1 MB',
      { type: 'object', description: 'x'.repeat(1024 * 1024) },
      /has 1,048,6\d\d bytes, and at most 1 MB/,
    ],
    ['a dynamic reference', field({ $dynamicRef: '#n' }), /properties\.a\.\$dynamicRef cannot be judged; use \$ref/],
    [
      'a recursive reference',
      field({ items: [{ $recursiveRef: '#' }] }),
      /properties\.a\.items\[0\]\.\$recursiveRef cannot/,
    ],
    [
      'one in a place that only a reference leads to',
      { ...field({ $ref: '#/parts/x' }), parts: { x: { anyOf: [{ $dynamicRef: '#n' }] } } },
      /parts\.x\.anyOf\[0\]\.\$dynamicRef cannot/,
    ],
    [
      'one in a dependency',
      { ...field({}), dependencies: { a: { $dynamicRef: '#n' } } },
      /dependencies\.a\.\$dynamicRef/,
    ],
    ['draft 3', { ...SCHEMA, $schema: 'http://json-schema.org/draft-03/schema#' }, /\$schema is draft 3/],
    [
      'steps of draft 3',
      field({ type: 'number', divisibleBy: 2 }),
      /properties\.a\.divisibleBy cannot be judged; use mul/,
    ],
    ['a base of draft 3', { ...SCHEMA, extends: { properties: {} } }, /extends cannot be judged; use allOf/],
    [
      'an exception of draft 3',
      field({ items: { disallow: 'string' } }),
      /properties\.a\.items\.disallow cannot be judged/,
    ],
    ['a dependency of draft 3', field({ dependencies: { x: 'y' } }), /properties\.a\.dependencies\.x must be a list/],
    [
      'draft 3 in a place that only a reference leads to',
      { ...field({ $ref: '#/parts/x' }), parts: { x: { divisibleBy: 2 } } },
      /parts\.x\.divisibleBy cannot/,
    ],
    ['an empty enum', field({ enum: [] }), /properties\.a\.enum is empty/],
    ['an empty choice', field({ anyOf: [] }), /properties\.a\.anyOf must have at least one schema/],
    ['steps of nothing', field({ multipleOf: 0 }), /properties\.a\.multipleOf must be a number above 0/],
    ['a length below 0', field({ minLength: -1 }), /properties\.a\.minLength must be a whole number/],
    ['half a length', field({ maxItems: 1.5 }), /properties\.a\.maxItems must be a whole number/],
    ['a bound that is no number', field({ minimum: '5' }), /properties\.a\.minimum must be a number/],
    ['an open bound that is none', field({ exclusiveMinimum: '5' }), /properties\.a\.exclusiveMinimum must be/],
    ['a pattern that is none', { type: 'object', properties: { a: { pattern: '(' } } }, /no regular expression/],
  ])('that is or has %s is refused', async (_, schema, text) => {
    await expect(parseOutputSchema(schema)).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(text),
      data: { path: 'jsonSchema' },
    });
  });
});

describe('StructuredOutput', () => {
  it('has the schema of the caller, and gives the value back', async () => {
    const tool = await openStructuredOutput(SCHEMA);
    expect(tool).toMatchObject({ name: 'StructuredOutput', inputSchema: SCHEMA });
    const input = { answer: 42, why: 'because' };
    expect(await tool.parse(input)).toEqual(input);
    expect(await tool.run(input, {} as never)).toEqual({
      content: 'Structured output provided successfully',
      structured: input,
    });
  });

  it('tells what does not match', async () => {
    const tool = await openStructuredOutput(SCHEMA);
    const wrong = tool.parse({ answer: 'bad', extra: 1 });
    await expect(wrong).rejects.toThrow(/^Output does not match required schema: .*`answer`.*`number`/s);
    await expect(wrong).rejects.toThrow(/`extra`/);
  });

  it('G5: a schema that nothing can meet refuses everything, and does not hang', async () => {
    const tool = await openStructuredOutput({ type: 'object', not: {} });
    await expect(tool.parse({})).rejects.toThrow('Output does not match required schema');
  });
});
