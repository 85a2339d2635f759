import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseMode } from '../../src/engine/agents/mode.js';
import { previewSession } from '../../src/engine/commands/preview.js';
import type { Agent } from '../../src/engine/definitions/definition.js';
import type { Exchange } from '../../src/engine/mcp/connection.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { ModelRequest, PermissionMode, SessionConfig } from '../../src/protocol/index.js';
import { resultText, type Run, type RunOptions, scratch } from '../engine/kit.js';
import { bash, open, saidIn, task } from './kit.js';

const define = (fields: object): Record<string, unknown> => ({
  weaver: { description: 'd', prompt: 'You weave.', ...fields },
});

/** Starts the agent, which gives these answers; gives its first request. */
async function weave(
  fields: object,
  { input = {}, answers = ['woven'], ...options }: RunOptions & { input?: object; answers?: ScriptStep[] } = {},
): Promise<Run & { request: ModelRequest | undefined }> {
  const run = await open([{ toolUse: task('t1', { subagent_type: 'weaver', ...input }) }, ...answers, 'Done.'], {
    ...options,
    config: { ...options.config, agents: define(fields) },
  });
  await run.ask('go');
  return Object.assign(run, { request: run.model.requests[1] });
}

const toolsOf = (request: ModelRequest | undefined): string[] =>
  (request?.body.tools ?? []).flatMap((tool) => ('name' in tool && typeof tool.name === 'string' ? [tool.name] : []));

/** A server with two tools, given by the host. */
const serve = (name: string) => {
  const exchange: Exchange = async (message) => {
    if (message.id === undefined) return undefined;
    const tool = (each: string) => ({ name: each, description: each, inputSchema: { type: 'object' } });
    const results: Record<string, object> = {
      initialize: { serverInfo: { name, version: '1' }, capabilities: { tools: {} } },
      'tools/list': { tools: [tool('look'), tool('save')] },
      'tools/call': { content: [{ type: 'text', text: `${name} answers` }] },
    };
    return { jsonrpc: '2.0', id: message.id, result: results[message.method ?? ''] };
  };
  return { exchange };
};

async function withServers(run: Run): Promise<void> {
  await run.session.scope.mcp.set(
    new Map([
      ['linear', serve('linear')],
      ['notes', serve('notes')],
    ]),
  );
}

describe('the model of an agent', () => {
  it.each([
    [{}, {}, /opus/],
    [{ model: 'inherit' }, {}, /opus/],
    [{ model: 'haiku' }, {}, /haiku/],
    [{ model: 'claude-sonnet-4-5' }, {}, /^claude-sonnet-4-5/],
    [{ model: 'haiku' }, { model: 'sonnet' }, /sonnet/],
  ])('%j, called with %j', async (fields, input, expected) => {
    const { request } = await weave(fields, { input, config: { model: 'opus' } });
    expect(request?.body.model).toMatch(expected);
  });

  it('one without a price is refused where a budget must be kept', async () => {
    const run = await open([{ toolUse: task('t1', { model: 'own-model-7b' }) }, 'Done.'], {
      config: { maxBudgetUsd: 1 },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('The price of own-model-7b is not known');
  });
});

describe('the tools of an agent', () => {
  it('a list is a hard boundary, with what rules say after the names left to rules', async () => {
    const { request } = await weave({ tools: ['Read', 'Bash(git:*)', 'Grep'] });
    expect(toolsOf(request)).toEqual(['Bash', 'Grep', 'Read']);
  });

  it('has none that speak to a person, and none that are disallowed', async () => {
    const { request } = await weave(
      { disallowedTools: ['Write', 'Edit'] },
      { ask: async () => ({ behavior: 'allow' }) },
    );
    const tools = toolsOf(request);
    expect(tools).toContain('Bash');
    for (const name of ['Write', 'Edit', 'AskUserQuestion', 'ExitPlanMode', 'Config'])
      expect(tools).not.toContain(name);
  });

  it('has no more than the session, nor more than the agent that starts it', async () => {
    const config = { tools: ['Task', 'Read', 'Glob'], agents: define({ tools: ['Task', 'Read', 'Bash'] }) };
    const run = await open(
      [{ toolUse: task('t1', { subagent_type: 'weaver' }) }, { toolUse: task('t2') }, 'deep', 'up', 'Done.'],
      { config },
    );
    await run.ask('go');
    const [, weaver, nested] = run.model.requests;
    expect(toolsOf(weaver)).toEqual(['Read', 'Task']);
    expect(toolsOf(nested)).toEqual(['Read', 'Task']);
  });

  it('one whose tools are all missing is a clear error', async () => {
    const run = await open([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'Done.'], {
      config: { agents: define({ tools: ['Loom'] }) },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('names tools that it cannot have here: Loom');
  });

  it('mcp-011: the tools of servers are within the boundary, also when it calls one that it was not told of', async () => {
    const run = await open(
      [
        { toolUse: task('t1', { subagent_type: 'weaver' }) },
        {
          toolUse: [
            { name: 'mcp__linear__save', id: 'm1', input: {} },
            { name: 'mcp__linear__look', id: 'm2', input: {} },
          ],
        },
        'woven',
        'Done.',
      ],
      { config: { permissionMode: 'bypassPermissions', agents: define({ tools: ['Read', 'mcp__linear__look'] }) } },
    );
    await withServers(run);
    await run.ask('go');
    expect(toolsOf(run.model.requests[1])).toEqual(['Read', 'mcp__linear__look']);
    expect(resultText(run.messages, 'm1')).toContain('No such tool available: mcp__linear__save');
    expect(resultText(run.messages, 'm2')).toBe('linear answers');
  });

  it.each([
    [{ tools: ['mcp__linear'] }, ['mcp__linear__look', 'mcp__linear__save']],
    [{ tools: ['mcp__notes__*', 'Read'] }, ['mcp__notes__look', 'mcp__notes__save']],
    [{ mcpServers: ['notes'] }, ['mcp__notes__look', 'mcp__notes__save']],
    [{ mcpServers: [] }, []],
  ])('%j', async (fields, expected) => {
    const run = await open([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'woven', 'Done.'], {
      config: { agents: define(fields), env: { PATH: process.env.PATH ?? '', ENABLE_TOOL_SEARCH: 'false' } },
    });
    await withServers(run);
    await run.ask('go');
    expect(toolsOf(run.model.requests[1]).filter((name) => name.startsWith('mcp__'))).toEqual(expected);
  });

  it('servers of its own are there as long as it works', async () => {
    const folder = scratch();
    const program = join(folder, 'server.mjs');
    writeFileSync(program, SERVER);
    const own = { command: process.execPath, args: [program, folder] };
    const run = await open(
      [
        { toolUse: task('t1', { subagent_type: 'weaver' }) },
        {
          toolUse: [
            { name: 'mcp__own__echo', id: 'm1', input: {} },
            { name: 'mcp__linear__look', id: 'm2', input: {} },
          ],
        },
        'woven',
        { toolUse: { name: 'mcp__own__echo', id: 'm3', input: {} } },
        'Done.',
      ],
      { config: { permissionMode: 'bypassPermissions', agents: define({ mcpServers: [{ own }, 'linear'] }) } },
    );
    await withServers(run);
    await run.ask('go');
    expect(toolsOf(run.model.requests[1])).toContain('mcp__own__echo');
    expect(toolsOf(run.model.requests[1])).not.toContain('mcp__notes__look');
    expect(resultText(run.messages, 'm1')).toBe('echo of its own');
    expect(resultText(run.messages, 'm2')).toBe('linear answers');
    expect(resultText(run.messages, 'm3')).toContain('No such tool available');
  });

  it('of a plugin: its servers and skills are found beside it', async () => {
    const cwd = scratch();
    const place = (name: string, text: string): void => {
      mkdirSync(dirname(join(cwd, 'pl', name)), { recursive: true });
      writeFileSync(join(cwd, 'pl', name), text);
    };
    place('.claude-plugin/plugin.json', '{"name":"pl"}');
    place('server.mjs', SERVER);
    place('skills/knots/SKILL.md', '---\ndescription: d\n---\nHow to tie knots.');
    const server = `own: {command: "${process.execPath}", args: ["\${CLAUDE_PLUGIN_ROOT}/server.mjs"]}`;
    place(
      'agents/weaver.md',
      `---\nname: weaver\ndescription: d\nskills: knots\nmcpServers:\n  - ${server}\n---\nWeave.`,
    );
    const run = await open([{ toolUse: task('t1', { subagent_type: 'pl:weaver' }) }, 'woven', 'Done.'], {
      cwd,
      config: { pluginDirs: [join(cwd, 'pl')] },
    });
    await run.ask('go');
    expect(toolsOf(run.model.requests[1])).toContain('mcp__own__echo');
    expect(JSON.stringify(run.model.requests[1]?.body.messages)).toContain('How to tie knots.');
  });

  it('servers of its own that cannot be used: the reason is told', async () => {
    const run = await open([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'Done.'], {
      config: { agents: define({ mcpServers: [{ own: { command: '${NO_SUCH_PLACE}/server' } }] }) },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toMatch(/cannot be used here: .*NO_SUCH_PLACE/);
  });

  it('servers of its own are refused where only named configurations count', async () => {
    const run = await open([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'Done.'], {
      config: { strictMcpConfig: true, agents: define({ mcpServers: [{ own: { command: 'none' } }] }) },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('brings MCP servers of its own (own)');
  });
});

const SERVER = `
import { createInterface } from 'node:readline';
const answers = {
  initialize: { protocolVersion: '2025-06-18', serverInfo: { name: 'own', version: '1' }, capabilities: { tools: {} } },
  'tools/list': { tools: [{ name: 'echo', description: 'Echoes', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'echo of its own' }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }) + '\\n');
}
`;

describe('the mode of an agent', () => {
  const at = (mode: PermissionMode, defined: PermissionMode | undefined, more: object = {}, config: object = {}) =>
    chooseMode(
      { mode, config: config as SessionConfig },
      { agent: { ...(defined && { permissionMode: defined }), origin: { scope: 'user' } }, ...more },
    );

  it.each<[PermissionMode, PermissionMode | undefined, object, object, PermissionMode]>([
    ['default', undefined, {}, {}, 'default'],
    ['acceptEdits', undefined, {}, {}, 'acceptEdits'],
    ['delegate', undefined, {}, {}, 'default'],
    ['default', 'acceptEdits', {}, {}, 'acceptEdits'],
    ['acceptEdits', 'plan', {}, {}, 'plan'],
    ['plan', 'acceptEdits', {}, {}, 'plan'],
    ['dontAsk', 'default', {}, {}, 'dontAsk'],
    ['default', 'bypassPermissions', {}, {}, 'default'],
    ['default', 'bypassPermissions', {}, { allowDangerouslySkipPermissions: true }, 'bypassPermissions'],
    ['default', undefined, { asked: 'bypassPermissions' }, { allowDangerouslySkipPermissions: true }, 'default'],
    ['acceptEdits', undefined, { asked: 'plan' }, {}, 'plan'],
    ['default', 'plan', { asked: 'acceptEdits' }, {}, 'plan'],
    ['default', undefined, { granted: 'acceptEdits' }, {}, 'acceptEdits'],
    ['plan', undefined, { granted: 'acceptEdits' }, {}, 'plan'],
  ])('in a session in %s, defined as %s, with %j and %j: %s', (mode, defined, more, config, expected) => {
    expect(at(mode, defined, more, config)).toBe(expected);
  });

  it('one that comes with a plugin is not looser than the session', () => {
    const agent = { permissionMode: 'acceptEdits', origin: { scope: 'plugin' } } as Agent;
    const config = {} as SessionConfig;
    expect(chooseMode({ mode: 'default', config }, { agent })).toBe('default');
    expect(chooseMode({ mode: 'bypassPermissions', config }, { agent })).toBe('acceptEdits');
  });

  it('follows that of the session while it works', async () => {
    let asked = 0;
    const run = await open(
      [
        { toolUse: task('t1') },
        () => {
          run.session.setPermissionMode('dontAsk');
          return { toolUse: bash('b1', 'touch x') };
        },
        'woven',
        'Done.',
      ],
      {
        ask: async () => {
          asked += 1;
          return { behavior: 'allow' };
        },
      },
    );
    await run.ask('go');
    expect(asked).toBe(0);
    expect(resultText(run.messages, 'b1')).toContain('denied');
  });
});

describe('what else a definition says', () => {
  it('maxTurns ends it with what it has said; what the call says may only be stricter', async () => {
    const answers = [{ text: 'so far', toolUse: bash('b1', 'echo x') }];
    const run = await weave({ maxTurns: 1 }, { answers });
    expect(resultText(run.messages, 't1')).toContain('so far');
    expect(resultText(run.messages, 't1')).toContain('Reached maximum number of turns (1)');
    const longer = await weave({ maxTurns: 1 }, { answers, input: { max_turns: 5 } });
    expect(resultText(longer.messages, 't1')).toContain('Reached maximum number of turns (1)');
  });

  it('effort, the first words, the reminder, the prompt and the place of work', async () => {
    const { request } = await weave(
      { effort: 'low', initialPrompt: 'Warp first.', criticalSystemReminder_EXPERIMENTAL: 'Never cut the thread.' },
      { config: { effort: 'high', appendSystemPrompt: 'For the main thread.' } },
    );
    expect(JSON.stringify(request?.body.system)).toContain('You weave.');
    expect(JSON.stringify(request?.body.system)).not.toContain('For the main thread.');
    expect(JSON.stringify(request?.body)).toContain('"effort":"low"');
    const said = request ? saidIn(request) : '';
    const places = ['Working directory', 'Warp first.', 'Never cut the thread.', 'Do t1.'].map((text) =>
      said.indexOf(text),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it('background: it need not be asked for', async () => {
    const run = await open(
      [{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'woven or started', 'woven or started', 'told'],
      { config: { agents: define({ background: true }) } },
    );
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('Agent started in the background');
    await run.seen((message) => message.type === 'result' && message.origin !== undefined);
  });
});

describe('the colour of an agent', () => {
  it.each([
    ['the foreground', {}],
    ['the background', { run_in_background: true }],
  ])('is told when it starts in %s', async (_, input) => {
    const { messages } = await weave({ color: 'pink' }, { input, answers: ['woven', 'also'] });
    expect(messages).toContainEqual(
      expect.objectContaining({ subtype: 'task_started', subagent_type: 'weaver', color: 'pink' }),
    );
  });

  it('is told with the list of agents: its own, or the next', async () => {
    const agents = {
      own: { description: 'd', prompt: 'p', color: 'orange' },
      other: { description: 'd', prompt: 'p' },
    };
    const { clock } = await open([]);
    const config = { cwd: scratch(), env: {}, configDir: '/nowhere', agents };
    const preview = await previewSession(config, { clock, provider: undefined });
    expect(preview.agents).toContainEqual({ name: 'own', description: 'd', color: 'orange' });
    expect(preview.agents).toContainEqual({ name: 'other', description: 'd', color: 'red' });
    expect(preview.agents).toContainEqual(expect.objectContaining({ name: 'Explore', color: 'cyan' }));
  });
});

describe('keys of an agent of the caller', () => {
  it.each([
    ['disallowedtools', 'disallowedTools'],
    ['disallowed_tools', 'disallowedTools'],
    ['Disallowed-Tools', 'disallowedTools'],
    ['disalowedTools', 'disallowedTools'],
    ['allowedTools', 'tools'],
    ['allowed-tools', 'tools'],
    ['tool', 'tools'],
    ['Hooks', 'hooks'],
    ['mcp_servers', 'mcpServers'],
    ['maxturns', 'maxTurns'],
    ['maxTurn', 'maxTurns'],
    ['max_budget_usd', 'maxBudgetUsd'],
    ['permission_mode', 'permissionMode'],
    ['Model', 'model'],
    ['initial_prompt', 'initialPrompt'],
  ])('%s, which was meant to be %s, is refused', async (key, meant) => {
    const refused = open(['x'], { config: { agents: define({ [key]: ['Bash'] }) } });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_config',
      message: `"${key}" of the agent "weaver" is not known; did you mean "${meant}"?`,
    });
  });

  it('those of later versions are passed over', async () => {
    const { messages } = await weave({ memory: 'user', observer: 'x', disallowed_tools: undefined, version: 2 });
    expect(resultText(messages, 't1')).toContain('woven');
  });
});

describe('hooks of an agent of the caller that cannot be used are told in plain words', () => {
  const withMatcher = { PreToolUse: [{ matcher: '(', hooks: [{ type: 'command', command: 'true' }] }] };

  it.each([
    [[], 'hooks of the agent weaver: it must be an object, and is an array.'],
    [
      withMatcher,
      'hooks.PreToolUse[0].matcher of the agent weaver: The matcher "(" cannot be used: ( is not closed (at character 1).',
    ],
  ])('%j', async (hooks, message) => {
    await expect(open(['x'], { config: { agents: define({ hooks }) } })).rejects.toMatchObject({
      code: 'invalid_config',
      message,
    });
  });
});
