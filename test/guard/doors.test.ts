/** What a server refuses before anyone is let in, and what an answer over a socket can and cannot do. */
import { existsSync, readFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createEngine, createLocalWorkspace, createMemoryStore } from '../../src/engine/index.js';
import type { Frame, SessionConfig } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createServer, type ServerOptions } from '../../src/server/index.js';
import { createScriptedModel, type ScriptStep } from '../../src/testing/index.js';
import { connectWebSocket } from '../../src/wire/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';
import { startChaosProxy } from '../wire/chaos-proxy.js';
import { bash } from './stage.js';

const TOKEN = 'correct-horse';
const touch: ScriptStep = bash('touch made');

async function serve(
  script: readonly ScriptStep[] = [],
  options: Partial<ServerOptions> & Partial<SessionConfig> = {},
) {
  const cwd = scratch();
  const { host, token = TOKEN, allowedOrigins = ['https://app.example'], ...more } = options;
  const config = { cwd, env: PATH_ENV, configDir: join(cwd, '.config'), permissionPromptTool: 'stdio', ...more };
  const engine = createEngine({
    clock: systemClock,
    store: createMemoryStore(),
    provider: createScriptedModel([...script]),
  });
  const server = await createServer({
    engine,
    clock: systemClock,
    token,
    allowedOrigins,
    config,
    ...(host && { host }),
  });
  onTestFinished(() => server.close());
  return { server, cwd, made: () => existsSync(join(cwd, 'made')) };
}

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  upgrades?: boolean;
}

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** The status and the headers that a request gets. */
function send(url: string, { method = 'GET', path = '/ws', headers = {}, upgrades = false }: Sent) {
  const { hostname, port } = new URL(url);
  return new Promise<{ status: number | undefined; headers: IncomingHttpHeaders }>((resolve, reject) => {
    const all = { ...(upgrades && UPGRADE), ...headers };
    const sent = request({ hostname, port, path, method, headers: all, agent: false });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode, headers: response.headers });
    });
    sent.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: response.headers });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const bearer = { authorization: `Bearer ${TOKEN}` };

describe('E6: before anyone is let in', () => {
  it.each<[string, Sent, number]>([
    [
      'ok-ws-001: an own page with a token',
      { upgrades: true, headers: { ...bearer, origin: 'https://app.example' } },
      101,
    ],
    ['ws-002: no token', { upgrades: true }, 401],
    ['ws-003: a rebound name', { upgrades: true, headers: { ...bearer, host: 'evil.example.com' } }, 403],
    ['web-040: a rebound name', { method: 'POST', path: '/api/sessions', headers: { host: 'evil.example.com' } }, 403],
    [
      'web-041: a foreign origin',
      { method: 'POST', path: '/api/sessions', headers: { host: 'localhost', origin: 'https://evil.example' } },
      403,
    ],
    [
      'web-043: a page without an origin, with a cookie',
      { method: 'POST', path: '/api/permissions/1', headers: { origin: 'null', cookie: `token=${TOKEN}`, ...bearer } },
      403,
    ],
  ])('%s', async (_, sent, status) => {
    const { server } = await serve();
    expect((await send(server.url, sent)).status).toBe(status);
  });

  it('web-047: no page is told that it may read', async () => {
    const { server } = await serve();
    for (const origin of ['https://evil.example', 'https://app.example']) {
      const { headers } = await send(server.url, { method: 'OPTIONS', path: '/api/sessions', headers: { origin } });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('web-050: an address that others reach is not bound without a token', async () => {
    for (const token of ['', ' ']) {
      await expect(serve([], { host: '0.0.0.0', token })).rejects.toMatchObject({ code: 'invalid_config' });
    }
    const engine = createEngine({ clock: systemClock });
    const config = { cwd: scratch(), env: PATH_ENV, configDir: scratch() };
    await expect(createServer({ engine, clock: systemClock, config, host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'invalid_config',
    });
  });
});

describe('a server that bypasses permissions', () => {
  const bypass = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true } as const;
  const IS_SANDBOX = '1';
  const asRoot = () => {
    const user = vi.spyOn(process, 'getuid').mockReturnValue(0);
    onTestFinished(() => user.mockRestore());
  };

  it.each<[string, Partial<SessionConfig>, string | RegExp]>([
    ['as root, without a word that nothing can be broken', { ...bypass, env: {} }, /refused for root/],
    ['as root, with half a word', { ...bypass, env: { IS_SANDBOX: 'yes' } }, /refused for root/],
    [
      'as root, to be switched to later',
      { allowDangerouslySkipPermissions: true, settings: '{"env":{"IS_SANDBOX":"1"}}', env: {} },
      /refused for root/,
    ],
    [
      'without the word for it',
      { permissionMode: 'bypassPermissions', env: { IS_SANDBOX } },
      'bypassPermissions needs allowDangerouslySkipPermissions.',
    ],
  ])('is refused %s', async (_, config, text) => {
    asRoot();
    const { server, made } = await serve([touch, 'done'], {
      ...config,
      env: { ...PATH_ENV, IS_SANDBOX: '', ...config.env },
    });
    const client = connect(server.url);
    client.say('go');
    expect(await client.seen('result')).toMatchObject({
      is_error: true,
      error_code: 'invalid_config',
      errors: expect.arrayContaining([typeof text === 'string' ? text : expect.stringMatching(text)]),
    });
    expect(made()).toBe(false);
  });

  it('is refused as root in a workspace that is this machine, whoever made it', async () => {
    asRoot();
    const engine = createEngine({ clock: systemClock, workspace: createLocalWorkspace({ clock: systemClock }) });
    const opened = engine.open({
      cwd: scratch(),
      configDir: scratch(),
      ...bypass,
      env: { ...PATH_ENV, IS_SANDBOX: '' },
    });
    await expect(opened).rejects.toThrow(/refused for root/);
  });

  it('works where it may', async () => {
    asRoot();
    const { server, made } = await serve([touch, 'done'], bypass);
    const client = connect(server.url);
    client.say('go');
    expect(await client.seen('result')).toMatchObject({ is_error: false });
    expect(made()).toBe(true);
  });
});

/** A client that speaks frames itself. */
function connect(url: string) {
  const channel = connectWebSocket({ url, token: TOKEN, clock: systemClock });
  const frames: Frame[] = [];
  let waiting: { fits: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = [];
  channel.receive({
    frame(frame) {
      frames.push(frame);
      const met = waiting.filter(({ fits }) => fits(frame));
      waiting = waiting.filter((wait) => !met.includes(wait));
      for (const { resolve } of met) resolve(frame);
    },
    end: () => {},
  });
  onTestFinished(() => channel.close());
  const seen = (type: string): Promise<Frame> => {
    const fits = (frame: Frame): boolean => frame.type === type;
    const found = frames.find(fits);
    return found ? Promise.resolve(found) : new Promise((resolve) => waiting.push({ fits, resolve }));
  };
  return {
    frames,
    seen,
    channel,
    say: (text: string) =>
      channel.send({
        type: 'user',
        message: { role: 'user', content: text },
        parent_tool_use_id: null,
        session_id: '',
      }),
    /** The id under which the server asks. */
    question: async (): Promise<string> => ((await seen('control_request')) as { request_id: string }).request_id,
    answer: (request_id: string, response: object = { behavior: 'allow' }) =>
      channel.send({ type: 'control_response', response: { subtype: 'success', request_id, response } }),
    /** Resolves when the server has taken everything that was sent before. */
    flush: async () => {
      const request_id = `flush-${frames.length}`;
      channel.send({ type: 'control_request', request_id, request: { subtype: 'list_models' } });
      const fits = (frame: Frame): boolean =>
        frame.type === 'control_response' &&
        (frame as { response: { request_id: string } }).response.request_id === request_id;
      if (!frames.some(fits)) await new Promise((resolve) => waiting.push({ fits, resolve }));
    },
  };
}

describe('answers over a socket', () => {
  it('ws-004, ws-006: to a question of another session, or to one that nobody asked, do nothing', async () => {
    const { server, made } = await serve([touch, 'done']);
    const owner = connect(server.url);
    owner.say('go');
    const id = await owner.question();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const stranger = connect(server.url);
    stranger.answer(id);
    await stranger.flush();
    for (const guess of ['1', 't1', '', 'req_1']) owner.answer(guess);
    await owner.flush();
    expect(made()).toBe(false);
    owner.answer(id, { behavior: 'deny', message: 'no' });
    expect(await owner.seen('result')).toMatchObject({ permission_denials: [{ tool_use_id: 't1' }] });
    expect(made()).toBe(false);
  });

  it('ws-005: a second answer has no effect', async () => {
    const append = bash('echo x >> made');
    const { server, cwd } = await serve([append, 'done']);
    const client = connect(server.url);
    client.say('go');
    const id = await client.question();
    client.answer(id, { behavior: 'deny', message: 'no' });
    client.answer(id);
    expect(await client.seen('result')).toMatchObject({ permission_denials: [{ tool_use_id: 't1' }] });
    client.answer(id);
    await client.flush();
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  it('ws-008: an edited input is judged again, and what is denied stays denied', async () => {
    const { server, cwd } = await serve([touch, 'done'], { disallowedTools: ['Bash(rm:*)'] });
    const client = connect(server.url);
    client.say('go');
    client.answer(await client.question(), { behavior: 'allow', updatedInput: { command: `rm -rf ${cwd}` } });
    expect(await client.seen('result')).toMatchObject({ permission_denials: [{ tool_use_id: 't1' }] });
    expect(existsSync(cwd)).toBe(true);
  });

  describe('ws-009: what a client wants to be kept', () => {
    const update = (destination: string, ruleContent = '*') => ({
      type: 'addRules',
      behavior: 'allow',
      destination,
      rules: [{ toolName: 'Bash', ruleContent }],
    });
    const npm = { command: 'npm --version' };
    const ask: ScriptStep = { toolUse: { name: 'Bash', input: npm, id: 't1' } };

    /** One question, its suggestions, what became of the call, and what is on the disk after the answer. */
    async function answerWith(
      toUpdates: (suggested: unknown) => unknown,
      config: Partial<SessionConfig> = {},
    ): Promise<{ suggested: unknown; denied: boolean; kept: string[]; told: string[] }> {
      const { server, cwd } = await serve([ask, 'done'], config);
      const client = connect(server.url);
      client.say('go');
      const id = await client.question();
      const question = (await client.seen('control_request')) as { request?: { permission_suggestions?: unknown } };
      const suggested = question.request?.permission_suggestions;
      client.answer(id, { behavior: 'allow', updatedPermissions: toUpdates(suggested) });
      const { permission_denials } = (await client.seen('result')) as unknown as { permission_denials: unknown[] };
      const files = ['.config/settings.json', '.claude/settings.json', '.claude/settings.local.json'];
      return {
        suggested,
        denied: permission_denials.length > 0,
        kept: files.filter((file) => existsSync(join(cwd, file))),
        told: client.frames.flatMap((frame) => ('content' in frame ? [String(frame.content)] : [])),
      };
    }

    it.each(['userSettings', 'projectSettings', 'localSettings'])(
      'in %s is refused with the call, and nothing is written',
      async (destination) => {
        const outcome = await answerWith(() => [update(destination)]);
        expect(outcome).toMatchObject({ denied: true, kept: [] });
        expect(outcome.told.join()).toContain(`Nothing may be written to ${destination} here`);
      },
    );

    it('what the server suggests lasts for the session', async () => {
      const { suggested, denied, kept } = await answerWith((given) => given);
      expect(suggested).toEqual([update('session', 'npm --version')]);
      expect({ denied, kept }).toEqual({ denied: false, kept: [] });
    });

    it('where the server allows what it suggests, that is kept and nothing else', async () => {
      const suggestedOnly = { settingsWrites: 'suggested' } as const;
      const echoed = await answerWith((given) => given, suggestedOnly);
      expect(echoed).toMatchObject({ denied: false, kept: ['.claude/settings.local.json'] });
      expect(echoed.suggested).toEqual([update('localSettings', 'npm --version')]);
      const wider = await answerWith(() => [update('localSettings')], suggestedOnly);
      expect(wider).toMatchObject({ denied: true, kept: [] });
    });

    it('where the server allows all, it is kept', async () => {
      const outcome = await answerWith(() => [update('userSettings', 'ls')], { settingsWrites: 'any' });
      expect(outcome).toMatchObject({ denied: false, kept: ['.config/settings.json'] });
    });

    it('a client cannot choose that itself', async () => {
      const { server, cwd } = await serve([ask, 'done']);
      const client = connect(server.url);
      const initialize = { subtype: 'initialize', config: { settingsWrites: 'any' } };
      client.channel.send({ type: 'control_request', request_id: 'i1', request: initialize });
      client.say('go');
      client.answer(await client.question(), { behavior: 'allow', updatedPermissions: [update('userSettings')] });
      expect(await client.seen('result')).toMatchObject({ permission_denials: [{ tool_use_id: 't1' }] });
      expect(existsSync(join(cwd, '.config/settings.json'))).toBe(false);
    });
  });

  it('ws-015: a question survives the socket it was asked on', async () => {
    const { server, made } = await serve([touch, 'done']);
    const proxy = await startChaosProxy({ target: server.url });
    onTestFinished(() => proxy.close());
    const client = connect(proxy.url);
    client.say('go');
    const id = await client.question();
    const again = proxy.nextSocket();
    proxy.cut();
    await again;
    expect(made()).toBe(false);
    client.answer(id);
    expect(await client.seen('result')).toMatchObject({ permission_denials: [] });
    expect(made()).toBe(true);
  });

  it('web-046: no request that only reads answers a question', async () => {
    const { server, made } = await serve([touch, 'done']);
    const client = connect(server.url);
    client.say('go');
    const id = await client.question();
    for (const path of [`/api/permissions/${id}?approved=true`, `/ws?approved=true&id=${id}`]) {
      expect((await send(server.url, { path, headers: bearer })).status).toBeGreaterThanOrEqual(400);
    }
    await client.flush();
    expect(made()).toBe(false);
  });
});

it('ok-ws-003: of two who approve at once the first counts, and the call runs once', async () => {
  const cwd = scratch();
  const engine = createEngine({ clock: systemClock, provider: createScriptedModel([bash('echo x >> made'), 'done']) });
  const session = await engine.open({ cwd, env: PATH_ENV, configDir: join(cwd, '.config') });
  onTestFinished(() => session.close());
  const both = Promise.withResolvers<void>();
  let asked = 0;
  const withdrawn: string[] = [];
  const tab = (name: string, ms: number) => ({
    deliver: () => {},
    ask: async (_: unknown, { signal }: { signal: AbortSignal }) => {
      signal.addEventListener('abort', () => withdrawn.push(name));
      asked += 1;
      if (asked === 2) both.resolve();
      await both.promise;
      for (let turn = 0; turn < ms; turn += 1) await Promise.resolve();
      return { behavior: 'allow' };
    },
  });
  session.attach(tab('first', 0));
  session.attach(tab('second', 3));
  session.submit({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null });
  session.endInput();
  await session.finished;
  expect(readFileSync(join(cwd, 'made'), 'utf8')).toBe('x\n');
  expect(withdrawn).toContain('second');
});
