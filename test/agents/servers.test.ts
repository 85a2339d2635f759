import { describe, expect, it } from 'vitest';
import { boundsOf } from '../../src/engine/agents/agent-tools.js';
import type { Exchange } from '../../src/engine/mcp/connection.js';
import type { ScriptStep, ScriptToolUse } from '../../src/engine/model/script-step.js';
import { resultText, type Run, type RunOptions, scratch } from '../engine/kit.js';
import { open, saidIn, task } from './kit.js';

const define = (fields: object): Record<string, unknown> => ({
  weaver: { description: 'd', prompt: 'You weave.', ...fields },
});

/** A server with a tool, a resource and a prompt, given by the host. */
const serve = (name: string) => {
  const results: Record<string, object> = {
    initialize: {
      serverInfo: { name, version: '1' },
      instructions: `Instructions of ${name}`,
      capabilities: { tools: {}, resources: {}, prompts: {} },
    },
    'tools/list': { tools: [{ name: 'look', description: 'Looks', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: `${name} answers` }] },
    'resources/list': { resources: [{ uri: `x://${name}`, name }] },
    'resources/read': { contents: [{ uri: `x://${name}`, text: `secret of ${name}` }] },
    'prompts/list': { prompts: [{ name: 'hello' }] },
    'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: `prompt of ${name}` } }] },
  };
  const exchange: Exchange = async ({ id, method }) =>
    id === undefined ? undefined : { jsonrpc: '2.0', id, result: results[method ?? ''] ?? {} };
  return { exchange };
};

async function weave(script: ScriptStep[], options: RunOptions): Promise<Run> {
  const run = await open(script, { ...options, config: { permissionMode: 'bypassPermissions', ...options.config } });
  const servers = ['a', 'b c', 'd'].map((name) => [name, serve(name)] as const);
  await run.session.scope.mcp.set(new Map(servers));
  return run;
}

const call = (name: string, id: string, input: Record<string, unknown> = {}): ScriptToolUse => ({ name, id, input });
const read = (id: string, server: string) =>
  call('ReadMcpResourceTool', id, { server, uri: `x://${server.replace('_', ' ')}` });

const reaching = {
  toolUse: [
    read('r1', 'b c'),
    read('r2', 'b_c'),
    call('ListMcpResourcesTool', 'l1'),
    call('ListMcpResourcesTool', 'l2', { server: 'b c' }),
    call('ToolSearch', 's1', { query: 'select:mcp__b_c__look' }),
    call('ToolSearch', 's2', { query: 'look' }),
    call('mcp__b_c__look', 'm1'),
    read('ra', 'a'),
    call('mcp__a__look', 'ma'),
  ],
};
const search = { PATH: process.env.PATH ?? '', ENABLE_TOOL_SEARCH: 'true', IS_SANDBOX: '1' };

function expectOnlyA({ messages }: Run, hasA = true): void {
  for (const id of ['r1', 'r2', 'l1', 'l2', 's1', 's2', 'm1']) {
    expect(resultText(messages, id)).not.toMatch(/secret of [bd]|x:\/\/b c|"name":"mcp__b_c__look"|b c answers/);
  }
  expect(resultText(messages, 'r1')).toMatch(/not found|No such tool|denied|not allowed/i);
  if (!hasA) return;
  expect(resultText(messages, 'l1')).toContain('x://a');
  expect(resultText(messages, 'ra')).toContain('secret of a');
  expect(resultText(messages, 'ma')).toBe('a answers');
}

describe('the servers that an agent names bound all that reaches servers', () => {
  const RESOURCES = ['ReadMcpResourceTool', 'ListMcpResourcesTool', 'ToolSearch'];

  it.each([
    [{ mcpServers: ['a'] }, true],
    [{ mcpServers: [] }, false],
    [{ tools: ['mcp__a', ...RESOURCES] }, true],
    [{ tools: ['mcp__a__look', ...RESOURCES] }, true],
    [{ tools: ['mcp__a__*', ...RESOURCES], mcpServers: ['a', 'b c'] }, true],
    [{ disallowedTools: ['mcp__b_c'] }, true],
  ])('%j', async (fields, hasA) => {
    const run = await weave([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, reaching, 'woven', 'Done.'], {
      config: { agents: define(fields), env: search },
    });
    await run.ask('go');
    expectOnlyA(run, hasA);
  });

  it.each([{ mcpServers: ['a'] }, { tools: ['mcp__a', ...RESOURCES] }])('the main thread as %j', async (fields) => {
    const run = await weave([reaching, 'Done.', 'said', 'again'], {
      config: { agents: define(fields), agent: 'weaver', env: search },
    });
    const { scope } = run.session;
    expect(scope.mcp.prompts.map(({ name }) => name)).toEqual(['mcp__a__hello']);
    await run.ask('look at @d:x://d and @a:x://a');
    expectOnlyA(run);
    await run.ask('/mcp__b_c__hello');
    const said = run.model.requests.map(saidIn).join('\n');
    expect(said).toContain('Instructions of a');
    expect(said).toContain('secret of a');
    expect(said).not.toMatch(/(?:Instructions|secret|prompt) of [bd]/);
  });

  it('an agent below it reaches no more', async () => {
    const agents = {
      ...define({ mcpServers: ['a'] }),
      other: { description: 'd', prompt: 'p', mcpServers: ['a', 'b c'] },
    };
    const run = await weave(
      [
        { toolUse: task('t1', { subagent_type: 'weaver' }) },
        { toolUse: task('t2', { subagent_type: 'other' }) },
        reaching,
        'deep',
        'woven',
        'Done.',
      ],
      { config: { agents, env: search } },
    );
    await run.ask('go');
    expectOnlyA(run);
  });

  it('one that names none reaches all, and what tools name counts by whole names', async () => {
    const run = await weave([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, reaching, 'woven', 'Done.'], {
      config: { agents: define({}), env: search },
    });
    await run.ask('go');
    expect(resultText(run.messages, 'r1')).toContain('secret of b c');
    expect(resultText(run.messages, 's1')).toContain('mcp__b_c__look');
    const { reaches } = boundsOf({ tools: ['Read', 'mcp__ab__x'] });
    expect(['a', 'ab', 'ab__x'].map(reaches)).toEqual([false, true, true]);
    expect(boundsOf({ tools: ['mcp__*'] }).reaches('a')).toBe(true);
    expect(boundsOf({ tools: ['Read'] }).reaches('a')).toBe(true);
  });
});

describe('a server of its own that is called as one of the session is', () => {
  const own = { command: process.execPath, args: ['-e', ''] };

  it.each(['a', 'b c', 'b_c'])('%s: the agent is not started', async (name) => {
    const run = await weave([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'Done.'], {
      config: { agents: define({ mcpServers: [{ [name]: own }] }) },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain(`cannot be called as servers of the session are: ${name}`);
  });

  it('the main thread is not either', async () => {
    const config = { agents: define({ mcpServers: [{ a_b: own }] }), agent: 'weaver', configDir: scratch() };
    const mcpConfig = [JSON.stringify({ mcpServers: { 'a b': own } })];
    await expect(open(['x'], { config: { ...config, mcpConfig } })).rejects.toThrow('that the session has: a_b');
  });
});
