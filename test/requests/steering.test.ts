import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SESSION_REQUESTS } from '../../src/engine/requests/table.js';
import type { HostRequest, JsonRpcMessage } from '../../src/protocol/index.js';
import { user } from '../engine/kit.js';
import { connect, decide, type Host, type HostOptions, on } from './kit.js';

describe('get_task_output', () => {
  it('tells what a task has printed while it runs and when it is over, without telling the model', async () => {
    const input = { command: 'echo one; read line < gate; echo two; exit 3', run_in_background: true };
    const host = connect([{ toolUse: { name: 'Bash', input, id: 't' } }, 'started', 'It ended.'], {
      config: { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
    });
    const { peer, cwd, until } = host;
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [join(cwd, 'gate')]);
    await host.ask('go');
    const started = host.seen.find((each) => each.type === 'system' && each.subtype === 'task_started');
    const { task_id } = started as unknown as { task_id: string };
    const running = await peer.request('get_task_output', { task_id });
    expect(running).toMatchObject({ task_id, task_type: 'local_bash', status: 'running' });
    writeFileSync(join(cwd, 'gate'), 'go\n');
    await until((each) => each.type === 'system' && each.subtype === 'task_notification');
    expect(await peer.request('get_task_output', { task_id })).toMatchObject({
      status: 'failed',
      output: 'one\ntwo\n',
      output_file: expect.any(String),
      exit_code: 3,
    });
    // The turn that tells the model comes all the same.
    expect(await until((each) => each.type === 'result')).toMatchObject({ origin: { kind: 'task-notification' } });
  });

  it('a task that nobody started is an error', async () => {
    const { peer } = connect();
    await expect(peer.request('get_task_output', { task_id: 'b0' })).rejects.toThrow('No task found with ID: b0');
  });
});

describe('cancel_async_message', () => {
  const ids = ['one', 'two', 'three'].map((_, i) => `${i}2222222-2222-4333-8444-555555555555`);

  it('takes back a message that waits, once, and no other', async () => {
    const called = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const host = connect([
      async () => {
        called.resolve();
        await go.promise;
        return 'first';
      },
      'third',
    ]);
    const { peer } = host;
    for (const [index, uuid] of ids.entries()) peer.send(user(`prompt ${index + 1}`, { uuid }));
    const [first = '', second = '', third = ''] = ids;
    // Sent right behind the messages: they are there when it is answered.
    expect(await peer.request('cancel_async_message', { message_uuid: second })).toEqual({ cancelled: true });
    await called.promise;
    expect(await peer.request('cancel_async_message', { message_uuid: second })).toEqual({ cancelled: false });
    expect(await peer.request('cancel_async_message', { message_uuid: first })).toEqual({ cancelled: false });
    go.resolve();
    await host.until((each) => each.type === 'result');
    await host.until((each) => each.type === 'result');
    expect(JSON.stringify(host.model.requests[1]?.body.messages)).toContain('prompt 3');
    expect(JSON.stringify(host.model.requests[1]?.body.messages)).not.toContain('prompt 2');
    const dropped = host.seen.flatMap((each) =>
      each.type === 'command_lifecycle' && each.state === 'dropped' ? [each.command_uuid] : [],
    );
    expect(dropped).toEqual([second]);
    expect(await peer.request('cancel_async_message', { message_uuid: third })).toEqual({ cancelled: false });
  });
});

describe('reload_output_styles', () => {
  it('finds a style that was not there', async () => {
    const { peer, configDir } = connect([], { settings: { outputStyle: 'Learning' } });
    const before = await peer.request('reload_output_styles', {});
    expect(before).toEqual({
      output_style: 'Learning',
      available_output_styles: ['default', 'Explanatory', 'Learning'],
    });
    mkdirSync(join(configDir, 'output-styles'));
    writeFileSync(join(configDir, 'output-styles', 'terse.md'), '---\nname: terse\ndescription: d\n---\nBe terse.\n');
    const after = await peer.request('reload_output_styles', {});
    expect(after.available_output_styles).toEqual(['default', 'Explanatory', 'Learning', 'terse']);
  });
});

const TOOLS = [
  { name: 'add', inputSchema: { type: 'object' } },
  { name: 'fail', inputSchema: { type: 'object' } },
  { name: 'sum', inputSchema: { type: 'object' }, outputSchema: { type: 'object', required: ['sum'] } },
];

/** A host with a server of its own. */
async function withServer(options: HostOptions = {}): Promise<Host & { called: string[] }> {
  const host = connect(['ok'], options);
  const called: string[] = [];
  const answer = ({ method, params }: JsonRpcMessage): unknown => {
    const { name, arguments: input, uri } = (params ?? {}) as Record<string, unknown>;
    if (method === 'initialize')
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {} },
        serverInfo: { name: 'calc', version: '1' },
      };
    if (method === 'tools/list') return { tools: TOOLS };
    if (method === 'resources/list') return { resources: [{ uri: 'calc:table', name: 'table' }] };
    if (method === 'resources/read') return { contents: [{ uri, mimeType: 'text/plain', text: '1 2 3' }] };
    if (method !== 'tools/call') return {};
    called.push(`${String(name)} ${JSON.stringify(input)}`);
    if (name === 'fail') return { content: [{ type: 'text', text: 'It is broken.' }], isError: true };
    if (name === 'sum') return { content: [{ type: 'text', text: '{}' }], structuredContent: { sum: 5 } };
    return { content: [{ type: 'text', text: '5' }] };
  };
  host.peer.handle('mcp_message', ({ message }) =>
    message.id === undefined
      ? {}
      : {
          mcp_response: { jsonrpc: '2.0' as const, id: message.id, result: answer(message) as Record<string, unknown> },
        },
  );
  await host.peer.request('initialize', { sdkMcpServers: ['calc'] });
  return { ...host, called };
}

const ADD = { server_name: 'calc', tool_name: 'add', arguments: { a: 2, b: 3 } };

describe('mcp_call', () => {
  it('calls a tool that the rules allow, without a turn', async () => {
    const { peer, called, model } = await withServer({ config: { allowedTools: ['mcp__calc'] } });
    expect(await peer.request('mcp_call', ADD)).toEqual({ content: [{ type: 'text', text: '5' }], isError: false });
    expect(called).toEqual(['add {"a":2,"b":3}']);
    expect(await peer.request('mcp_call', { server_name: 'calc', tool_name: 'sum' })).toMatchObject({
      structuredContent: { sum: 5 },
    });
    expect(model.requests).toHaveLength(0);
  });

  it('a tool that fails is an answer', async () => {
    const { peer } = await withServer({ config: { allowedTools: ['mcp__calc'] } });
    expect(await peer.request('mcp_call', { server_name: 'calc', tool_name: 'fail' })).toEqual({
      content: [{ type: 'text', text: 'It is broken.' }],
      isError: true,
    });
  });

  it('a rule that denies it, and a hook, keep it from running', async () => {
    const denied = await withServer({ settings: { permissions: { deny: ['mcp__calc__add'] } } });
    expect(await denied.peer.request('mcp_call', ADD)).toMatchObject({ isError: true });
    const block = { type: 'command', command: 'echo not now >&2; exit 2' };
    const hooked = await withServer({
      settings: { hooks: { PreToolUse: [{ hooks: [block] }] }, permissions: { allow: ['mcp__calc'] } },
    });
    expect(JSON.stringify(await hooked.peer.request('mcp_call', ADD))).toContain('not now');
    expect([...denied.called, ...hooked.called]).toEqual([]);
  });

  it('where nobody can be asked it is denied; a host that can be is asked first', async () => {
    const alone = await withServer();
    expect(await alone.peer.request('mcp_call', ADD)).toMatchObject({ isError: true });
    expect(alone.called).toEqual([]);
    const asked = await withServer({ config: { permissionPromptTool: 'stdio' } });
    const questions: unknown[] = [];
    asked.peer.handle('can_use_tool', ({ tool_name, input }) => {
      questions.push([tool_name, input]);
      return { behavior: 'allow', updatedInput: { a: 4 } };
    });
    expect(await asked.peer.request('mcp_call', ADD)).toMatchObject({ isError: false });
    expect(questions).toEqual([['mcp__calc__add', { a: 2, b: 3 }]]);
    expect(asked.called).toEqual(['add {"a":4}']);
  });

  it('what it did is no part of the conversation, and rewinding files is not disturbed', async () => {
    const host = await withServer({ config: { allowedTools: ['mcp__calc'], enableFileCheckpointing: true } });
    await host.peer.request('mcp_call', ADD);
    expect(await host.ask('go')).toMatchObject({ subtype: 'success', permission_denials: [] });
    expect(JSON.stringify(host.model.requests[0]?.body.messages)).not.toContain('mcp__calc__add');
  });

  it('servers and tools that are not there are errors', async () => {
    const { peer } = await withServer({ config: { disallowedTools: ['mcp__calc__sum'] } });
    await expect(peer.request('mcp_call', { server_name: 'nope', tool_name: 'x' })).rejects.toThrow(
      'Server not found: nope',
    );
    const gone = peer.request('mcp_call', { server_name: 'calc', tool_name: 'sum' });
    await expect(gone).rejects.toThrow('No such tool available');
  });
});

describe('mcp_read_resource', () => {
  const TABLE = { server_name: 'calc', uri: 'calc:table' };

  it('gives the contents as the server does', async () => {
    const { peer } = await withServer();
    expect(await peer.request('mcp_read_resource', TABLE)).toEqual({
      contents: [{ uri: 'calc:table', mimeType: 'text/plain', text: '1 2 3' }],
    });
  });

  it.each([
    ['deny', 'ReadMcpResourceTool'],
    ['ask', 'ReadMcpResourceTool'],
    ['deny', 'mcp__calc'],
    ['ask', 'mcp__calc'],
  ])('not under a rule that says %s %s', async (behavior, rule) => {
    const { peer } = await withServer({ settings: { permissions: { [behavior]: [rule] } } });
    await expect(peer.request('mcp_read_resource', TABLE)).rejects.toThrow('was not read');
  });

  it.each([
    ['PreToolUse', 'echo not now >&2; exit 2', /not now/],
    ['PreToolUse', decide({ updatedInput: { server: 'calc', uri: 'calc:other' } }), /something else to be read/],
    [
      'PostToolUse',
      `echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"less"}}'`,
      /something else to be shown/,
    ],
  ])('not where a %s hook objects: %s', async (event, command, text) => {
    const { peer } = await withServer({ settings: { hooks: on(event, 'ReadMcpResourceTool', command) } });
    await expect(peer.request('mcp_read_resource', TABLE)).rejects.toThrow(text);
  });

  it('hooks are told what the model would have read', async () => {
    const hooks = on('PostToolUse', 'ReadMcpResourceTool', 'cat >post.json');
    const { peer, cwd } = await withServer({ settings: { hooks } });
    expect(await peer.request('mcp_read_resource', TABLE)).toMatchObject({ contents: [{ text: '1 2 3' }] });
    expect(JSON.parse(readFileSync(join(cwd, 'post.json'), 'utf8'))).toMatchObject({
      tool_input: { server: 'calc', uri: 'calc:table' },
      tool_response: { contents: [{ text: '1 2 3' }] },
    });
  });

  it('a server that is not there is an error', async () => {
    const { peer } = connect();
    const refused = peer.request('mcp_read_resource', { ...TABLE, server_name: 'nope' });
    await expect(refused).rejects.toThrow('Server not found: nope');
  });
});

describe('who may ask', () => {
  it('set_color and set_has_subscribers are taken, without opening a session', async () => {
    const { peer } = connect([], { config: { resume: 'no-such-session' } });
    expect(await peer.request('set_color', { color: 'red' })).toBeUndefined();
    expect(await peer.request('set_has_subscribers', { has_subscribers: true })).toBeUndefined();
  });

  it.each(['background_tasks', 'update_settings', 'register_repo_root'] as const)(
    '%s is not answered yet',
    async (subtype) => {
      const { peer } = connect();
      await expect(peer.request(subtype, {})).rejects.toMatchObject({
        code: 'unsupported_request',
        message: `Unsupported control request subtype: ${subtype}`,
      });
    },
  );

  it('clients of a server are told nothing of its settings, and change none of them', async () => {
    const local = Object.entries(SESSION_REQUESTS).flatMap(([subtype, entry]) => ('isLocal' in entry ? [subtype] : []));
    expect(local).toEqual([
      'get_settings',
      'apply_flag_settings',
      'list_permission_rules',
      'get_hooks_listing',
      'reload_plugins',
    ]);
    const params = { settings: { permissions: { allow: ['Bash'] } } };
    for (const subtype of local as HostRequest[]) {
      const { peer } = connect([], { config: { settingsWrites: 'none' } });
      const refused = peer.request(subtype, params);
      await expect(refused).rejects.toMatchObject({ code: 'not_supported', message: expect.stringContaining(subtype) });
    }
  });
});
