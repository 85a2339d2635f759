/** Servers that a program names while the session runs, and what is taken away from servers. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Options } from '../../../src/sdk/index.js';
import { createSdkMcpServer, tool } from '../../../src/sdk/index.js';
import { PATH_ENV } from '../../engine/kit.js';
import { closeRun, createStage } from '../../guard/stage.js';
import { MANAGED, USER } from '../../settings/place.js';
import { call, find, lastSaid, program, request, talk, V1 } from './kit.js';

const RESOURCES = new URL('./servers/resources.mjs', import.meta.url).pathname;
const bad = () =>
  createSdkMcpServer({ name: 'bad', tools: [tool('x', 'X', { a: z.number() }, async () => ({ content: [] }))] });

describe('setMcpServers', () => {
  it('takes no server that policy denies, that has a broken entry, or that policy has itself', async () => {
    const stage = createStage();
    stage.write(USER, { deniedMcpServers: ['bad', { serverCommand: [process.execPath, V1] }] });
    stage.write(MANAGED, { mcpServers: { theirs: program(RESOURCES) } });
    const run = await stage.open(['hello']);
    onTestFinished(() => closeRun(run));
    const { mcp } = run.session.scope;
    mcp.begin();
    const named = {
      bad: program(RESOURCES),
      shell: program(V1),
      odd: { type: 'stdio', url: 'https://x' },
      late: { ...program(RESOURCES), timeout: -5 },
      login: { type: 'http', url: 'https://user:PASSW0RDX@x.example/mcp' },
      theirs: { command: 'mine' },
      fine: program(RESOURCES),
    };
    const definitions = new Map(Object.entries(named).map(([name, config]) => [name, { config: config as never }]));
    const { errors, added } = await mcp.set(definitions);
    expect(added).toEqual(expect.arrayContaining(['fine']));
    expect(errors).toEqual({
      bad: 'MCP server bad is not connected: deniedMcpServers names it.',
      shell: 'MCP server shell is not connected: deniedMcpServers names it.',
      odd: 'MCP server odd is not connected: a server of type "stdio" needs "command".',
      late: 'MCP server late is not connected: timeout: "timeout" must be a number of milliseconds above 0.',
      login: expect.stringMatching(/^MCP server login is not connected: "url" must not hold a user or a password/),
      theirs: 'Policy has a server of this name, which stays.',
    });
    expect(JSON.stringify(mcp.status)).not.toContain('PASSW0RDX');
    // That one was begun before, by the session itself.
    await mcp.toolArrived('mcp__theirs__any', { signal: new AbortController().signal, withinMs: 20_000 });
    expect(mcp.status.find(({ name }) => name === 'theirs')).toMatchObject({ scope: 'managed', status: 'connected' });
    expect(mcp.status.find(({ name }) => name === 'fine')).toMatchObject({ status: 'connected' });
  });

  it('takes no server of the host that is denied by its name, at the start and later', async () => {
    const stage = createStage();
    stage.write(USER, { deniedMcpServers: [{ serverName: 'bad' }] });
    const exchange = async () => undefined;
    const run = await stage.open(['hello']);
    onTestFinished(() => closeRun(run));
    expect((await run.session.scope.mcp.set(new Map([['bad', { exchange }]]))).errors).toEqual({
      bad: 'MCP server bad is not connected: deniedMcpServers names it.',
    });
  });

  it('what is set first does not undo what is set after it, however long it is looked at', async () => {
    const run = talk(['hello']);
    await run.say('Go');
    await Promise.all([run.query.setMcpServers({ one: program(RESOURCES) }), run.query.setMcpServers({ bad: bad() })]);
    expect((await run.query.mcpServerStatus()).map(({ name }) => name)).toEqual(['bad']);
  });

  it('of two whose tools would begin alike one runs, whichever came first, and the other when that one has gone', async () => {
    const run = talk(['hello', 'again'], {
      env: { ...PATH_ENV, ENABLE_TOOL_SEARCH: 'false' },
    });
    await run.say('Go');
    const server = program(RESOURCES);
    const statuses = async () =>
      Object.fromEntries((await run.query.mcpServerStatus()).map(({ name, status }) => [name, status]));
    await run.query.setMcpServers({ 'a b': server });
    expect(await statuses()).toEqual({ 'a b': 'connected' });
    await run.query.setMcpServers({ 'a b': server, a_b: server });
    expect(await statuses()).toEqual({ 'a b': 'failed', a_b: 'connected' });
    await run.say('Again');
    const declared = run.model.requests[1]?.body.tools?.map(({ name }) => name) ?? [];
    expect(declared.filter((name) => name === 'mcp__a_b__look')).toHaveLength(1);
    await run.query.setMcpServers({ 'a b': server });
    expect(await statuses()).toEqual({ 'a b': 'connected' });
  });
});

describe('a prompt of a server as the first prompt', () => {
  it('waits for the server, and is what the server says', async () => {
    const run = talk(['hello'], { mcpServers: { one: program(V1) } });
    expect(await run.say('/mcp__one__greet Bob')).toMatchObject({ subtype: 'success' });
    expect(lastSaid(run, 0)).toContain('Greet Bob plainly.');
  });

  it('says why, when the server does not come', async () => {
    const run = talk(['hello'], { mcpServers: { one: { command: 'no-such-program' } } });
    const result = await run.say('/mcp__one__greet Bob');
    expect(result).toMatchObject({ is_error: true, num_turns: 0 });
    expect(JSON.stringify(result)).toContain('MCP server one failed in start: Could not start no-such-program');
    expect(run.model.requests).toHaveLength(0);
  });

  it('of a server that nobody knows is a text like any other', async () => {
    const run = talk(['hello'], { mcpServers: { one: program(V1) } });
    await run.say('/mcp__two__greet Bob');
    expect(lastSaid(run, 0)).toContain('/mcp__two__greet Bob');
  });
});

describe('what is taken away from a server', () => {
  const mcpServers = { ev: program(RESOURCES) };

  it.each<[string, Options]>([
    ['disallowedTools', { disallowedTools: ['mcp__ev'] }],
    ['every tool of it', { disallowedTools: ['mcp__ev__look', 'mcp__ev__other'] }],
  ])('by %s is neither announced nor found', async (_, options) => {
    const run = talk(['one', find('mcp__ev__look'), 'two'], { mcpServers, ...options });
    await run.say('One');
    await run.query.reconnectMcpServer('ev');
    await run.say('Two');
    expect(run.told('find')).toMatch(/There is no tool named mcp__ev__look/);
    for (const at of [1, 2]) {
      expect(request(run, at)).not.toMatch(/can be used, too|look around|Trust this server/);
    }
  });

  it.each<[string, Options]>([
    ['a rule of settings', { settings: JSON.stringify({ permissions: { deny: ['mcp__ev'] } }) }],
    ['a rule with a star', { settings: JSON.stringify({ permissions: { deny: ['mcp__ev__*'] } }) }],
    ['disallowedTools', { disallowedTools: ['mcp__ev'] }],
  ])('by %s is not read as a resource either', async (_, options) => {
    const run = talk(
      [
        // Both servers are waited for.
        find('mcp__fine__look,mcp__ev__look'),
        call('ReadMcpResourceTool', { server: 'ev', uri: 'res://one' }, 't1'),
        call('ReadMcpResource', { server: 'ev', uri: 'res://one' }, 't2'),
        call('ListMcpResources', { server: 'ev' }, 't3'),
        call('ListMcpResources', {}, 't4'),
        call('ReadMcpResourceTool', { server: 'fine', uri: 'res://one' }, 't5'),
        'done',
      ],
      { mcpServers: { ...mcpServers, fine: program(RESOURCES) }, ...options },
    );
    await run.say('Go');
    for (const id of ['t1', 't2', 't3']) expect(run.told(id)).not.toMatch(/the secret of|res:\/\/one/);
    expect(run.told('t4')).not.toContain('"server":"ev"');
    expect(run.told('t5')).toContain('the secret of');
  });
});

describe('servers that wait for the first answer', () => {
  it('are not started again when somebody was faster, nor when they were switched off', async () => {
    const run = talk([call('mcp__one__pid', {}, 't1'), 'hello'], {
      mcpServers: { one: program(V1), off: program(RESOURCES) },
      allowedTools: ['mcp__one'],
    });
    await run.query.toggleMcpServer('off', false);
    await run.query.reconnectMcpServer('one');
    const before = await run.status('one');
    await run.say('Go');
    expect([before?.status, (await run.status('one'))?.status]).toEqual(['connected', 'connected']);
    expect((await run.status('off'))?.status).toBe('disabled');
    expect(Number(run.told('t1'))).toBeGreaterThan(0);
  });
});
