import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createEngine, createMemoryStore, serveHost, systemClock } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { Channel, Message, SessionConfig } from '../../src/protocol/index.js';
import { createMemoryPair, createStdioChannel, Peer } from '../../src/wire/index.js';
import { PATH_ENV, scratch, stillClock, user } from './kit.js';

const never = new Promise<never>(() => {});

/** A host that speaks to an engine in this process. */
function connect(
  script: readonly ScriptStep[],
  options: { config?: Partial<SessionConfig>; wrap?: (far: Channel) => Channel } = {},
) {
  const [near, far] = createMemoryPair();
  const model = createScriptedModel(script);
  const engine = createEngine({ clock: systemClock, store: createMemoryStore(), provider: model });
  const cwd = scratch();
  const code = serveHost({
    engine,
    channel: options.wrap?.(far) ?? far,
    config: { cwd, env: PATH_ENV, configDir: cwd, ...options.config },
  });
  const peer: Peer<'host'> = new Peer(near, { side: 'host', clock: systemClock });
  const seen: Message[] = [];
  const until = async (fits: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const { value, done } = await peer.messages.next();
      if (done) throw new Error('the engine said nothing of the kind');
      seen.push(value);
      if (fits(value)) return value;
    }
  };
  return { peer, near, model, code, seen, until, result: () => until((message) => message.type === 'result') };
}

const hang = () => {
  const called = Promise.withResolvers<void>();
  const step: ScriptStep = () => {
    called.resolve();
    return { text: 'x', waitFor: never };
  };
  return { step, called: called.promise };
};

describe('what a host may ask of a session', () => {
  it('initialize tells what is in force: from the configuration, then from the session', async () => {
    const { step, called } = hang();
    const { peer, code } = connect([step], { config: { permissionMode: 'plan' } });
    expect(await peer.request('initialize', {})).toMatchObject({
      current_permission_mode: 'plan',
      session_state: 'idle',
      account: { tokenSource: 'none', apiKeySource: 'none' },
    });
    await peer.request('set_permission_mode', { mode: 'acceptEdits' });
    peer.send(user('go'));
    await called;
    expect(await peer.request('initialize', {})).toMatchObject({
      current_permission_mode: 'acceptEdits',
      session_state: 'running',
      account: { apiKeySource: 'none' },
    });
    peer.close();
    await code;
  });

  it('what a client that may write no settings says in initialize changes nothing; it brings servers and callbacks', async () => {
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] };
    const agents = {
      A: { description: 'd', prompt: 'p', hooks },
      B: { description: 'd', prompt: 'p', mcpServers: [{ s: { command: 'x' } }] },
      C: { description: 'd', prompt: 'p', mcpServers: [{ s: { type: 'http' as const, url: 'http://127.0.0.1:9/' } }] },
    };
    const asked = { systemPrompt: 'Be kind.', appendSystemPrompt: 'And brief.', agents, sdkMcpServers: ['near'] };
    const names = async (config: Partial<SessionConfig>) => {
      const { peer, code, model, result } = connect(['ok'], { config: { systemPrompt: 'Be strict.', ...config } });
      peer.handle('mcp_message', ({ message }) => ({
        mcp_response: { jsonrpc: '2.0' as const, id: message.id ?? 0, result: { tools: [] } },
      }));
      const told = await peer.request('initialize', asked);
      peer.send(user('go'));
      await result();
      const { mcpServers } = await peer.request('mcp_status', {});
      peer.close();
      await code;
      const system = model.requests[0]?.body.system as { text: string }[];
      return {
        agents: told.agents?.flatMap(({ name }) => (name in agents ? [name] : [])),
        system: system.map(({ text }) => text),
        servers: mcpServers.map(({ name }) => name),
      };
    };
    expect(await names({ settingsWrites: 'none' })).toEqual({ agents: [], system: ['Be strict.'], servers: ['near'] });
    expect(await names({})).toEqual({
      agents: ['A', 'B', 'C'],
      system: ['Be kind.', 'And brief.'],
      servers: ['near'],
    });
  });

  it('a server of the host that hangs holds up neither a later initialize nor the prompts after it', async () => {
    const { peer, result } = connect(['one', 'two']);
    peer.handle('mcp_message', () => never);
    peer.send(user('1'));
    await result();
    const answered = peer.request('initialize', { sdkMcpServers: ['deaf'] });
    peer.send(user('2'));
    expect(await result()).toMatchObject({ result: 'two' });
    await answered;
    expect(await peer.request('mcp_status', {})).toMatchObject({ mcpServers: [{ name: 'deaf', status: 'pending' }] });
    peer.close();
  });

  it('initialize brings the prompt of the host', async () => {
    const { peer, model, result } = connect(['ok']);
    await peer.request('initialize', { systemPrompt: 'Be kind.', appendSystemPrompt: 'And brief.' });
    peer.send(user('go'));
    await result();
    expect(model.requests[0]?.body.system).toMatchObject([{ text: 'Be kind.' }, { text: 'And brief.' }]);
    peer.close();
  });

  it('initialize brings MCP servers, also to a session that is open; what a manifest says is not asked', async () => {
    const { peer, model, result } = connect(['one', 'two', 'three']);
    const asked: unknown[] = [];
    peer.handle('mcp_message', ({ server_name, message }) => {
      asked.push(`${server_name} ${message.method}`);
      const tools = [{ name: 'look', inputSchema: { type: 'object' } }];
      return { mcp_response: { jsonrpc: '2.0' as const, id: message.id ?? 0, result: { tools } } };
    });
    const offered = () =>
      model.requests.at(-1)?.body.tools?.flatMap(({ name }) => (name.startsWith('mcp') ? [name] : []));
    peer.send(user('1'));
    await result();
    expect(offered()).toEqual([]);
    await peer.request('initialize', { sdkMcpServers: ['late'] });
    peer.send(user('2'));
    await result();
    expect(offered()).toEqual(['mcp__late__look']);
    expect(asked).toEqual(['late initialize', 'late notifications/initialized', 'late tools/list']);
    asked.length = 0;
    const manifest = {
      initializeResult: { serverInfo: { name: 'm', version: '1' }, protocolVersion: '2025-11-25', capabilities: {} },
      toolsListResult: { tools: [{ name: 'told', inputSchema: { type: 'object' } }] },
    };
    await peer.request('initialize', { sdkMcpServers: ['late', 'm'], sdkMcpServerManifests: { m: manifest } });
    peer.send(user('3'));
    await result();
    expect(offered()).toEqual(['mcp__late__look', 'mcp__m__told']);
    expect(asked).toEqual([]);
    peer.close();
  });

  it('thinking below zero is an error, and changes nothing', async () => {
    const { peer, model, result } = connect(['ok']);
    await peer.request('set_max_thinking_tokens', { max_thinking_tokens: 4_000 });
    const refused = peer.request('set_max_thinking_tokens', { max_thinking_tokens: -1 });
    await expect(refused).rejects.toThrow('max_thinking_tokens must be 0 or more');
    peer.send(user('go'));
    await result();
    expect(model.requests[0]?.body.thinking).toEqual({ type: 'enabled', budget_tokens: 4_000 });
    peer.close();
  });

  it.each([true, false])('G2: interrupt with cancel_queued: %s', async (cancel_queued) => {
    const { step, called } = hang();
    const { peer, model, code, seen, result } = connect([step, 'second']);
    const uuid = '22222222-2222-4333-8444-555555555555';
    peer.send(user('1'));
    peer.send(user('2', { uuid }));
    await called;
    const answer = await peer.request('interrupt', { cancel_queued });
    expect(answer).toEqual({ still_queued: cancel_queued ? [] : [uuid] });
    peer.end();
    await result();
    expect(await code).toBe(0);
    for await (const message of peer.messages) seen.push(message);
    expect(model.requests).toHaveLength(cancel_queued ? 1 : 2);
    const told = seen.flatMap((one) => (one.type === 'command_lifecycle' ? [one.state] : []));
    expect(told).toEqual(cancel_queued ? ['queued', 'dropped'] : ['queued', 'started', 'completed']);
  });

  it('interrupt before anything was sent is answered', async () => {
    const { peer, code } = connect([]);
    expect(await peer.request('interrupt', {})).toEqual({ still_queued: [] });
    peer.end();
    expect(await code).toBe(0);
  });

  it('variables that a host sends reach the children of the session', async () => {
    const echo = { toolUse: { name: 'Bash', input: { command: 'echo "$WHO and $PATH_SET"' }, id: 't1' } };
    const env = { ...PATH_ENV, PATH_SET: 'kept' };
    const { near, peer, result, seen } = connect([echo, 'ok'], {
      config: { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true, env },
    });
    near.send({ type: 'update_environment_variables', variables: { WHO: 'someone' } });
    peer.send(user('go'));
    await result();
    expect(JSON.stringify(seen)).toContain('someone and kept');
    peer.close();
  });

  it('tells what it cost', async () => {
    const { peer, result } = connect([{ text: 'x', usage: { input_tokens: 0, output_tokens: 100_000 } }]);
    peer.send(user('go'));
    await result();
    expect(await peer.request('get_session_cost', {})).toEqual({ text: 'Total cost: $1.5000' });
    peer.close();
  });
});

/** A host on the other end of two pipes. What it does not read is kept; once it is dead, writing fails. */
function connectPipes(script: readonly ScriptStep[]) {
  const input = new PassThrough();
  const heard: string[] = [];
  const first = Promise.withResolvers<void>();
  let isDead = false;
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      if (isDead) return done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      heard.push(...chunk.toString('utf8').trimEnd().split('\n'));
      first.resolve();
      done();
    },
  });
  const clock = stillClock();
  const cwd = scratch();
  const code = serveHost({
    engine: createEngine({ clock, provider: createScriptedModel(script) }),
    channel: createStdioChannel({ input, output }),
    config: { cwd, env: PATH_ENV, configDir: cwd },
  });
  const die = () => {
    isDead = true;
  };
  return { input, heard, heardFirst: first.promise, clock, code, die };
}

describe('hosts that are not as they should be', () => {
  it('H1: one that sends a frame of the wrong shape is told, though nobody waits for it', async () => {
    const { input, heard, heardFirst, code } = connectPipes([]);
    input.write('{"type":"update_environment_variables","variables":{"A":1}}\n');
    await heardFirst;
    input.end();
    expect(await code).toBe(0);
    expect(heard.map((line) => JSON.parse(line) as object)).toMatchObject([
      { type: 'system', subtype: 'informational', level: 'error', content: expect.stringContaining('variables.A') },
    ]);
  });

  it('B1: one that dies after it has ended its input is noticed, though the model says nothing', async () => {
    const { step, called } = hang();
    const { input, clock, code, die } = connectPipes([step]);
    input.end(`${JSON.stringify(user('go'))}\n`);
    await called;
    await clock.armed();
    die();
    clock.advance(1_000);
    await code.catch(() => {});
    expect(clock.pending).toEqual([]);
  });

  it('one that reads slowly makes the next model call wait', async () => {
    const LIMIT = 16 * 1024 * 1024;
    const limits: number[] = [];
    const waited = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    const wrap = (far: Channel): Channel => ({
      trusted: far.trusted,
      final: far.final,
      buffered: LIMIT + 1,
      receive: (sink) => far.receive(sink),
      send: (frame) => far.send(frame),
      drained(limit) {
        limits.push(limit);
        waited.resolve();
        return read.promise;
      },
      end: () => far.end(),
      close: (reason) => far.close(reason),
    });
    const { peer, model, result } = connect(['ok'], { wrap });
    peer.send(user('go'));
    const over = result();
    await Promise.race([waited.promise, over]);
    expect(limits).toEqual([LIMIT]);
    expect(model.requests).toEqual([]);
    read.resolve();
    expect(await over).toMatchObject({ result: 'ok' });
    peer.close();
  });

  it('one that says nothing at all ends well', async () => {
    const { peer, code } = connect([]);
    peer.end();
    expect(await code).toBe(0);
  });
});
