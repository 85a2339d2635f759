import { existsSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createEngine, createMemoryStore } from '../../src/engine/index.js';
import type { Frame, Message, SessionConfig } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createServer, type ServerOptions } from '../../src/server/index.js';
import { createScriptedModel, type ScriptStep } from '../../src/testing/index.js';
import { connectWebSocket, Peer } from '../../src/wire/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';
import { startChaosProxy } from '../wire/chaos-proxy.js';
import { createCountingClock, until } from '../wire/websocket-kit.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

const TOKEN = 'correct-horse';

async function start(script: readonly ScriptStep[], options: Partial<ServerOptions> = {}) {
  const cwd = scratch();
  const config: SessionConfig = { cwd, env: PATH_ENV, configDir: cwd };
  const clock = options.clock ?? systemClock;
  const store = createMemoryStore();
  const model = createScriptedModel(script);
  const engine = createEngine({ clock, store, provider: model, ...(options.logger && { logger: options.logger }) });
  const given = options.configFor ? {} : { config: { ...config, ...options.config } };
  const server = await createServer({ engine, clock, token: TOKEN, ...options, ...given });
  cleanups.push(() => server.close());
  return { server, config, store, model };
}

/** A host that collects what it is told. */
function connect(url: string, token = TOKEN) {
  const messages: Message[] = [];
  const peer = new Peer(connectWebSocket({ url, token, clock: systemClock }), {
    side: 'host',
    clock: systemClock,
    onMessage: (message) => messages.push(message as Message),
  });
  cleanups.push(() => peer.close());
  const seen = async (type: string): Promise<Message> => {
    await until(() => messages.some((message) => message.type === type));
    return messages.find((message) => message.type === type) as Message;
  };
  const say = (text: string): void =>
    peer.send({ type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null, session_id: '' });
  return { peer, messages, seen, say };
}

const CALL: ScriptStep = { toolUse: { name: 'Bash', input: { command: 'touch made' }, id: 't' } };

describe('sessions over a server', () => {
  it('a client is told nothing of the settings of the server, and reads what Read may read', async () => {
    const { server, config } = await start([]);
    writeFileSync(join(config.cwd, 'a.txt'), 'text');
    const { peer } = connect(server.url);
    expect(await peer.request('read_file', { path: 'a.txt' })).toMatchObject({ contents: 'text' });
    await expect(peer.request('read_file', { path: '/etc/hostname' })).rejects.toThrow('would have to be asked');
    const refusal = { code: 'not_supported' };
    await expect(peer.request('get_settings', {})).rejects.toMatchObject(refusal);
    const allow = { settings: { permissions: { allow: ['Bash'] } } };
    await expect(peer.request('apply_flag_settings', allow)).rejects.toMatchObject(refusal);
  });

  it('a client is told of servers of the machine what they are called, how they are and what they can do, and no more', async () => {
    const fails = ['-e', 'console.error("a secret of the machine"); process.exit(1)', 'SECRET'];
    const mcpConfig = [JSON.stringify({ mcpServers: { own: { command: 'node', args: fails, env: { A: 'SECRET' } } } })];
    const logged: string[] = [];
    const { server } = await start([], {
      config: { mcpConfig, allowedTools: ['mcp__own'] } as unknown as SessionConfig,
      logger: (_, text) => void logged.push(text),
    });
    const { peer, messages, say, seen } = connect(server.url);
    await peer.request('initialize', {});
    const told: unknown[] = [await peer.request('mcp_status', {})];
    expect(told).toEqual([{ mcpServers: [{ name: 'own', status: 'pending' }] }]);
    const refused = (asked: Promise<unknown>) => asked.then(String, (error: unknown) => told.push(String(error)));
    await refused(peer.request('mcp_reconnect', { serverName: 'own' }));
    await refused(peer.request('mcp_read_resource', { server_name: 'own', uri: 'a:b' }));
    told.push(await peer.request('mcp_call', { server_name: 'own', tool_name: 'x' }));
    const error = 'The log of the machine that it belongs to says why.';
    expect(await peer.request('mcp_status', {})).toEqual({ mcpServers: [{ name: 'own', status: 'failed', error }] });
    say('/mcp');
    await seen('result');
    expect(JSON.stringify([told, messages])).not.toMatch(/secret|node/i);
    expect(told).toHaveLength(4);
    expect(logged.join()).toContain('a secret of the machine');
  });

  it('a client is not told the rules of the server by a command either', async () => {
    const allowedTools = ['Bash(secret:*)'];
    const { server } = await start([], { config: { allowedTools } as unknown as SessionConfig });
    const { peer, messages, say, seen } = connect(server.url);
    await peer.request('initialize', {});
    say('/permissions');
    await seen('result');
    expect(JSON.stringify(messages)).toContain('may not ask for /permissions');
    expect(JSON.stringify(messages)).not.toContain('secret');
  });

  it('answers a prompt, and ends when the client has ended', async () => {
    const { server } = await start(['Hello.']);
    const client = connect(server.url);
    await client.peer.request('initialize', {});
    client.say('Hi');
    expect(await client.seen('result')).toMatchObject({ subtype: 'success', result: 'Hello.' });
    client.peer.end();
    expect(await client.peer.closed).toBeUndefined();
    expect(client.messages.map(({ type }) => type)).toEqual(['system', 'assistant', 'result']);
  });

  it('a question survives a lost socket: it is put once, answered once, and the call runs (C1, I1)', async () => {
    const { server } = await start([CALL, 'Done.'], { config: { permissionPromptTool: 'stdio' } as SessionConfig });
    const proxy = await startChaosProxy({ target: server.url });
    cleanups.push(() => proxy.close());
    const client = connect(proxy.url);
    let asked = 0;
    client.peer.handle('can_use_tool', async () => {
      asked += 1;
      const again = proxy.nextSocket();
      proxy.cut();
      await again;
      return { behavior: 'allow' };
    });
    client.say('go');
    expect(await client.seen('result')).toMatchObject({ subtype: 'success', result: 'Done.', permission_denials: [] });
    expect(asked).toBe(1);
  });

  it('C3: a client that stays away is not waited for: its call does not run, and nothing is left', async () => {
    const clock = createCountingClock();
    const { server, config, store } = await start([CALL], {
      clock,
      graceMs: 30,
      config: { permissionPromptTool: 'stdio' } as SessionConfig,
    });
    const proxy = await startChaosProxy({ target: server.url });
    cleanups.push(() => proxy.close());
    const client = connect(proxy.url);
    client.peer.handle('can_use_tool', () => {
      proxy.refuse(true);
      proxy.cut();
      return new Promise(() => {});
    });
    client.say('go');
    const { session_id: id } = await client.seen('system');
    const log = async (): Promise<string> => ((await store.load(String(id)))?.lines ?? []).join('\n');
    while (!(await log()).includes('tool_result')) await new Promise((resolve) => setImmediate(resolve));
    expect(await log()).toMatch(/"is_error":true/);
    expect(existsSync(join(config.cwd, 'made'))).toBe(false);
    await until(() => clock.timers === 0);
  });

  /** A client with a server of its own, whose tool is called; `answer` says what becomes of the call. */
  async function callAcross(
    options: Partial<ServerOptions>,
    answer: (proxy: Awaited<ReturnType<typeof startChaosProxy>>) => Promise<unknown>,
  ) {
    const step: ScriptStep = { toolUse: { name: 'mcp__app__look', input: {}, id: 't' } };
    const config = { allowedTools: ['mcp__app'] } as unknown as SessionConfig;
    const { server, store } = await start([step, 'Done.', 'Still here.'], { ...options, config });
    const proxy = await startChaosProxy({ target: server.url });
    cleanups.push(() => proxy.close());
    const client = connect(proxy.url);
    let calls = 0;
    client.peer.handle('mcp_message', async ({ message }) => {
      const { id, method } = message;
      if (id === undefined) return undefined;
      const reply = (result: object) => ({ mcp_response: { jsonrpc: '2.0' as const, id, result } });
      if (method === 'initialize')
        return reply({ serverInfo: { name: 'app', version: '1' }, capabilities: { tools: {} } });
      if (method === 'tools/list') return reply({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] });
      calls += 1;
      return reply((await answer(proxy)) as object);
    });
    await client.peer.request('initialize', { sdkMcpServers: ['app'] });
    client.say('go');
    const { session_id: id } = await client.seen('system');
    const log = async (): Promise<string> => ((await store.load(String(id)))?.lines ?? []).join('\n');
    return { client, server, id: String(id), log, calls: () => calls };
  }

  it('a call to a server of the client survives a lost socket: it runs once, and its answer comes', async () => {
    const { client, calls } = await callAcross({}, async (proxy) => {
      const again = proxy.nextSocket();
      proxy.cut();
      await again;
      return { content: [{ type: 'text', text: 'seen' }] };
    });
    expect(await client.seen('result')).toMatchObject({ subtype: 'success', result: 'Done.' });
    expect(JSON.stringify(client.messages)).toContain('seen');
    expect(calls()).toBe(1);
  });

  it('G8: where the client stays away, the call is an error that names server and phase, and the session goes on when it is resumed', async () => {
    const { server, id, log } = await callAcross({ graceMs: 30 }, (proxy) => {
      proxy.refuse(true);
      proxy.cut();
      return new Promise(() => {});
    });
    while (!(await log()).includes('tool_result')) await new Promise((resolve) => setImmediate(resolve));
    const line = (await log()).split('\n').find((each) => each.includes('tool_result')) ?? '';
    expect(line).toContain('MCP server app failed in call of look');
    expect(line).toContain('"is_error":true');
    const later = connect(server.url);
    await later.peer.request('initialize', { config: { resume: id } });
    later.say('Are you there?');
    expect(await later.seen('result')).toMatchObject({ subtype: 'success', session_id: id });
  });

  it('a client may not have the machine start a program', async () => {
    const { server } = await start(['Hello.']);
    const client = connect(server.url);
    const { errors } = await client.peer.request('mcp_set_servers', {
      servers: { evil: { command: 'touch', args: ['x'] } },
    });
    expect(errors).toEqual({ evil: expect.stringContaining('servers of their own process') });
    expect((await client.peer.request('mcp_status', {})).mcpServers).toEqual([]);
    client.peer.end();
  });

  it('B1: close ends every session, tells its clients, and leaves no timer', async () => {
    const clock = createCountingClock();
    const { server } = await start([{ text: 'x', waitFor: new Promise<never>(() => {}) }], { clock });
    const client = connect(server.url);
    client.say('go');
    await client.seen('system');
    await server.close();
    expect(await client.peer.closed).toMatchObject({ code: 'channel_closed', message: 'The server was closed.' });
    expect(clock.timers).toBe(0);
    expect(await outcomeOf(server.url, {})).toBe('ECONNREFUSED');
  });

  it('two clients have a session each', async () => {
    const { server } = await start(['one', 'two']);
    const [first, second] = [connect(server.url), connect(server.url)];
    first.say('1');
    await first.seen('result');
    second.say('2');
    await second.seen('result');
    const ids = [first, second].map(({ messages }) => new Set(messages.map((message) => message.session_id)));
    expect(ids.map((set) => set.size)).toEqual([1, 1]);
    expect([...(ids[0] ?? [])]).not.toEqual([...(ids[1] ?? [])]);
  });
});

describe('the configuration of a session', () => {
  it('is decided by configFor from the request and the safe part of what the client asks', async () => {
    const seen: unknown[] = [];
    const cwd = scratch();
    const { server } = await start(['ok'], {
      configFor: (http: IncomingMessage, asked) => {
        seen.push(http.headers.authorization, asked);
        return { ...asked, cwd, env: PATH_ENV, configDir: cwd };
      },
    });
    const client = connect(server.url);
    const config = { model: 'haiku', permissionMode: 'bypassPermissions', maxTurns: 3, cwd: '/', env: { X: '1' } };
    await client.peer.request('initialize', { config });
    client.say('Hi');
    expect(await client.seen('system')).toMatchObject({ cwd, permissionMode: 'default' });
    await client.seen('result');
    expect(seen).toEqual([`Bearer ${TOKEN}`, { model: 'haiku', maxTurns: 3 }]);
  });

  it("what the server has set wins, and a client's environment is not taken (E4)", async () => {
    const command = 'echo "planted: [$PLANTED]"';
    const { server } = await start([{ toolUse: { name: 'Bash', input: { command }, id: 't' } }, 'ok'], {
      config: { permissionMode: 'acceptEdits', allowedTools: ['Bash'] } as unknown as SessionConfig,
    });
    const client = connect(server.url);
    client.peer.send({ type: 'update_environment_variables', variables: { PLANTED: 'by the client' } });
    await client.peer.request('initialize', { config: { permissionMode: 'plan' } });
    client.say('Hi');
    expect(await client.seen('system')).toMatchObject({ permissionMode: 'acceptEdits' });
    await client.seen('result');
    expect(JSON.stringify(client.messages)).toContain('planted: []');
  });

  const FIELDS = {
    systemPrompt: 'Of the client.',
    appendSystemPrompt: 'Added by the client.',
    agents: { own: { description: 'd', prompt: 'p' } },
    planModeInstructions: 'Plan as the client does.',
  };
  const systemOf = (body: { system?: unknown } | undefined): string[] =>
    (body?.system as { text: string }[] | undefined)?.map(({ text }) => text) ?? [];

  it.each(['none', 'suggested', 'any'] as const)(
    'what it has set also wins over the fields of initialize, with settingsWrites %s',
    async (settingsWrites) => {
      const agents = { kept: { description: 'd', prompt: 'p' } };
      const config = { settingsWrites, agents, systemPrompt: 'Of the server.', appendSystemPrompt: 'Its end.' };
      const { server, model } = await start(['ok'], { config: config as unknown as SessionConfig });
      const client = connect(server.url);
      await client.peer.request('initialize', FIELDS);
      // Nor does one that comes later.
      const told = await client.peer.request('initialize', FIELDS);
      const names = told.agents?.map(({ name }) => name);
      expect(names).toContain('kept');
      expect(names).not.toContain('own');
      client.say('Hi');
      await client.seen('result');
      expect(systemOf(model.requests[0]?.body)).toEqual(['Of the server.', 'Its end.']);
    },
  );

  it('where it has set nothing the fields of initialize count, except agents', async () => {
    const { server, model } = await start(['ok']);
    const client = connect(server.url);
    const told = await client.peer.request('initialize', FIELDS);
    expect(told.agents?.map(({ name }) => name)).not.toContain('own');
    client.say('Hi');
    await client.seen('result');
    expect(systemOf(model.requests[0]?.body)).toEqual(['Of the client.', 'Added by the client.']);
  });

  it('configFor is asked about the fields of initialize as about its config, and what it leaves out does not count', async () => {
    const seen: unknown[] = [];
    const cwd = scratch();
    const { server, model } = await start(['ok'], {
      configFor: (_, asked) => {
        seen.push(asked);
        return { cwd, env: PATH_ENV, configDir: cwd, systemPrompt: 'Of the server.' };
      },
    });
    const client = connect(server.url);
    await client.peer.request('initialize', { ...FIELDS, jsonSchema: { type: 'object' }, config: { model: 'haiku' } });
    client.say('Hi');
    await client.seen('result');
    const { agents: _, ...safe } = FIELDS;
    expect(seen).toEqual([{ ...safe, jsonSchema: { type: 'object' }, model: 'haiku' }]);
    expect(systemOf(model.requests[0]?.body)).toEqual(['Of the server.']);
  });

  it('H1: a configFor that fails closes the channel of that client with its words', async () => {
    const { server } = await start([], {
      configFor: () => {
        throw new Error('no such tenant');
      },
    });
    const client = connect(server.url);
    await expect(client.peer.request('initialize', {})).rejects.toMatchObject({
      message: expect.stringContaining('no such tenant'),
    });
  });

  it('needs one of config and configFor', async () => {
    const engine = createEngine({ clock: systemClock });
    await expect(createServer({ engine, clock: systemClock })).rejects.toMatchObject({ code: 'invalid_config' });
  });
});

/** What a request for a WebSocket gets: the status, with the text of a refusal, or the code of an error. */
function outcomeOf(url: string, headers: Record<string, string>, path = '/ws'): Promise<string> {
  const { hostname, port } = new URL(url);
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  return new Promise((resolve) => {
    const sent = request({ hostname, port, path, headers: { ...upgrade, ...headers }, agent: false });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(String(response.statusCode));
    });
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve(`${response.statusCode} ${text.trimEnd()}`));
    });
    sent.on('error', (error: Error & { code?: string }) => resolve(error.code ?? error.message));
    sent.end();
  });
}

describe('E6: who may connect', () => {
  const bearer = { authorization: `Bearer ${TOKEN}` };
  const no = {
    token: '401 The token is missing or wrong.',
    host: '403 This Host is not allowed.',
    origin: '403 This Origin is not allowed.',
    path: '404 There is nothing here but /ws.',
  };

  it.each<[string, Record<string, string>, string, string]>([
    ['the token as a header', bearer, '/ws', '101'],
    ['the token in the URL', {}, `/ws?token=${TOKEN}`, '101'],
    ['no token', {}, '/ws', no.token],
    ['a wrong token', { authorization: 'Bearer wrong' }, '/ws', no.token],
    ['the beginning of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, '/ws', no.token],
    ['the token under another scheme', { authorization: `Basic ${TOKEN}` }, '/ws', no.token],
    ['a wrong token in the URL', {}, '/ws?token=', no.token],
    ['another path', bearer, '/', no.path],
    ['a path below', bearer, '/ws/x', no.path],
    ['another path without a token', {}, '/admin', no.path],
    ['an allowed origin', { ...bearer, origin: 'https://app.example' }, '/ws', '101'],
    ['another origin', { ...bearer, origin: 'https://evil.example' }, '/ws', no.origin],
    ['no origin at all, as a sandboxed page has', { ...bearer, origin: 'null' }, '/ws', no.origin],
    ['an origin that only begins well', { ...bearer, origin: 'https://app.example.evil' }, '/ws', no.origin],
    ['localhost', { ...bearer, host: 'localhost:9' }, '/ws', '101'],
    ['an allowed host', { ...bearer, host: 'heddle.example' }, '/ws', '101'],
    ['a rebound name', { ...bearer, host: 'evil.example:80' }, '/ws', no.host],
    ['another address', { ...bearer, host: '10.0.0.1' }, '/ws', no.host],
    ['a host that only begins well', { ...bearer, host: '127.0.0.1.evil.example' }, '/ws', no.host],
    ['no upgrade', { ...bearer, upgrade: '', connection: 'close' }, '/ws', '426 This address takes WebSockets only.'],
  ])('%s', async (_, headers, path, expected) => {
    const { server } = await start([], {
      allowedOrigins: ['https://app.example'],
      allowedHosts: ['heddle.example'],
    });
    expect(await outcomeOf(server.url, headers, path)).toBe(expected);
  });

  it('a server on loopback without a token makes one, which is needed', async () => {
    const { server } = await start([], { token: undefined });
    expect(server.token.length).toBeGreaterThan(30);
    expect(server.url).not.toContain(server.token);
    expect(await outcomeOf(server.url, {})).toBe(no.token);
    expect(await outcomeOf(server.url, { authorization: `Bearer ${server.token}` })).toBe('101');
  });

  it.each([
    ['0.0.0.0', undefined],
    ['::', undefined],
    ['example.com', undefined],
    ['', undefined],
    ['127.0.0.1', ''],
    ['127.0.0.1', '  '],
  ])('a bind to %j with the token %j is refused', async (host, token) => {
    await expect(start([], { host, token })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('other addresses may be bound with a token, and are addressed by number', async () => {
    const { server } = await start([], { host: '0.0.0.0' });
    const url = server.url.replace('0.0.0.0', '127.0.0.1');
    expect(await outcomeOf(url, { ...bearer, host: '192.0.2.7' })).toBe('101');
    expect(await outcomeOf(url, { ...bearer, host: 'evil.example' })).toBe(no.host);
  });

  it('a client that is refused is told why', async () => {
    const { server } = await start([]);
    const client = connect(server.url, 'wrong');
    expect(await client.peer.closed).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('401: The token is missing or wrong.'),
    });
  });

  it('a port that is taken is a typed error', async () => {
    const { server } = await start([]);
    const port = Number(new URL(server.url).port);
    await expect(start([], { port })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(`Cannot listen on 127.0.0.1:${port}`),
    });
  });
});

describe('frames of other kinds', () => {
  it('a stream that ends before its first frame leaves nothing', async () => {
    const clock = createCountingClock();
    const { server } = await start([], { clock });
    const channel = connectWebSocket({ url: server.url, token: TOKEN, clock });
    channel.end();
    await new Promise<void>((resolve) => {
      channel.receive({ frame: (_: Frame) => {}, end: () => {}, closed: () => resolve() });
    });
    await until(() => clock.timers === 0);
  });
});
