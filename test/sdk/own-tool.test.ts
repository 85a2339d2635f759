import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { Message } from '../../src/protocol/index.js';
import {
  type CallToolResult,
  createSdkMcpServer,
  type HeddleOptions,
  type Options,
  query,
  type Tool,
  tool,
} from '../../src/sdk/index.js';
import { collect, toolResult } from '../../src/testing/index.js';
import { outline, PATH_ENV, scratch } from '../engine/kit.js';

type OwnTools = NonNullable<HeddleOptions['tools']>;

const PRICES = { indigo: 4.5, weld: 3.25 };

/** The ten lines of a plain tool. */
const price: Tool<{ colour: keyof typeof PRICES }> = {
  name: 'price',
  description: 'What a spool costs',
  inputSchema: {
    type: 'object',
    properties: { colour: { enum: Object.keys(PRICES) } },
    required: ['colour'],
  },
  run: async ({ colour }) => ({ content: String(PRICES[colour]) }),
};

const add = tool('add', 'Adds two numbers', { a: z.number(), b: z.number().default(1) }, async ({ a, b }) => ({
  content: [{ type: 'text', text: String(a + b) }],
}));

const say = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

const call = (name: string, input: Record<string, unknown>, id = 't1'): ScriptStep => ({
  toolUse: { name, input, id },
});

async function run(script: readonly ScriptStep[], tools: OwnTools, options: Options = {}) {
  const model = createScriptedModel(script);
  const messages: Message[] = [];
  const heddle = { provider: model, store: createMemoryStore(), tools };
  for await (const message of query({ prompt: 'go', options: { cwd: scratch(), env: PATH_ENV, ...options, heddle } })) {
    messages.push(message);
  }
  const { text, isError, structured } = script.length > 1 ? toolResult(messages, 't1') : {};
  return { messages, model, text, isError, structured };
}

const everything: Options = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true };

describe('tools of the app', () => {
  it('have the names they were given, plain or made with tool()', async () => {
    const { messages, model } = await run(
      [call('price', { colour: 'weld' }), call('add', { a: 2, b: 3 }, 't2'), call('add', { a: 2 }, 't3'), 'ok'],
      [price, add],
      { allowedTools: ['price', 'add'], tools: [] },
    );
    expect(messages[0]).toMatchObject({ tools: ['add', 'price'], mcp_servers: [] });
    expect(model.requests[0]?.body.tools).toEqual([
      {
        name: 'add',
        description: 'Adds two numbers',
        input_schema: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number', default: 1 } },
          required: ['a'],
        },
      },
      { name: 'price', description: 'What a spool costs', input_schema: price.inputSchema },
    ]);
    expect(['t1', 't2', 't3'].map((id) => toolResult(messages, id).text)).toEqual(['3.25', '5', '3']);
  });

  it('stand beside the built-in tools, whatever `tools` says of those, and can be taken away', async () => {
    const { messages } = await run(['ok'], [price], { tools: ['Read'] });
    expect(messages[0]).toMatchObject({ tools: ['Read', 'price'] });
    const without = await run(['ok'], [price, add], { tools: [], disallowedTools: ['price'] });
    expect(without.messages[0]).toMatchObject({ tools: ['add'] });
  });

  it('C1: are asked about, with the input as it was parsed', async () => {
    const asked: unknown[] = [];
    const canUseTool: Options['canUseTool'] = async (name, input, { toolUseID }) => {
      asked.push([name, input, toolUseID]);
      return name === 'price' ? { behavior: 'deny', message: 'not now' } : { behavior: 'allow' };
    };
    const { messages, text } = await run(
      [call('price', { colour: 'weld' }), call('add', { a: 2 }, 't2'), 'ok'],
      [price, add],
      { canUseTool },
    );
    expect(asked).toEqual([
      ['price', { colour: 'weld' }, 't1'],
      ['add', { a: 2, b: 1 }, 't2'],
    ]);
    expect([text, toolResult(messages, 't2').text]).toEqual(['not now', '3']);
  });

  it('run with the input that the answer gives, once it is right', async () => {
    const answers = [{ a: 40 }, { a: 'forty' }];
    const canUseTool: Options['canUseTool'] = async () => ({ behavior: 'allow', updatedInput: answers.shift() ?? {} });
    const { messages, text } = await run([call('add', { a: 1 }), call('add', { a: 1 }, 't2'), 'ok'], [add], {
      canUseTool,
    });
    expect(text).toBe('41');
    expect(toolResult(messages, 't2')).toMatchObject({ isError: true, text: expect.stringContaining('`a`') });
  });

  it('are not run where nobody can be asked, unless they are allowed or only read', async () => {
    const look = tool('look', 'Looks', {}, async () => say('seen'), { annotations: { readOnlyHint: true } });
    const plainLook: Tool = { ...price, name: 'peek', isReadOnly: ({ colour }) => colour === 'weld' };
    const script = [
      call('add', { a: 1 }),
      call('look', {}, 't2'),
      call('peek', { colour: 'weld' }, 't3'),
      call('peek', { colour: 'indigo' }, 't4'),
      'ok',
    ];
    const { messages } = await run(script, [add, look, plainLook]);
    const outcomes = ['t1', 't2', 't3', 't4'].map((id) => toolResult(messages, id).isError);
    expect(outcomes).toEqual([true, false, false, true]);
    expect(toolResult(messages, 't1').text).toContain('nobody here who can be asked');
  });

  it.each([
    ['zod 4', z],
    ['zod 3', z3 as unknown as typeof z],
  ])('H1: tell which field is wrong, why and what is expected, and nobody is asked (%s)', async (_, own) => {
    const shape = {
      n: own.number(),
      word: own.string(),
      kind: own.enum(['a', 'b']),
      list: own.array(own.object({ x: own.number() })),
      either: own.union([own.string(), own.number()]),
      form: own.union([own.string(), own.object({ y: own.boolean() })]),
    };
    const asked: string[] = [];
    const { text, isError } = await run(
      [call('check', { word: 5, kind: 'c', list: [{ x: 1 }, { x: 'y' }], either: true, form: { y: 1 } }), 'ok'],
      [tool('check', 'Checks', shape, async () => say('never'))],
      {
        canUseTool: async (name) => {
          asked.push(name);
          return { behavior: 'allow' };
        },
      },
    );
    expect(isError).toBe(true);
    expect(asked).toEqual([]);
    const [first, ...lines] = (text ?? '').replace(/<\/?tool_use_error>/g, '').split('\n');
    expect(first).toBe('InputValidationError: check failed due to the following issues:');
    expect(lines).toEqual([
      'The required parameter `n` is missing',
      'The parameter `word` type is expected as `string` but provided as `number`',
      expect.stringMatching(/^The parameter `kind` is not valid: .*expected.*"?a"?.*"?b"?/i),
      'The parameter `list[1].x` type is expected as `number` but provided as `string`',
      'The parameter `either` type is expected as `string | number` but provided as `boolean`',
      'The parameter `form.y` type is expected as `boolean` but provided as `number`',
    ]);
  });

  it('H1: a plain tool has its input checked against its JSON Schema', async () => {
    const { text, isError } = await run([call('price', { colour: 'red' }), 'ok'], [price], everything);
    expect(isError).toBe(true);
    expect(text).toContain('The parameter `colour` is not valid: expected one of "indigo", "weld"');
  });

  it.each<[what: string, handler: () => Promise<CallToolResult>, text: string]>([
    ['throws', () => Promise.reject(new Error('The loom is broken')), 'The loom is broken'],
    ['says that it failed', async () => ({ ...say('No thread left'), isError: true }), 'No thread left'],
    ['gives nothing', async () => undefined as never, 'made gave no result: its handler must return'],
    ['gives a text only', async () => 'done' as never, 'made gave no result: its handler must return'],
  ])('a handler that %s gives an error result, and the loop goes on', async (_, handler, text) => {
    const outcome = await run([call('made', {}), 'and on'], [tool('made', 'Made', {}, handler)], everything);
    expect(outcome.isError).toBe(true);
    expect(outcome.text).toContain(text);
    expect(outline(outcome.messages).at(-1)).toBe('result success turns=2');
  });

  it.each<[what: string, result: unknown]>([
    ['nothing', undefined],
    ['a text only', 'done'],
    ['no content', {}],
  ])('a plain tool that gives %s gives an error result, and the loop goes on', async (_, result) => {
    const broken: Tool = {
      ...price,
      name: 'broken',
      inputSchema: { type: 'object' },
      run: async () => result as never,
    };
    const outcome = await run([call('broken', {}), 'and on'], [broken], everything);
    expect(outcome.isError).toBe(true);
    expect(outcome.text).toContain('broken gave no result');
    expect(outline(outcome.messages).at(-1)).toBe('result success turns=2');
  });

  it('give all that an MCP tool can give', async () => {
    const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
    const resource = { type: 'resource', resource: { uri: 'loom://1', text: 'warp' } };
    const all = tool('all', 'All', {}, async () => ({ content: [{ type: 'text', text: 'a' }, image, resource] }));
    const { text, structured, model } = await run([call('all', {}), 'ok'], [all], everything);
    expect(text).toBe('a\n[image]\nloom://1\nwarp');
    expect(structured).toMatchObject([{ type: 'text' }, { type: 'image' }, { type: 'text' }]);
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain(
      '"media_type":"image/png","data":"iVBORw0KGgo="',
    );
  });

  it('are told which call it is, and B2: to stop', async () => {
    const started = Promise.withResolvers<{ signal: AbortSignal; toolUseId: string; cwd: string }>();
    const stopped = Promise.withResolvers<void>();
    const wait = tool('wait', 'Waits', {}, async (_, extra) => {
      const { signal } = extra as { signal: AbortSignal };
      started.resolve(extra as never);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      stopped.resolve();
      return say('late');
    });
    const cwd = scratch();
    const heddle = { provider: createScriptedModel([call('wait', {})]), store: createMemoryStore(), tools: [wait] };
    const handle = query({ prompt: 'go', options: { cwd, env: PATH_ENV, ...everything, heddle } });
    const messages: Message[] = [];
    const interrupted = started.promise.then(async (extra) => {
      expect(extra).toMatchObject({ toolUseId: 't1', cwd });
      await handle.interrupt();
      await stopped.promise;
    });
    for await (const message of handle) messages.push(message);
    await interrupted;
    expect(outline(messages).at(-1)).toMatch(/^result error_during_execution/);
    expect(toolResult(messages, 't1').id).toBe('t1');
  });
});

describe('what a tool promises to give', () => {
  const outputSchema = { total: z.number(), note: z.string().optional() };
  const promise = (result: CallToolResult) => tool('sum', 'Sums', {}, async () => result, { outputSchema });
  const plain = (structured?: unknown): Tool => ({
    ...price,
    name: 'sum',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    run: async () => ({ content: 'text', structured }),
  });
  const served = (result: CallToolResult): Options => ({
    mcpServers: { s: createSdkMcpServer({ name: 's', tools: [promise(result)] }) },
  });
  const good = { content: [], structuredContent: { total: 3 } };

  it('is given to the consumer when it is right', async () => {
    const { structured, text, isError } = await run([call('sum', {}), 'ok'], [promise(good)], everything);
    expect([isError, text, structured]).toEqual([false, '{"total":3}', { total: 3 }]);
    expect((await run([call('sum', {}), 'ok'], [plain({ total: 1 })], everything)).structured).toEqual({ total: 1 });
    const viaServer = await run([call('mcp__s__sum', {}), 'ok'], [], { ...everything, ...served(good) });
    expect(viaServer.structured).toEqual({ total: 3 });
  });

  it.each<[what: string, structuredContent: Record<string, unknown> | undefined, word: string]>([
    ['another type', { total: 'three' }, '`total`'],
    ['a field less', {}, '`total`'],
    ['nothing', undefined, 'no structured output'],
  ])('%s is an error result, from whichever kind of tool', async (_, structuredContent, word) => {
    const result = { ...say('text'), ...(structuredContent && { structuredContent }) };
    const outcomes = [
      await run([call('sum', {}), 'ok'], [promise(result)], everything),
      await run([call('sum', {}), 'ok'], [plain(structuredContent)], everything),
      await run([call('mcp__s__sum', {}), 'ok'], [], { ...everything, ...served(result) }),
    ];
    for (const { isError, text } of outcomes) {
      expect(isError).toBe(true);
      expect(text).toContain('does not match the output schema');
      expect(text).toContain(word);
    }
  });

  it('is not asked of a call that failed', async () => {
    const failed = { ...say('No thread left'), isError: true };
    expect(await run([call('sum', {}), 'ok'], [promise(failed)], everything)).toMatchObject({
      isError: true,
      text: 'No thread left',
    });
  });

  it('is announced by a server', async () => {
    const { instance } = createSdkMcpServer({ name: 's', tools: [promise(good), add] });
    const answered = Promise.withResolvers<unknown>();
    const transport = {
      start: async () => {},
      close: async () => {},
      send: async (message: never) => answered.resolve(message),
      onmessage: (_: never) => {},
    };
    await instance.connect(transport);
    transport.onmessage({ jsonrpc: '2.0', id: 1, method: 'tools/list' } as never);
    const answer = await answered.promise;
    expect(answer).toMatchObject({
      result: { tools: [{ outputSchema: { type: 'object', required: ['total'] } }, { name: 'add' }] },
    });
    expect(JSON.stringify(answer).match(/outputSchema/g)).toHaveLength(1);
  });
});

describe('H1: tools that cannot be are refused at the start', () => {
  const start = (heddle: HeddleOptions) => {
    const provider = heddle.carrier === undefined && { provider: createScriptedModel([]) };
    const options = { cwd: scratch(), env: PATH_ENV, heddle: { ...provider, ...heddle } };
    return collect(query({ prompt: 'x', options }));
  };

  it.each<[what: string, heddle: HeddleOptions, words: string]>([
    ['with the name of a built-in tool', { tools: [{ ...price, name: 'Read' }] }, 'Read belongs to a built-in tool'],
    ['two of one name', { tools: [price, { ...add, name: 'price' }] }, 'two tools named price'],
    ['with a name the API refuses', { tools: [{ ...add, name: 'no good' }] }, 'a name is 1 to 128 letters'],
    ['without a handler', { tools: [{ ...add, handler: 1 as never }] }, 'add has no handler'],
    ['no list', { tools: {} as never }, 'heddle.tools must be a list'],
    ['nothing', { tools: [null as never] }, 'A tool is named nothing'],
    [
      'in a subprocess',
      { carrier: 'subprocess', tools: [add] },
      'heddle.tools works only with an engine in this process',
    ],
  ])('%s', async (_, heddle, words) => {
    await expect(start(heddle)).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(words),
    });
  });
});
