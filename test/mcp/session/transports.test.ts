import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { McpServerConfig } from '../../../src/sdk/index.js';
import { PATH_ENV, scratch } from '../../engine/kit.js';
import { until, untilGone } from '../../workspace/running.js';
import { createBench, EVERYTHING, FILESYSTEM, MEMORY } from '../remote/kit.js';
import { call, find, processesWith, program, talk, V1, V2 } from './kit.js';
import { listenEverywhere } from '../remote/everything.js';

const servers = createBench();
const addresses = { http: '', sse: '' };

beforeAll(async () => {
  Object.assign(addresses, await listenEverywhere(servers));
});
afterAll(() => servers.close());

const SECRET = 'not-to-be-seen';

const TRANSPORTS: [string, () => McpServerConfig, Record<string, unknown>][] = [
  [
    'stdio',
    () => ({ ...program(EVERYTHING, 'stdio'), env: { TOKEN: SECRET } }),
    { command: process.execPath, args: [EVERYTHING, 'stdio'], env: { TOKEN: '***' } },
  ],
  [
    'http',
    () => ({ type: 'http', url: `${addresses.http}?key=${SECRET}`, headers: { 'X-Token': SECRET } }),
    { type: 'http', headers: { 'X-Token': '***' }, url: expect.stringMatching(/\/mcp\?key=\*\*\*$/) },
  ],
  [
    'sse',
    () => ({ type: 'sse', url: addresses.sse, headers: { 'X-Token': SECRET } }),
    { type: 'sse', headers: { 'X-Token': '***' }, url: expect.stringMatching(/\/sse$/) },
  ],
];

describe('query() with a server that is reached', () => {
  it.each(TRANSPORTS)('over %s: found, called, shown without its secrets', async (transport, config, shown) => {
    const run = talk(
      [
        find('mcp__all__echo,mcp__all__get-structured-content'),
        call('mcp__all__echo', { message: 'hello' }, 't1'),
        call('mcp__all__get-structured-content', { location: 'Chicago' }, 't2'),
        call('mcp__all__get-sum', { a: 'one' }, 't3'),
        call('ListMcpResources', { server: 'all' }, 't4'),
        'done',
      ],
      { mcpServers: { all: config() }, allowedTools: ['mcp__all'] },
    );
    const result = await run.say('Go');
    expect(result).toMatchObject({ subtype: 'success', result: 'done' });
    expect(run.told('t1')).toBe('Echo: hello');
    expect(JSON.parse(run.told('t2'))).toMatchObject({ conditions: expect.any(String) });
    expect(run.told('t3')).toMatch(/error/i);
    expect(run.told('t4')).toContain('demo://');
    const status = await run.status('all');
    expect(status).toMatchObject({
      status: 'connected',
      scope: 'flag',
      transport,
      config: shown,
      serverInfo: { name: expect.stringContaining('everything') },
      tools: expect.arrayContaining([expect.objectContaining({ name: 'echo' })]),
    });
    expect(JSON.stringify(status)).not.toContain(SECRET);
    await run.end();
  });

  it('B1: no process of a server is left when the query is over, however it ends', async () => {
    const mark = `mark-${process.pid}-${Date.now()}`;
    const options = { mcpServers: { one: program(V1, mark) }, allowedTools: ['mcp__one'] };
    const script = [find('mcp__one__pid'), call('mcp__one__pid'), 'done'];
    const ended = talk(script, options);
    await ended.say('Go');
    const closed = talk(script, options);
    await closed.say('Go');
    const pids = [ended, closed].map((run) => Number(run.told('t1')));
    expect(processesWith(mark)).toEqual(expect.arrayContaining(pids));
    await ended.end();
    expect(processesWith(mark)).not.toContain(pids[0]);
    closed.query.close();
    await Promise.all(pids.map(untilGone));
    const early = talk(['done'], options);
    await early.say('Go');
    early.query.close();
    await until(() => processesWith(mark).length === 0);
  });

  it('a server that cannot start or be reached says so, and the session goes on', async () => {
    const run = talk(
      [find('mcp__no__x,mcp__far__x', 'f1'), call('mcp__no__x', {}, 't1'), call('mcp__far__x', {}, 't2'), 'still here'],
      {
        mcpServers: {
          no: { command: '/no/such/program' },
          far: { type: 'http', url: 'http://127.0.0.1:9/mcp' },
          dead: { command: process.execPath, args: ['-e', 'console.error("no yarn left"); process.exit(4)'] },
        },
        allowedTools: ['mcp__no', 'mcp__far'],
      },
    );
    expect(await run.say('Go')).toMatchObject({ subtype: 'success', result: 'still here' });
    expect(run.told('t1')).toMatch(/MCP server no is not connected.*no failed in start/);
    expect(run.told('t2')).toMatch(/MCP server far is not connected.*far failed in/);
    const dead = await run.status('dead');
    expect(dead).toMatchObject({ status: 'failed', error: expect.stringMatching(/dead failed in .*no yarn left/s) });
  });

  it('G8: a server that dies in a call is named with its phase and the end of its stderr, and comes back', async () => {
    const run = talk(
      [
        find('mcp__one__die'),
        call('mcp__one__die', {}, 't1'),
        async () => {
          await run.query.reconnectMcpServer('one');
          return call('mcp__one__echo', { text: 'again' }, 't2');
        },
        'done',
      ],
      { mcpServers: { one: program(V1) }, allowedTools: ['mcp__one'] },
    );
    await run.say('Go');
    expect(run.told('t1')).toMatch(/^MCP server one failed in call of die: .*code 3.*out of yarn/s);
    expect(run.told('t2')).toBe('{"text":"again"}');
  });
});

describe('other real servers', () => {
  it('server-filesystem, server-memory and servers of both versions of the packages, together', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'a.txt'), 'what is in it');
    const memory = join(folder, 'memory.jsonl');
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['weaves'] }];
    const run = talk(
      [
        find('mcp__files__read_text_file,mcp__memory__create_entities,mcp__two__add,mcp__one__echo'),
        {
          toolUse: [
            { name: 'mcp__files__read_text_file', input: { path: join(folder, 'a.txt') }, id: 't1' },
            { name: 'mcp__memory__create_entities', input: { entities }, id: 't2' },
            { name: 'mcp__two__add', input: { a: 2, b: 3 }, id: 't3' },
            { name: 'mcp__one__echo', input: { a: 1 }, id: 't4' },
          ],
        },
        'done',
      ],
      {
        cwd: folder,
        mcpServers: {
          // It takes the working directory of the session, which it is told as a root, for the folder it may use.
          files: program(FILESYSTEM, tmpdir()),
          memory: { ...program(MEMORY), env: { MEMORY_FILE_PATH: memory } },
          one: program(V1),
          two: program(V2),
        },
        allowedTools: ['mcp__files', 'mcp__memory', 'mcp__two', 'mcp__one'],
      },
    );
    await run.say('Go');
    expect(run.told('t1')).toContain('what is in it');
    expect(readFileSync(memory, 'utf8')).toContain('Ada');
    expect(run.told('t3')).toBe('{"sum":5}');
    expect(run.told('t4')).toBe('{"a":1}');
    const seen = (await run.query.mcpServerStatus()).map(({ name, status }) => [name, status]);
    expect(Object.fromEntries(seen)).toEqual({
      files: 'connected',
      memory: 'connected',
      one: 'connected',
      two: 'connected',
    });
    await run.end();
  });
});

describe('E4: the environment of a server', () => {
  it('is that which the caller gives, without the credentials of the engine, and nothing of the host', async () => {
    vi.stubEnv('SECRET_X', 'planted');
    vi.stubEnv('ANTHROPIC_API_KEY', 'planted');
    onTestFinished(() => void vi.unstubAllEnvs());
    const run = talk([find('mcp__one__environment'), call('mcp__one__environment'), 'done'], {
      env: { ...PATH_ENV, ANTHROPIC_API_KEY: 'sk-given', GIVEN: 'yes' },
      mcpServers: { one: { ...program(V1), env: { OWN: 'mine' } } },
      allowedTools: ['mcp__one'],
    });
    await run.say('Go');
    const env = JSON.parse(run.told('t1')) as Record<string, string>;
    expect(env).toMatchObject({ GIVEN: 'yes', OWN: 'mine', PATH: PATH_ENV.PATH });
    expect(env).not.toHaveProperty('SECRET_X');
    expect(env).not.toHaveProperty('ANTHROPIC_API_KEY');
    expect(JSON.stringify(env)).not.toContain('sk-given');
  });

  it('a key that the entry of the server names gets there', async () => {
    const run = talk([find('mcp__one__environment'), call('mcp__one__environment'), 'done'], {
      env: { ...PATH_ENV, MY_KEY: 'for-the-server' },
      mcpServers: { one: { ...program(V1), env: { ANTHROPIC_API_KEY: '${MY_KEY}' } } },
      allowedTools: ['mcp__one'],
    });
    await run.say('Go');
    expect(JSON.parse(run.told('t1'))).toMatchObject({ ANTHROPIC_API_KEY: 'for-the-server' });
  });
});
