import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { checkAgainst } from '../../src/engine/tools/json-schema.js';
import { parseOutputSchema } from '../../src/engine/structured-output/schema.js';
import { createSdkMcpServer, query, tool } from '../../src/sdk/index.js';
import { toJsonSchema, toOutputSchema } from '../../src/sdk/tool-schema.js';
import { fromZod4Shape } from '../../src/sdk/zod4-schema.js';
import { createScriptedModel } from '../../src/testing/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';

interface Own {
  safeParse(value: unknown): { success: boolean };
}

/** What zod takes and what not, and the JSON Schema, which goes the whole way through the engine, the same. */
async function compare(given: unknown, taken: readonly unknown[], refused: readonly unknown[] = []): Promise<void> {
  const schema = await parseOutputSchema(await toOutputSchema(given as never));
  for (const value of taken) {
    expect((given as Own).safeParse(value).success, JSON.stringify(value)).toBe(true);
    expect(await checkAgainst(schema, value), JSON.stringify(value)).toEqual([]);
  }
  for (const value of refused) {
    expect((given as Own).safeParse(value).success, JSON.stringify(value)).toBe(false);
    expect(await checkAgainst(schema, value), JSON.stringify(value)).not.toEqual([]);
  }
}

const text = z3.string();
type Any3 = z3.ZodTypeAny;
const listed: Any3 = z3.object({ n: text, sub: z3.lazy(() => listed.array()) });
const extended: Any3 = z3.object({ n: text }).extend({ sub: z3.lazy(() => z3.array(extended)) });
const nullable: Any3 = z3.object({ n: text, sub: z3.lazy(() => nullable.nullable()) });
const maybe: Any3 = z3.object({ n: text, sub: z3.lazy(() => maybe.optional()) });
const keyed: Any3 = z3.object({ n: text, sub: z3.lazy(() => z3.record(keyed)) });
const either: Any3 = z3.object({ n: text, sub: z3.lazy(() => z3.union([text, either])) });
const described: Any3 = z3.object({ n: text, sub: z3.lazy(() => described.array().describe('more')).describe('kids') });
const man: Any3 = z3.object({ n: text, wives: z3.lazy(() => wife.array()) });
const wife: Any3 = z3.object({ n: text, men: z3.lazy(() => man.array()) });
const late: Any3 = z3.late.object(() => ({ n: text, sub: late.array() }));
const made = (): Any3 => z3.object({ n: text, sub: z3.array(z3.lazy(made)) });

const kids = { n: 'a', sub: [{ n: 'b', sub: [{ n: 'c', sub: [] }] }] };
const wrong = { n: 'a', sub: [{ n: 'b', sub: [{ n: 1, sub: [] }] }] };

describe('G5: what refers to itself, in zod 3', () => {
  it.each<[string, Any3, unknown, unknown]>([
    ['array()', listed, kids, wrong],
    ['z.array()', extended, kids, wrong],
    ['nullable()', nullable, { n: 'a', sub: { n: 'b', sub: null } }, { n: 'a', sub: { n: 1, sub: null } }],
    ['optional()', maybe, { n: 'a', sub: { n: 'b' } }, { n: 'a', sub: { n: 1 } }],
    ['record()', keyed, { n: 'a', sub: { x: { n: 'b', sub: {} } } }, { n: 'a', sub: { x: { n: 1, sub: {} } } }],
    ['union()', either, { n: 'a', sub: { n: 'b', sub: 'c' } }, { n: 'a', sub: { n: 'b', sub: 1 } }],
    ['with descriptions', described, kids, wrong],
    [
      'two that refer to each other',
      man,
      { n: 'a', wives: [{ n: 'b', men: [{ n: 'c', wives: [] }] }] },
      { n: 'a', wives: [{ n: 'b', men: [{ n: 1, wives: [] }] }] },
    ],
    ['without a lazy', late, kids, wrong],
    ['from a function that makes it each time', made(), kids, wrong],
  ])('%s', async (_, schema, taken, refused) => {
    await compare(schema, [taken], [refused]);
    const asTool = await toJsonSchema({ field: schema });
    expect(await checkAgainst(asTool, { field: taken })).toEqual([]);
    expect(await checkAgainst(asTool, { field: refused })).not.toEqual([]);
  });
});

const endless3 = (depth: number): Any3 => z3.object({ sub: z3.lazy(() => endless3(depth + 1)) });
const wide3 = (depth: number): Any3 =>
  z3.object({ a: z3.lazy(() => wide3(depth + 1)).optional(), b: z3.lazy(() => wide3(depth + 1)).optional() });
const endless4 = (): z.ZodType => {
  const made4 = z.object({
    get sub() {
      return endless4();
    },
  });
  return made4;
};
let deep3: Any3 = text;
for (let at = 0; at < 5_000; at += 1) deep3 = z3.array(deep3);

const UNREADABLE: [string, () => unknown][] = [
  ['zod 3, made anew each time', () => endless3(0)],
  ['zod 3, two at a time', () => wide3(0)],
  ['zod 3, nested too deep', () => deep3],
  ['zod 4, made anew each time', () => endless4()],
];

describe('a schema without an end', () => {
  it.each(UNREADABLE)('is refused for an answer: %s', async (_, make) => {
    const own = make() as z.ZodType;
    const whole = '_zod' in own ? z.object({ own }) : z3.object({ own });
    await expect(toOutputSchema(whole as never)).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('has no end, or is nested too deep'),
      hint: expect.stringContaining('refers to itself'),
    });
  });

  it.each(UNREADABLE)('leaves a field of a tool open: %s', async (_, make) => {
    const own = make() as z.ZodType;
    const name = '_zod' in own ? z.string() : z3.string();
    const schema = await toJsonSchema({ name, own });
    expect(schema).toMatchObject({ properties: { name: { type: 'string' }, own: {} } });
    expect(schema).not.toHaveProperty('$defs');
  });

  it('does not take along the other tools of its server', async () => {
    const say = async () => ({ content: [{ type: 'text' as const, text: 'hi' }] });
    const bad = z3.lazy((): Any3 => {
      throw new Error('not yet');
    });
    const tools = [
      tool('odd', 'Odd', { own: endless3(0) } as never, say),
      tool('older', 'Older', { own: listed } as never, say),
      tool('thrown', 'Throws', { own: bad } as never, say),
      tool('good', 'Good', { n: z.number() }, say),
    ];
    const model = createScriptedModel([{ toolUse: { name: 'mcp__s__good', input: { n: 1 } } }, 'done']);
    const options = {
      cwd: scratch(),
      env: PATH_ENV,
      mcpServers: { s: createSdkMcpServer({ name: 's', tools }) },
      allowedTools: ['mcp__s__good'],
      heddle: { provider: model },
    };
    for await (const message of query({ prompt: 'Go', options })) {
      if (message.type === 'system' && message.subtype === 'init') {
        expect(message.mcp_servers).toEqual([{ name: 's', status: 'connected' }]);
        expect(message.tools.filter((name) => name.startsWith('mcp__'))).toHaveLength(4);
      }
    }
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('"hi"');
  });
});

describe('G5: a file in zod 4', () => {
  it('is no JSON: refused in an answer, left open in the input of a tool', async () => {
    await expect(toOutputSchema(z.object({ a: z.array(z.file()) }))).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('Files cannot be represented'),
    });
    expect(await fromZod4Shape({ a: z.file(), b: z.string() })).toMatchObject({
      properties: { a: {}, b: { type: 'string' } },
    });
  });
});

describe('G5: a zod 4 schema with an id at its root', () => {
  it('has its object at the root', async () => {
    expect(await toOutputSchema(z.object({ a: z.number() }).meta({ id: 'Root', title: 'T' }))).toEqual({
      type: 'object',
      title: 'T',
      properties: { a: { type: 'number' } },
      required: ['a'],
    });
  });

  it.each(['Cat', 'a/b~c', 'x y', 'constructor'])('may refer to itself: %s', async (id) => {
    const cat = z.object({
      n: z.string(),
      get sub() {
        return z.array(cat);
      },
    });
    const named = cat.meta({ id });
    const other = z.object({ k: z.number() }).meta({ id: `${id}2` });
    await compare(named, [kids], [wrong]);
    await compare(
      named.extend({ other }).meta({ id: `${id}3` }),
      [{ ...kids, other: { k: 1 } }],
      [{ ...kids, other: {} }],
    );
  });
});

describe('G5: the JSON Schema never refuses what zod takes', () => {
  const a = (field: unknown) =>
    '_zod' in (field as object) ? z.object({ a: field as never }) : z3.object({ a: field as never });
  it.each<[string, unknown, unknown[], unknown[]?]>([
    ['i, zod 3', z3.string().regex(/^abc$/i), ['ABC']],
    ['i', z.string().regex(/^abc$/i), ['ABC'], [1]],
    ['m', z.string().regex(/^b$/m), ['a\nb']],
    ['s', z.string().regex(/^a.b$/s), ['a\nb']],
    ['v', z.string().regex(/^[\p{L}--[a-z]]+$/v), ['É']],
    ['v, zod 3', z3.string().regex(/^[\p{L}--[a-z]]+$/v), ['É']],
    ['u', z.string().regex(/^\p{L}+$/u), ['é'], ['1']],
    ['u, zod 3', z3.string().regex(/^\p{L}+$/u), ['é'], ['1']],
    ['what is no pattern with u', z.string().regex(new RegExp('^a\\_b$')), ['a_b']],
    ['what is no pattern with u, zod 3', z3.string().regex(new RegExp('^a\\_b$')), ['a_b']],
    ['what is another one with u', z.string().regex(new RegExp('^\\p{1}$')), ['p']],
    ['halves of characters', z.string().regex(/^[\ud800-\udbff][\udc00-\udfff]$/), ['😀']],
    ['two, one of them with a flag', z.string().regex(/^A/i).regex(/z$/), ['abz'], ['abc']],
    ['three, one of them with a flag', z.string().regex(/^a/i).regex(/z$/).regex(/b/), ['Abz'], ['Az', 'ab']],
    ['keys', z.record(z.string().regex(/^k$/i), z.number()), [{ K: 1 }]],
    ['some keys', z.looseRecord(z.string().regex(/^[k--a]$/v), z.number()), [{ k: 1 }]],
    ['links', z.url(), ['https://exämple.com/a b'], ['no']],
    ['links, zod 3', z3.string().url(), ['https://exämple.com/a b', 'mailto:x'], ['no']],
    ['local times', z.iso.datetime({ local: true }), ['2020-01-01T00:00:00'], ['no']],
    ['local times, zod 3', z3.string().datetime({ local: true }), ['2020-01-01T00:00:00', '2020-01-01T00:00'], ['no']],
    ['times, zod 3', z3.string().datetime(), ['2020-01-01T00:00:00Z', '2020-01-01T00:00Z'], ['no']],
    ['times', z.iso.datetime(), ['2020-01-01T00:00:00Z'], ['no']],
    ['spans', z.iso.duration(), ['P1D', 'PT1,5S'], ['no']],
    ['spans, zod 3', z3.string().duration(), ['P1D', '-P1.5Y'], ['no']],
    ['dates from text', z3.coerce.date(), ['2020-01-01']],
    ['addresses of another kind', z.email({ pattern: z.regexes.unicodeEmail }), ['ü@example.org'], ['no']],
    ['addresses', z.email(), ['a@example.org'], ['no']],
  ])('%s', async (_, field, taken, refused = []) => {
    const wrap = (values: unknown[]) => values.map((value) => ({ a: value }));
    await compare(a(field), wrap(taken), wrap(refused));
    const asTool = await toJsonSchema({ a: field } as never);
    for (const value of wrap(taken)) expect(await checkAgainst(asTool, value)).toEqual([]);
  });
});
