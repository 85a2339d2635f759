import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { checkAgainst } from '../../src/engine/tools/json-schema.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { HookOutput, Message } from '../../src/protocol/index.js';
import { type Options, query } from '../../src/sdk/index.js';
import { toOutputSchema } from '../../src/sdk/tool-schema.js';
import { createScriptedModel, lastResult } from '../../src/testing/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';

type Schema = NonNullable<Options['outputFormat']>['schema'];
const give = (input: Record<string, unknown>): ScriptStep => ({ toolUse: { name: 'StructuredOutput', input } });

async function run(schema: Schema, script: readonly ScriptStep[], rest: Partial<Options> = {}) {
  const model = createScriptedModel(script);
  const options: Options = {
    cwd: scratch(),
    env: PATH_ENV,
    outputFormat: { type: 'json_schema', schema },
    heddle: { provider: model },
    ...rest,
  };
  const messages: Message[] = [];
  for await (const message of query({ prompt: 'Go', options })) messages.push(message);
  return { model, result: lastResult(messages) };
}

/** What the schema of a zod field takes, and what not: the JSON Schema must say the same. */
const TABLE = (own: typeof z3): [string, unknown, unknown[], unknown[]][] => {
  // What TypeScript makes of `enum Side { left, right }`.
  const Side = { left: 0, right: 1, 0: 'left', 1: 'right' };
  const tree: unknown = own.object({ kids: own.array(own.lazy(() => tree as never)) });
  return [
    ['bounds', own.number().min(1).max(5), [1, 5], [0, 6, 'x']],
    ['open bounds', own.number().gt(1).lt(5), [2], [1, 5]],
    ['steps', own.number().int().multipleOf(3), [3], [4, 1.5]],
    ['lengths', own.string().min(2).max(3), ['ab'], ['a', 'abcd']],
    ['patterns', own.string().regex(/^a+$/), ['aa'], ['ab']],
    ['ends', own.string().startsWith('a.').endsWith('z'), ['a.z'], ['abz', 'a.y']],
    ['addresses', own.string().email(), ['a@example.org'], ['no']],
    ['links', own.string().url(), ['https://example.org'], ['no']],
    ['ids', own.string().uuid(), ['4a9b1c1e-4b0f-4c0a-9b0e-0c8d1f4c1a11'], ['no']],
    ['lists', own.array(own.string()).min(1).max(2), [['a']], [[], ['a', 'b', 'c'], [1]]],
    ['tuples', own.tuple([own.string(), own.number()]), [['a', 1]], [['a'], ['a', 'b'], ['a', 1, 2], 7]],
    ['literals', own.literal('a'), ['a'], ['b']],
    ['null', own.null(), [null], [1]],
    ['enums', own.enum(['a', 'b']), ['a'], ['c']],
    ['native enums', own.nativeEnum(Side), [0, 1], ['left', 2]],
    ['strict objects', own.object({ a: own.string() }).strict(), [{ a: 'x' }], [{ a: 'x', b: 1 }, {}]],
    ['catchall', own.object({}).catchall(own.number()), [{ b: 1 }], [{ b: 'x' }]],
    ['records', own.record(own.string().min(2), own.number()), [{ ab: 1 }], [{ ab: 'x' }, { a: 1 }]],
    [
      'discriminated unions',
      own.discriminatedUnion('t', [own.object({ t: own.literal('a') }), own.object({ t: own.literal('b') })]),
      [{ t: 'a' }],
      [{ t: 'c' }, 'junk'],
    ],
    ['both', own.object({ a: own.string() }).and(own.object({ b: own.string() })), [{ a: '', b: '' }], [{ a: '' }]],
    ['what goes into a transform', own.string().transform((text) => text.length), ['abc'], [42]],
    ['what goes into a pipe', own.string().pipe(own.coerce.number()), ['42'], [42]],
    ['optional', own.string().optional(), ['a'], [1]],
    ['nullable', own.string().nullable(), ['a', null], [1]],
    ['brands', own.string().min(1).brand('id'), ['a'], ['', 1]],
    ['what refers to itself', tree, [{ kids: [{ kids: [] }] }], [{ kids: [{ kids: 1 }] }]],
  ];
};

describe.each([
  ['zod 3', z3],
  ['zod 4', z as unknown as typeof z3],
])('G5: the schema of an answer, from %s', (_, own) => {
  it.each(TABLE(own))('%s', async (_name, field, taken, refused) => {
    const whole = own.object({ f: field as never });
    const schema = await toOutputSchema(whole);
    for (const f of taken) {
      expect(whole.safeParse({ f }).success, JSON.stringify(f)).toBe(true);
      expect(await checkAgainst(schema, { f }), JSON.stringify(f)).toEqual([]);
    }
    for (const f of refused) {
      expect(whole.safeParse({ f }).success, JSON.stringify(f)).toBe(false);
      expect(await checkAgainst(schema, { f }), JSON.stringify(f)).not.toEqual([]);
    }
  });

  it('what has a default may be left out', async () => {
    const { required } = await toOutputSchema(own.object({ a: own.string(), b: own.string().default('q') }));
    expect(required).toEqual(['a']);
  });

  it.each(['date', 'bigint', 'undefined', 'symbol'] as const)('%s is refused: no JSON is one', async (type) => {
    const schema = own.object({ f: own[type]() });
    await expect(toOutputSchema(schema)).rejects.toMatchObject({ code: 'invalid_config', hint: expect.any(String) });
    await expect(run(schema, [])).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('the model is told what is wrong, and a value that the schema takes comes back as it was given', async () => {
    const schema = own.object({ n: own.number().min(1) }).strict();
    const { model, result } = await run(schema, [give({ n: -5, extra: 1 }), give({ n: 2 })]);
    expect(result).toMatchObject({ subtype: 'success', structured_output: { n: 2 } });
    expect(model.requests).toHaveLength(2);
  });

  it.each([
    ['a refinement', own.object({ n: own.number().refine((n) => n > 1, 'must be more') }), 'n: must be more'],
    ['one that takes a while', own.object({ n: own.number().refine(async (n) => n > 1, 'more') }), 'n: more'],
    ['one that throws', own.object({ n: own.number().refine(() => Promise.reject(new Error('broken'))) }), 'broken'],
  ])('%s that refuses the value makes it no success', async (_name, schema, text) => {
    const { result } = await run(schema, [give({ n: 1 })]);
    expect(result).toMatchObject({ subtype: 'error_max_structured_output_retries', is_error: true });
    expect(result).not.toHaveProperty('structured_output');
    expect(JSON.stringify(result)).toContain(text);
  });
});

it('G5: bounds in the words of draft 4 hold to the end of the turn', async () => {
  const schema = { type: 'object', properties: { n: { maximum: 5, exclusiveMaximum: true } } };
  const { result } = await run(schema, [give({ n: 5 }), give({ n: 4 })]);
  expect(result).toMatchObject({ subtype: 'success', structured_output: { n: 4 } });
});

describe('options that are no schema', () => {
  it.each([null, undefined, 'text', 7, []])('%j is refused in words', async (schema) => {
    await expect(run(schema as never, [])).rejects.toMatchObject({ code: 'invalid_config', hint: expect.any(String) });
  });

  it('one that is nested too deep is refused in words', async () => {
    let deep: Record<string, unknown> = {};
    for (let at = 0; at < 100_000; at += 1) deep = { properties: { a: deep } };
    await expect(run({ type: 'object', ...deep }, [])).rejects.toThrow('nested too deep');
  });

  it('a preset that nobody knows is refused', () => {
    const systemPrompt = { type: 'preset', preset: 'wobble' } as never;
    expect(() => query({ prompt: 'x', options: { systemPrompt } })).toThrow('systemPrompt must be');
  });
});

describe('G5: hooks that end a turn which owes an answer', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } } };
  const stop: HookOutput = { continue: false, stopReason: 'enough' };
  const hook = (event: string, answer: HookOutput): Partial<Options> => ({
    hooks: { [event]: [{ hooks: [async () => answer] }] },
  });

  it('after the value: it stays', async () => {
    const { result } = await run(schema, [give({ n: 1 })], hook('PostToolUse', stop));
    expect(result).toMatchObject({ subtype: 'success', structured_output: { n: 1 }, terminal_reason: 'hook_stopped' });
  });

  it.each<[string, HookOutput]>([
    ['PreToolUse', stop],
    ['UserPromptSubmit', { decision: 'block', reason: 'not now' }],
  ])('before it (%s): no success', async (event, answer) => {
    const { result } = await run(schema, [give({ n: 1 })], hook(event, answer));
    expect(result).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      terminal_reason: 'hook_stopped',
      errors: [expect.stringContaining('before the structured answer was given')],
    });
  });
});
