import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryStore } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { Message } from '../../src/protocol/index.js';
import { createSdkMcpServer, type Options, query, tool } from '../../src/sdk/index.js';
import type { McpTransport } from '../../src/sdk/tool-definition.js';
import { collect } from '../../src/testing/index.js';
import { outline, PATH_ENV, resultText, scratch, stillClock, user } from '../engine/kit.js';

const calc = () =>
  createSdkMcpServer({
    name: 'calc',
    version: '1.2.3',
    tools: [
      tool('add', 'Add two numbers', { a: z.number(), b: z.number().default(1) }, async ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      })),
      tool('fail', 'Fails', {}, async () => {
        throw new Error('tool boom');
      }),
      tool('img', 'Image', {}, async () => ({
        content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }],
      })),
    ],
  });

const call = (name: string, input: Record<string, unknown>, id: string) => ({ toolUse: { name, input, id } });

async function run(script: Parameters<typeof createScriptedModel>[0], options: Options) {
  const model = createScriptedModel(script);
  const messages: Message[] = [];
  const heddle = { provider: model, store: createMemoryStore() };
  for await (const message of query({ prompt: 'go', options: { cwd: scratch(), env: PATH_ENV, ...options, heddle } })) {
    messages.push(message);
  }
  return { messages, model };
}

describe('SDK MCP servers', () => {
  it('serve their tools end to end', async () => {
    const script = [
      call('mcp__calc__add', { a: 2, b: 3 }, 't1'),
      call('mcp__calc__fail', {}, 't2'),
      call('mcp__calc__add', { a: 'x' }, 't3'),
      call('mcp__calc__img', {}, 't4'),
      call('mcp__calc__add', { a: 2 }, 't5'),
      'done',
    ];
    const { messages, model } = await run(script, { mcpServers: { calc: calc() }, allowedTools: ['mcp__calc'] });
    expect(messages[0]).toMatchObject({ mcp_servers: [{ name: 'calc', status: 'connected' }] });
    expect(resultText(messages, 't1')).toBe('5');
    expect(resultText(messages, 't2')).toBe('tool boom');
    expect(resultText(messages, 't3')).toMatch(/MCP error -32602.*a: /);
    expect(resultText(messages, 't4')).toBe('[image]');
    expect(resultText(messages, 't5')).toBe('3');
    const offered = model.requests[0]?.body.tools?.find((one) => one.name === 'mcp__calc__add');
    expect(offered).toMatchObject({
      description: 'Add two numbers',
      input_schema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
    });
  });

  it('are asked about like any tool that changes something, and can be taken away', async () => {
    const asked: string[] = [];
    const canUseTool: Options['canUseTool'] = async (name) => {
      asked.push(name);
      return { behavior: 'deny', message: 'no' };
    };
    const { messages } = await run([call('mcp__calc__add', { a: 1 }, 't1'), 'ok'], {
      mcpServers: { calc: calc() },
      canUseTool,
    });
    expect(asked).toEqual(['mcp__calc__add']);
    expect(resultText(messages, 't1')).toBe('no');
    const { model } = await run(['ok'], { mcpServers: { calc: calc() }, disallowedTools: ['mcp__calc'], tools: [] });
    expect(model.requests[0]?.body.tools).toBeUndefined();
  });

  it('one server object serves fifty queries at once', async () => {
    const server = calc();
    const runs = Array.from({ length: 50 }, (_, index) =>
      run([call('mcp__calc__add', { a: index, b: 1000 }, 't1'), 'ok'], {
        mcpServers: { calc: server },
        allowedTools: ['mcp__calc'],
      }),
    );
    const all = await Promise.all(runs);
    all.forEach(({ messages }, index) => expect(resultText(messages, 't1')).toBe(String(index + 1000)));
  });

  it('can be changed, switched and looked at while the query runs', async () => {
    const more = Promise.withResolvers<void>();
    const prompts = (async function* () {
      yield user('1');
      await more.promise;
      yield user('2');
    })();
    const model = createScriptedModel(['one', 'two']);
    const options = { cwd: scratch(), env: PATH_ENV, heddle: { provider: model, store: createMemoryStore() } };
    const handle = query({ prompt: prompts, options });
    for await (const message of handle) {
      if (message.type !== 'result' || message.result_index !== 0) continue;
      const outcome = await handle.setMcpServers({ calc: calc(), far: { type: 'http', url: 'http://127.0.0.1:1/' } });
      expect(outcome).toMatchObject({
        added: ['calc', 'far'],
        removed: [],
        errors: { far: expect.stringContaining('MCP server far failed') },
      });
      expect(await handle.mcpServerStatus()).toMatchObject([
        { name: 'calc', status: 'connected', serverInfo: { version: '1.2.3' } },
        { name: 'far', status: 'failed', transport: 'http' },
      ]);
      await handle.toggleMcpServer('calc', false);
      expect(await handle.mcpServerStatus()).toMatchObject([{ status: 'disabled' }, { status: 'failed' }]);
      await handle.toggleMcpServer('calc', true);
      await handle.reconnectMcpServer('calc');
      await expect(handle.reconnectMcpServer('nope')).rejects.toThrow('Server not found: nope');
      await expect(handle.rewindFiles('x')).rejects.toMatchObject({ code: 'not_supported' });
      more.resolve();
    }
    expect(model.requests[1]?.body.tools?.map((one) => one.name)).toContain('mcp__calc__add');
  });

  it('a server made with other packages is spoken to through its transport', async () => {
    const foreign = {
      async connect(transport: McpTransport) {
        transport.onmessage = (message: { id?: number; method: string }) => {
          const result =
            message.method === 'tools/list'
              ? { tools: [{ name: 'hi', inputSchema: { type: 'object' } }] }
              : message.method === 'tools/call'
                ? { content: [{ type: 'text', text: 'from afar' }] }
                : { serverInfo: { name: 'foreign', version: '9' } };
          if (message.id !== undefined) setImmediate(() => void transport.send({ id: message.id, result } as never));
        };
        await transport.start();
      },
    };
    const { messages } = await run([call('mcp__f__hi', {}, 't1'), 'ok'], {
      mcpServers: { f: { type: 'sdk', name: 'f', instance: foreign } },
      allowedTools: ['mcp__f__hi'],
    });
    expect(resultText(messages, 't1')).toContain('from afar');
  });

  it.each<[string, object]>([
    ['no name', { name: '' }],
    ['no list of tools', { name: 's', tools: 5 }],
    ['a tool without a name', { name: 's', tools: [tool('', 'd', {}, async () => ({ content: [] }))] }],
    ['a tool without a handler', { name: 's', tools: [{ name: 'a', description: 'd', inputSchema: {} }] }],
    [
      'two tools of one name',
      { name: 's', tools: [1, 2].map(() => tool('a', 'd', {}, async () => ({ content: [] }))) },
    ],
  ])('H1: a server with %s is refused when it is made', (_, options) => {
    expect(() => createSdkMcpServer(options as never)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  });

  it('B4: a server that never answers is given up after a while, and the session goes on', async () => {
    const clock = stillClock();
    const silent = { connect: async () => {} };
    const model = createScriptedModel(['fine']);
    const heddle = { provider: model, store: createMemoryStore(), clock };
    const options: Options = {
      cwd: scratch(),
      env: PATH_ENV,
      mcpServers: { s: { type: 'sdk', name: 's', instance: silent } },
      heddle,
    };
    const running = collect(query({ prompt: 'go', options }));
    await clock.armed();
    clock.advance(30_000);
    expect((await running)[0]).toMatchObject({ mcp_servers: [{ name: 's', status: 'failed' }] });
  });

  it('a server that cannot be reached does not stop the session', async () => {
    const broken = { connect: () => Promise.reject(new Error('no such thing')) };
    const { messages } = await run(['still fine'], { mcpServers: { b: { type: 'sdk', name: 'b', instance: broken } } });
    expect(messages[0]).toMatchObject({ mcp_servers: [{ name: 'b', status: 'failed' }] });
    expect(outline(messages).at(-1)).toBe('result success turns=1');
  });
});
