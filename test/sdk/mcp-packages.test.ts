/** Servers of this process, made with the public MCP packages and with ours. */
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createEngine, createMemoryStore, serveHost } from '../../src/engine/index.js';
import type { Message } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createSdkMcpServer, type ElicitationRequest, type Options, query, tool } from '../../src/sdk/index.js';
import type { McpServerInstance } from '../../src/sdk/tool-definition.js';
import { createScriptedModel, toolResult } from '../../src/testing/index.js';
import { createMemoryPair, Peer } from '../../src/wire/index.js';
import { PATH_ENV, scratch, stillClock } from '../engine/kit.js';
import { call, lastSaid, talk } from '../mcp/session/kit.js';

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
const FORM = { type: 'object' as const, properties: { name: { type: 'string' as const } } };

interface Handles {
  instance: McpServerInstance;
  grow(): void;
  /** Lets the slow call go on. */
  release(): void;
  /** The call that hangs has begun. */
  begun: Promise<void>;
  stopped: Promise<void>;
}

/** The same server in three ways. */
const MAKERS: [string, () => Handles][] = [
  [
    'version 1',
    () => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      const server = new McpServerV1({ name: 'lib', version: '1.0.0' }, { capabilities: { logging: {} } });
      server.registerTool(
        'add',
        { description: 'Adds', inputSchema: { a: z.number(), b: z.number() } },
        async (input) => said(String(input.a + input.b)),
      );
      server.registerTool('slow', { description: 'Slow', inputSchema: {} }, async (_, extra) => {
        const progressToken = extra._meta?.progressToken ?? '';
        const params = { progressToken, progress: 1, total: 2 };
        await extra.sendNotification({ method: 'notifications/progress', params });
        await gate.promise;
        return said('at last');
      });
      server.registerTool('hang', { description: 'Hangs', inputSchema: {} }, (_, { signal }) => {
        signal.addEventListener('abort', () => stopped.resolve());
        begun.resolve();
        return new Promise<never>(() => {});
      });
      server.registerTool('form', { description: 'Asks', inputSchema: {} }, async () =>
        said(JSON.stringify(await server.server.elicitInput({ message: 'Who?', requestedSchema: FORM }))),
      );
      server.registerTool('page', { description: 'Sends', inputSchema: {} }, async () => {
        const asked = { mode: 'url' as const, message: 'Log in', url: 'https://login.example/', elicitationId: 'e' };
        return said(JSON.stringify(await server.server.elicitInput(asked)));
      });
      server.registerTool('roots', { description: 'Roots', inputSchema: {} }, async () =>
        said(JSON.stringify(await server.server.listRoots())),
      );
      const grow = () => void server.registerTool('grown', { description: 'New', inputSchema: {} }, () => said('new'));
      const marks = { begun: begun.promise, stopped: stopped.promise };
      return { instance: server, grow, release: gate.resolve, ...marks };
    },
  ],
  [
    'version 2',
    () => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      const server = new McpServerV2({ name: 'lib', version: '2.0.0' });
      const none = z.object({});
      const numbers = z.object({ a: z.number(), b: z.number() });
      server.registerTool('add', { description: 'Adds', inputSchema: numbers }, async ({ a, b }) =>
        said(String(a + b)),
      );
      server.registerTool('slow', { description: 'Slow', inputSchema: none }, async (_, { mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken ?? '';
        const params = { progressToken, progress: 1, total: 2 };
        await mcpReq.notify({ method: 'notifications/progress', params });
        await gate.promise;
        return said('at last');
      });
      server.registerTool('hang', { description: 'Hangs', inputSchema: none }, (_, { mcpReq: { signal } }) => {
        signal.addEventListener('abort', () => stopped.resolve());
        begun.resolve();
        return new Promise<never>(() => {});
      });
      server.registerTool('form', { description: 'Asks', inputSchema: none }, async (_, { mcpReq }) =>
        said(JSON.stringify(await mcpReq.elicitInput({ message: 'Who?', requestedSchema: FORM }))),
      );
      server.registerTool('page', { description: 'Sends', inputSchema: none }, async (_, { mcpReq }) => {
        const asked = { mode: 'url' as const, message: 'Log in', url: 'https://login.example/', elicitationId: 'e' };
        return said(JSON.stringify(await mcpReq.elicitInput(asked)));
      });
      server.registerTool('roots', { description: 'Roots', inputSchema: none }, async () =>
        said(JSON.stringify(await server.server.listRoots())),
      );
      const grow = () =>
        void server.registerTool('grown', { description: 'New', inputSchema: none }, async () => said('new'));
      const marks = { begun: begun.promise, stopped: stopped.promise };
      return { instance: server, grow, release: gate.resolve, ...marks };
    },
  ],
  [
    'createSdkMcpServer',
    () => {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<void>();
      interface Extra {
        signal: AbortSignal;
        _meta: { progressToken: number };
        sendNotification(notification: object): Promise<void>;
        sendRequest(request: object): Promise<unknown>;
      }
      const define = (name: string, handler: (extra: Extra) => Promise<ReturnType<typeof said>>) =>
        tool(name, name, {}, (_, extra) => handler(extra as Extra));
      const elicit =
        (params: object) =>
        async ({ sendRequest }: Extra) =>
          said(JSON.stringify(await sendRequest({ method: 'elicitation/create', params })));
      const { instance } = createSdkMcpServer({
        name: 'lib',
        tools: [
          tool('add', 'Adds', { a: z.number(), b: z.number() }, async ({ a, b }) => said(String(a + b))),
          define('slow', async ({ sendNotification, _meta: { progressToken } }) => {
            await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
            await gate.promise;
            return said('at last');
          }),
          define('hang', ({ signal }) => {
            signal.addEventListener('abort', () => stopped.resolve());
            begun.resolve();
            return new Promise<never>(() => {});
          }),
          define('form', elicit({ message: 'Who?', requestedSchema: FORM })),
          define('page', elicit({ mode: 'url', message: 'Log in', url: 'https://login.example/', elicitationId: 'e' })),
          define('roots', async ({ sendRequest }) => said(JSON.stringify(await sendRequest({ method: 'roots/list' })))),
        ],
      });
      const marks = { begun: begun.promise, stopped: stopped.promise };
      return { instance, grow: () => {}, release: gate.resolve, ...marks };
    },
  ],
];

const options = (instance: McpServerInstance, more: Partial<Options> = {}): Options => ({
  mcpServers: { lib: { type: 'sdk', name: 'lib', instance } },
  allowedTools: ['mcp__lib'],
  ...more,
});

describe.each(MAKERS)('a server made with %s', (_, make) => {
  it('is connected before the first request; its tools answer, and its input is checked', async () => {
    const { instance } = make();
    const run = talk(
      [call('mcp__lib__add', { a: 2, b: 3 }, 't1'), call('mcp__lib__add', { a: 'x' }, 't2'), 'done'],
      options(instance, { heddle: { clock: stillClock() } }),
    );
    await run.say('Go');
    expect(run.messages[0]).toMatchObject({ mcp_servers: [{ name: 'lib', status: 'connected' }] });
    expect(run.model.requests[0]?.body.tools?.map(({ name }) => name)).toContain('mcp__lib__add');
    expect(run.told('t1')).toBe('5');
    expect(run.told('t2')).toMatch(/Invalid arguments|validation/i);
    await run.end();
  });

  it('G8: its progress is tool_progress, before the result', async () => {
    const { instance, release } = make();
    const run = talk([call('mcp__lib__slow'), 'done'], options(instance));
    const result = run.say('Go');
    expect(await run.seen(({ type }) => type === 'tool_progress')).toMatchObject({
      tool_use_id: 't1',
      tool_name: 'mcp__lib__slow',
    });
    release();
    await result;
    expect(run.told('t1')).toBe('at last');
  });

  it('G1: a call is cancelled with the turn, and the handler hears of it', async () => {
    const { instance, begun, stopped } = make();
    const run = talk([call('mcp__lib__hang'), call('mcp__lib__add', { a: 1, b: 1 }, 't2'), 'done'], options(instance));
    const result = run.say('Go');
    await begun;
    await run.query.interrupt();
    expect(await result).toMatchObject({ is_error: false });
    await stopped;
    await run.say('Again');
    expect(run.told('t2')).toBe('2');
  });

  it('asks the person from within a handler: forms, pages; and learns the folder', async () => {
    const { instance } = make();
    const asked: ElicitationRequest[] = [];
    const run = talk(
      [call('mcp__lib__form', {}, 't1'), call('mcp__lib__page', {}, 't2'), call('mcp__lib__roots', {}, 't3'), 'done'],
      options(instance, {
        onElicitation: async (request) => {
          asked.push(request);
          return request.mode === 'url' ? { action: 'decline' } : { action: 'accept', content: { name: 'Ada' } };
        },
      }),
    );
    await run.say('Go');
    expect(JSON.parse(run.told('t1'))).toEqual({ action: 'accept', content: { name: 'Ada' } });
    expect(run.told('t2')).toBe('{"action":"decline"}');
    expect(run.told('t3')).toContain(`file://${run.cwd}`);
    expect(asked).toMatchObject([
      { serverName: 'lib', mode: 'form', message: 'Who?', requestedSchema: FORM },
      { serverName: 'lib', mode: 'url', url: 'https://login.example/', elicitationId: 'e' },
    ]);
  });

  it('G1: a form that is open when the turn is interrupted is taken back', async () => {
    const { instance } = make();
    const begun = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    const run = talk(
      [call('mcp__lib__form'), 'done'],
      options(instance, {
        onElicitation: (_request, { signal }) => {
          signal.addEventListener('abort', () => taken.resolve());
          begun.resolve();
          return new Promise(() => {});
        },
      }),
    );
    const result = run.say('Go');
    await begun.promise;
    await run.query.interrupt();
    expect(await result).toMatchObject({ is_error: false });
    await taken.promise;
  });
});

describe.each(MAKERS.slice(0, 2))('tools that change: %s', (_, make) => {
  it('what the server registers later is offered at the next turn', async () => {
    const { instance, grow } = make();
    const run = talk(['one', call('mcp__lib__grown'), 'two'], options(instance, { heddle: { clock: stillClock() } }));
    await run.say('One');
    grow();
    const has = async () => (await run.status('lib'))?.tools?.some(({ name }) => name === 'grown') === true;
    while (!(await has())) await new Promise((resolve) => setImmediate(resolve));
    await run.say('Two');
    expect(run.model.requests[1]?.body.tools?.map(({ name }) => name)).toContain('mcp__lib__grown');
    expect(run.told('t1')).toBe('new');
  });

  it('one object serves one query at a time, and says so; a function that makes it serves any number', async () => {
    const { instance } = make();
    const first = talk(['one'], options(instance));
    await first.say('Go');
    const second = talk(['two'], options(instance));
    expect(await second.say('Go')).toMatchObject({ result: 'two' });
    expect(await second.status('lib')).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/MCP server lib/),
    });
    await first.end();
    const third = talk([call('mcp__lib__add', { a: 1, b: 1 }), 'three'], options(instance));
    await third.say('Go');
    expect(third.told('t1')).toBe('2');
    await third.end();
    const factory = () => make().instance;
    const runs = Array.from({ length: 5 }, (_none, index) =>
      talk([call('mcp__lib__add', { a: index, b: 1 }), 'ok'], {
        mcpServers: { lib: { type: 'sdk', name: 'lib', instance: factory } },
        allowedTools: ['mcp__lib'],
      }),
    );
    await Promise.all(runs.map((run) => run.say('Go')));
    expect(runs.map((run) => run.told('t1'))).toEqual(['1', '2', '3', '4', '5']);
  });
});

describe('one server of ours', () => {
  it('serves fifty queries at once, each with its own progress and its own questions', async () => {
    interface Extra {
      _meta: { progressToken: number };
      sendNotification(notification: object): Promise<void>;
      sendRequest(request: object): Promise<{ content?: { name?: string } }>;
    }
    const server = createSdkMcpServer({
      name: 'lib',
      tools: [
        tool('ask', 'Asks', { index: z.number() }, async ({ index }, given) => {
          const { sendNotification, sendRequest, _meta } = given as Extra;
          const { progressToken } = _meta;
          await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
          const params = { message: `${index}`, requestedSchema: FORM };
          const { content } = await sendRequest({ method: 'elicitation/create', params });
          return said(`${index} ${content?.name}`);
        }),
      ],
    });
    const runs = Array.from({ length: 50 }, (_, index) =>
      talk([call('mcp__lib__ask', { index }), 'ok'], {
        mcpServers: { lib: server },
        allowedTools: ['mcp__lib'],
        onElicitation: async ({ message }) => ({ action: 'accept', content: { name: `of ${index} for ${message}` } }),
      }),
    );
    await Promise.all(runs.map((run) => run.say('Go')));
    runs.forEach((run, index) => {
      expect(run.told('t1')).toBe(`${index} of ${index} for ${index}`);
      expect(run.messages.filter(({ type }) => type === 'tool_progress')).toHaveLength(1);
    });
    await Promise.all(runs.map((run) => run.end()));
  });
});

describe('a host that is gone', () => {
  it('while a call of its server runs: the call ends as an error, nobody waits, and the session can be gone on with', async () => {
    const store = createMemoryStore();
    const sessionId = 'a2f0c7de-1111-4222-8333-944445555777';
    const engine = createEngine({
      clock: systemClock,
      store,
      provider: createScriptedModel([call('mcp__far__x'), 'ok']),
    });
    const [near, far] = createMemoryPair();
    const cwd = scratch();
    const config = { cwd, env: PATH_ENV, configDir: `${cwd}/.config`, sessionId, allowedTools: ['mcp__far'] };
    const served = serveHost({ engine, channel: far, config });
    const called = Promise.withResolvers<void>();
    const host = new Peer(near, { side: 'host', clock: systemClock, onMessage: () => {} });
    host.handle('mcp_message', ({ message: { id = null, method } }) => {
      if (method === 'tools/call') {
        called.resolve();
        return new Promise(() => {});
      }
      const tools = [{ name: 'x', inputSchema: { type: 'object' } }];
      const result = method === 'initialize' ? { capabilities: { tools: {} } } : { tools };
      return { mcp_response: { jsonrpc: '2.0', id, result } };
    });
    await host.request('initialize', { sdkMcpServers: ['far'] });
    host.send({ type: 'user', message: { role: 'user', content: 'Go' }, parent_tool_use_id: null, session_id: '' });
    await called.promise;
    host.close();
    await served;
    const lines = (await store.load(sessionId))?.lines ?? [];
    const results = lines.filter((line) => line.includes('"tool_result"'));
    expect(results).toEqual([expect.stringContaining('"is_error":true')]);
    // It can be gone on with, without the server.
    const again = createScriptedModel(['here']);
    const messages: Message[] = [];
    const resumed = { cwd, env: PATH_ENV, resume: sessionId, heddle: { provider: again, store } };
    for await (const message of query({ prompt: 'Still there?', options: resumed })) messages.push(message);
    expect(messages.at(-1)).toMatchObject({ type: 'result', result: 'here' });
  });

  it('a server that throws at a call is named with the phase, and the session goes on', async () => {
    const instance: McpServerInstance = {
      async connect(transport) {
        transport.onmessage = ({ id, method }: { id?: number; method: string }) => {
          if (method === 'tools/call') throw new Error('the loom is on fire');
          const tools = [{ name: 'x', inputSchema: { type: 'object' } }];
          const result = method === 'initialize' ? { capabilities: { tools: {} } } : { tools };
          if (id !== undefined) void transport.send({ jsonrpc: '2.0', id, result } as never);
        };
        await transport.start();
      },
    };
    const run = talk([call('mcp__lib__x'), 'still here'], options(instance));
    expect(await run.say('Go')).toMatchObject({ result: 'still here' });
    expect(toolResult(run.messages, 't1')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^MCP server lib failed in call of x: .*the loom is on fire/),
    });
    expect(lastSaid(run, 1)).toContain('the loom is on fire');
  });
});
