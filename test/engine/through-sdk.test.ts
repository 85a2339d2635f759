import { getEventListeners } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { Frame, JsonRpcMessage, Message } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { configDirOf } from '../../src/sdk/ambient.js';
import { createLogger } from '../../src/sdk/diagnostics.js';
import { createHookBridge } from '../../src/sdk/hook-bridge.js';
import {
  type CanUseToolOptions,
  createSdkMcpServer,
  type Options,
  query,
  startup,
  tool,
  type Transport,
} from '../../src/sdk/index.js';
import { McpBridge } from '../../src/sdk/mcp-bridge.js';
import { SdkMcpServer } from '../../src/sdk/mcp-server.js';
import { toSessionConfig } from '../../src/sdk/options.js';
import type { McpServerInstance, McpTransport } from '../../src/sdk/tool-definition.js';
import { toJsonSchema } from '../../src/sdk/tool-schema.js';
import { collect, lastResult } from '../../src/testing/index.js';
import { acceptWebSockets } from '../../src/wire/index.js';
import { outline, PATH_ENV, scratch, stillClock, user } from './kit.js';

function scripted(script: readonly ScriptStep[], options: Options = {}): Options {
  const heddle = { provider: createScriptedModel(script), store: createMemoryStore(), ...options.heddle };
  return { cwd: scratch(), env: PATH_ENV, ...options, heddle };
}

const signal = () => new AbortController().signal;
const ambient = { cwd: '/somewhere', env: { PATH: '/bin' } };

describe('the permission callback', () => {
  it('is told why it is asked, about which place, and what would end the asking', async () => {
    const asked: CanUseToolOptions[] = [];
    const outside = join(scratch(), 'made');
    const write = { toolUse: { name: 'Write', input: { file_path: outside, content: 'x' }, id: 't1' } };
    const canUseTool: Options['canUseTool'] = async (_, _input, options) => {
      asked.push(options);
      return { behavior: 'deny', message: 'no' };
    };
    await collect(query({ prompt: 'go', options: scripted([write, 'ok'], { canUseTool }) }));
    expect(asked).toMatchObject([
      {
        toolUseID: 't1',
        blockedPath: outside,
        decisionReason: 'Path to write is outside allowed working directories',
        suggestions: expect.arrayContaining([expect.objectContaining({ type: 'addDirectories' })]),
      },
    ]);
    expect(asked[0]?.signal).toBeInstanceOf(AbortSignal);
  });
});

describe('hook callbacks', () => {
  const hooks = ['a', 'b', 'c'].map((name) => async () => ({ systemMessage: name }));
  const [a, b, c] = hooks as [(typeof hooks)[number], (typeof hooks)[number], (typeof hooks)[number]];
  const bridge = createHookBridge({
    PreToolUse: [{ matcher: 'Bash', hooks: [a, b], timeout: 5 }, { hooks: [c] }],
    Stop: [],
  });

  it('are known to the engine by id, with their matcher and time', () => {
    expect(bridge.config).toEqual({
      PreToolUse: [
        { hookCallbackIds: ['hook_0', 'hook_1'], matcher: 'Bash', timeout: 5 },
        { hookCallbackIds: ['hook_2'] },
      ],
    });
    expect(createHookBridge({ Stop: [] }).config).toBeUndefined();
  });

  it('are called by id; an unknown one is an error, never a silent yes', async () => {
    const called = { subtype: 'hook_callback', input: {} as never };
    expect(await bridge.answer({ ...called, callback_id: 'hook_1' }, signal())).toEqual({ systemMessage: 'b' });
    expect(() => bridge.answer({ ...called, callback_id: 'hook_9' }, signal())).toThrow('no hook callback hook_9');
  });
});

/** A server as the public packages make them: it answers through its transport, and can be connected once at a time. */
function foreign(options: { failsFirst?: boolean; isSilent?: boolean } = {}) {
  const log: string[] = [];
  const instance: McpServerInstance = {
    async connect(transport: McpTransport) {
      log.push('connect');
      if (options.failsFirst && log.length === 1) throw new Error('not yet');
      transport.onclose = () => log.push('closed');
      transport.onmessage = (message: JsonRpcMessage) => {
        log.push(message.method ?? '');
        if (message.id === undefined || options.isSilent) return;
        void transport.send({ jsonrpc: '2.0', id: message.id, result: { from: log.length } } as never);
      };
      await transport.start();
    },
  };
  return { instance, log };
}

describe('MCP servers beside the caller', () => {
  const ask = (bridge: McpBridge, name: string, message: Partial<JsonRpcMessage> = {}, at = signal()) =>
    bridge.answer({ server_name: name, message: { jsonrpc: '2.0', id: 1, method: 'ping', ...message } }, at);

  it('are connected once, and again only when another takes the name; who is replaced is told', async () => {
    const [one, two] = [foreign(), foreign()];
    const bridge = new McpBridge({ s: one.instance });
    await ask(bridge, 's');
    bridge.replace({ s: one.instance, t: two.instance });
    await ask(bridge, 's');
    expect(one.log).toEqual(['connect', 'ping', 'ping']);
    bridge.replace({ s: two.instance });
    await ask(bridge, 's');
    expect(one.log).toEqual(['connect', 'ping', 'ping', 'closed']);
    expect(two.log).toEqual(['connect', 'ping']);
    expect(bridge.names).toEqual(['s']);
    await expect(ask(bridge, 't')).rejects.toThrow('SDK MCP server not found: t');
  });

  it('one that could not be connected is tried again', async () => {
    const { instance, log } = foreign({ failsFirst: true });
    const bridge = new McpBridge({ s: instance });
    await expect(ask(bridge, 's')).rejects.toThrow('not yet');
    await ask(bridge, 's');
    expect(log).toEqual(['connect', 'connect', 'ping']);
  });

  it('a call that is cancelled does not wait for an answer; a notification never does', async () => {
    const { instance, log } = foreign({ isSilent: true });
    const bridge = new McpBridge({ s: instance });
    const { id: _, ...notification } = { id: 0, jsonrpc: '2.0' as const, method: 'notifications/initialized' };
    expect(await bridge.answer({ server_name: 's', message: notification }, signal())).toMatchObject({
      mcp_response: { result: {} },
    });
    const abort = new AbortController();
    const pending = ask(bridge, 's', {}, abort.signal);
    while (!log.includes('ping')) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await expect(pending).rejects.toMatchObject({ code: 'aborted' });
  });

  it('B1: are told when the query is over', async () => {
    const { instance, log } = foreign();
    const mcpServers = { s: { type: 'sdk' as const, name: 's', instance } };
    await collect(query({ prompt: 'go', options: scripted(['ok'], { mcpServers }) }));
    expect(log[0]).toBe('connect');
    expect(log.at(-1)).toBe('closed');
  });

  it('answer what they do not know with an error, and notifications not at all', async () => {
    const server = createSdkMcpServer({
      name: 'n',
      tools: [
        tool('look', 'Looks', { a: z.string() }, async () => ({ content: [] }), {
          annotations: { readOnlyHint: true },
        }),
      ],
    }).instance as SdkMcpServer;
    const send = (method: string, params?: object) =>
      server.handle({ jsonrpc: '2.0', id: 7, method, ...(params && { params }) });
    expect(await send('tools/call', { name: 'nope' })).toMatchObject({ id: 7, error: { code: -32602 } });
    expect(await send('resources/list')).toMatchObject({ error: { code: -32601 } });
    expect(await send('ping')).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    expect(await send('initialize', { protocolVersion: '2024-11-05' })).toMatchObject({
      result: { protocolVersion: '2024-11-05', serverInfo: { name: 'n', version: '1.0.0' } },
    });
    expect(await send('tools/list')).toMatchObject({ result: { tools: [{ annotations: { readOnlyHint: true } }] } });
    expect(await server.handle({ jsonrpc: '2.0', method: 'tools/list' })).toBeUndefined();
  });
});

describe('inputs of tools as JSON Schema', () => {
  const shapeOf = (zod: typeof z | typeof z3) => {
    const own = zod as typeof z;
    return {
      text: own.string().describe('A text'),
      count: own.number().int(),
      kind: own.enum(['a', 'b']),
      list: own.array(own.boolean()),
      inner: own.object({ must: own.string(), may: own.number().optional() }),
      none: own.string().nullable(),
      may: own.string().optional(),
      some: own.number().default(3),
    };
  };

  it.each([
    ['zod 4', shapeOf(z), { type: ['string', 'null'] }],
    ['zod 3', shapeOf(z3), { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  ])('%s', async (_, shape, none) => {
    const schema = await toJsonSchema(shape);
    expect(schema).toMatchObject({
      type: 'object',
      properties: {
        text: { type: 'string', description: 'A text' },
        count: { type: 'integer' },
        kind: { type: 'string', enum: ['a', 'b'] },
        list: { type: 'array', items: { type: 'boolean' } },
        inner: { type: 'object', properties: { must: { type: 'string' } }, required: ['must'] },
        none,
        may: { type: 'string' },
        some: { type: 'number' },
      },
      required: ['text', 'count', 'kind', 'list', 'inner', 'none'],
    });
  });
});

describe('the end of a query', () => {
  it('an error in the middle of a session is told, not thrown', async () => {
    const options = scripted([{ text: 'x', stopReason: 'model_context_window_exceeded' }]);
    const messages = await collect(query({ prompt: 'go', options }));
    expect(lastResult(messages)).toMatchObject({ is_error: true, error_code: 'model_prompt_too_long' });
  });

  it('B1: leaves no listener on the signal of the caller', async () => {
    const abortController = new AbortController();
    await collect(query({ prompt: 'go', options: scripted(['ok'], { abortController }) }));
    expect(getEventListeners(abortController.signal, 'abort')).toEqual([]);
  });

  it('a signal that was aborted before is heard', async () => {
    const abortController = new AbortController();
    abortController.abort();
    const options = scripted(['never'], { abortController });
    await expect(collect(query({ prompt: 'go', options }))).rejects.toMatchObject({ name: 'AbortError' });
  });

  /** A program in place of the engine: it answers `initialize`, says this, and exits with 1. */
  function program(says: object[]): Options {
    const cwd = scratch();
    const path = join(cwd, 'engine.mjs');
    const text = `
      import { createInterface } from 'node:readline';
      const say = (frame) => process.stdout.write(JSON.stringify(frame) + '\\n');
      for await (const line of createInterface({ input: process.stdin })) {
        const { type, request_id } = JSON.parse(line);
        if (type === 'control_request') say({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } });
        if (type === 'user') { for (const frame of ${JSON.stringify(says)}) say(frame); break; }
      }
      process.exitCode = 1;
      process.stdin.destroy();
    `;
    writeFileSync(path, text);
    return { cwd, env: PATH_ENV, pathToClaudeCodeExecutable: path };
  }

  it('a process that exits with an error after it has told its result says nothing new', async () => {
    const messages = await collect(query({ prompt: 'go', options: scripted([{ stopReason: 'refusal' }]) }));
    const result = lastResult(messages);
    expect(result).toMatchObject({ is_error: true });
    const told = await collect(query({ prompt: 'go', options: program([result]) }));
    expect(outline(told)).toEqual(outline([result]));
  });

  it('H1: one that exits with an error and no result is thrown', async () => {
    await expect(collect(query({ prompt: 'go', options: program([]) }))).rejects.toMatchObject({
      code: 'process_failed',
    });
  });
});

/** A transport to nowhere: what is written is kept, what is pushed arrives. */
function transportTo() {
  const written: Frame[] = [];
  const arriving: Frame[] = [];
  let wake = () => {};
  let isClosed = false;
  const end = () => {
    isClosed = true;
    wake();
  };
  const transport: Transport = {
    write: (line) => {
      written.push(JSON.parse(line) as Frame);
      wake();
    },
    close: end,
    isReady: () => true,
    async *readMessages() {
      for (;;) {
        yield* arriving.splice(0);
        if (isClosed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    endInput: end,
  };
  const push = (...frames: Frame[]) => {
    arriving.push(...frames);
    wake();
  };
  return { transport, written, push, isClosed: () => isClosed };
}

describe('engines elsewhere', () => {
  it('B4: startup() does not wait for ever, and closes what did not answer', async () => {
    const clock = stillClock();
    const { transport, isClosed } = transportTo();
    const options: Options = { cwd: scratch(), env: PATH_ENV, heddle: { carrier: { transport }, clock } };
    const warm = startup({ options, initializeTimeoutMs: 5_000 });
    const failure = warm.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    await clock.armed();
    clock.advance(5_000);
    expect(await failure).toMatchObject({ code: 'channel_closed', message: expect.stringContaining('5000 ms') });
    while (!isClosed()) await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pending).toEqual([]);
  });

  it('one that refuses initialize runs nothing: it knows no hooks', async () => {
    const { transport, written, push, isClosed } = transportTo();
    const options: Options = { cwd: scratch(), env: PATH_ENV, heddle: { carrier: { transport } } };
    const run = collect(query({ prompt: 'go', options }));
    run.catch(() => {});
    while (written.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const { request_id } = written[0] as unknown as { request_id: string };
    const response = { subtype: 'error', request_id, error: 'hooks: no', error_code: 'invalid_frame' };
    push({ type: 'control_response', response });
    await expect(run).rejects.toMatchObject({ code: 'invalid_frame', message: 'hooks: no' });
    expect(isClosed()).toBe(true);
  });

  it('what an engine says about the environment is not for the consumer', async () => {
    const { transport, push } = transportTo();
    const options: Options = { cwd: scratch(), env: PATH_ENV, heddle: { carrier: { transport } } };
    const [result] = (await collect(query({ prompt: 'x', options: scripted(['ok']) }))).slice(-1) as [Message];
    push({ type: 'update_environment_variables', variables: { A: 'b' } }, result);
    expect((await collect(query({ prompt: 'go', options }))).map(({ type }) => type)).toEqual(['result']);
  });

  it('E4: a server is told the options, and nothing of the environment and the folders here', async () => {
    const frame = Promise.withResolvers<Frame>();
    const acceptor = await acceptWebSockets({
      clock: systemClock,
      onStream: (channel) => channel.receive({ frame: frame.resolve, end() {}, closed() {} }),
    });
    const http = createServer().on('upgrade', (request, socket, head) => acceptor.accept(request, socket, head));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const cwd = scratch();
    const options: Options = {
      cwd,
      env: { ...PATH_ENV, SECRET_X: 'planted', HEDDLE_CONFIG_DIR: join(cwd, 'config') },
      model: 'haiku',
      maxTurns: 3,
      heddle: { carrier: { url } },
    };
    const run = query({ prompt: 'go', options });
    try {
      const { request } = (await frame.promise) as unknown as { request: { subtype: string; config: object } };
      expect(request).toMatchObject({ subtype: 'initialize', config: { model: 'haiku', maxTurns: 3 } });
      expect(JSON.stringify(request)).not.toMatch(/planted|heddle-test-|SECRET_X|envIsExact/);
    } finally {
      run.close();
      await acceptor.close();
      http.close();
    }
  });

  it('a program is told who calls it, unless the caller says otherwise', async () => {
    const spawned: Record<string, string | undefined>[] = [];
    const options = (env: Record<string, string | undefined>): Options => ({
      cwd: scratch(),
      env: { ...PATH_ENV, ...env },
      spawnClaudeCodeProcess: (asked) => {
        spawned.push(asked.env);
        throw new Error('seen enough');
      },
    });
    for (const env of [{}, { CLAUDE_CODE_ENTRYPOINT: 'mine', CLAUDE_AGENT_SDK_VERSION: '0.1' }]) {
      await expect(collect(query({ prompt: 'go', options: options(env) }))).rejects.toThrow('seen enough');
    }
    expect(spawned.map((env) => env.CLAUDE_CODE_ENTRYPOINT)).toEqual(['sdk-ts', 'mine']);
    for (const env of spawned) expect(env.CLAUDE_AGENT_SDK_VERSION).toMatch(/^0\.3\./);
  });
});

describe('what the SDK takes from its surroundings', () => {
  it('E4: an environment that the caller gives is exact, less what is undefined', () => {
    const given = toSessionConfig({ env: { A: 'a', B: undefined } }, ambient);
    expect(given).toMatchObject({ env: { A: 'a' }, envIsExact: true });
    expect(given.env).not.toHaveProperty('B');
    expect(toSessionConfig({}, ambient)).toMatchObject({ env: { PATH: '/bin' }, envIsExact: false });
  });

  it.each([
    [{ HEDDLE_CONFIG_DIR: '/h', CLAUDE_CONFIG_DIR: '/c', CLAUDE: '/l', HOME: '/h0' }, '/h'],
    [{ CLAUDE_CONFIG_DIR: '/c', CLAUDE: '/l', HOME: '/h0' }, '/c'],
    [{ HEDDLE_CONFIG_DIR: '', CLAUDE: '/l', HOME: '/h0' }, '/l'],
    [{ HOME: '/h0' }, '/h0/.claude'],
  ])('the folder of sessions: %j', (env, folder) => {
    expect(configDirOf(env as Record<string, string>)).toBe(folder);
  });

  it('diagnostics: to the logger of the caller alone, or to stderr and a file, details only when asked for', () => {
    const debugFile = join(scratch(), 'debug.log');
    const lines: string[] = [];
    const stderr = (line: string) => void lines.push(line);
    const config = toSessionConfig({}, ambient);
    const quiet = createLogger({ stderr, debugFile }, config);
    quiet('debug', 'detail');
    quiet('warn', 'careful', { n: 1 });
    expect(lines).toEqual(['heddle: warn: careful {"n":1}\n']);
    expect(readFileSync(debugFile, 'utf8')).toBe('heddle: debug: detail\nheddle: warn: careful {"n":1}\n');
    createLogger({ stderr, debug: true }, config)('debug', 'shown');
    expect(lines.at(-1)).toBe('heddle: debug: shown\n');
    const own: string[] = [];
    createLogger({ stderr, heddle: { logger: (_, text) => own.push(text) } }, config)('error', 'mine');
    expect(own).toEqual(['mine']);
    expect(lines).toHaveLength(2);
  });

  it('messages of an iterable prompt go out in order, each with its result', async () => {
    const prompts = (async function* () {
      for (const text of ['1', '2', '3']) yield user(text);
    })();
    const messages = await collect(query({ prompt: prompts, options: scripted(['one', 'two', 'three']) }));
    const results = messages.flatMap((one) => (one.type === 'result' && one.subtype === 'success' ? [one.result] : []));
    expect(results).toEqual(['one', 'two', 'three']);
  });
});
