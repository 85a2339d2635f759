import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/engine/mcp/connection.js';
import { McpServers, type SdkServer } from '../../src/engine/mcp/servers.js';
import { systemClock } from '../../src/protocol/plain.js';
import type { JsonRpcMessage, McpServerManifest, ToolContext } from '../../src/protocol/index.js';
import { resultText, start } from './kit.js';

/** What makes bytes an image. */
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64');

const TOOL = { name: 'look', description: 'Looks', inputSchema: { type: 'object' } };

interface Answers {
  tools?: object[];
  call?: object;
  /** In place of every answer. */
  answer?: Partial<JsonRpcMessage>;
}

/** A server that answers as it is told, and keeps what it was asked. */
function server(answers: Answers = {}, manifest?: McpServerManifest) {
  const seen: { message: JsonRpcMessage; signal: AbortSignal | undefined }[] = [];
  const results: Record<string, () => object> = {
    initialize: () => ({ serverInfo: { name: 'fake', version: '1.2' }, capabilities: {} }),
    'tools/list': () => ({ tools: answers.tools ?? [TOOL] }),
    'tools/call': () => answers.call ?? { content: [{ type: 'text', text: 'seen' }] },
  };
  const exchange: Exchange = async (message, { signal }) => {
    seen.push({ message, signal });
    if (message.id === undefined) return undefined;
    return { jsonrpc: '2.0', id: message.id, ...(answers.answer ?? { result: results[message.method ?? '']?.() }) };
  };
  const known: SdkServer = { exchange, ...(manifest && { manifest }) };
  return { known, seen, methods: () => seen.map(({ message }) => message.method), answers };
}

async function connected(answers: Answers = {}, manifest?: McpServerManifest) {
  const servers = new McpServers(systemClock);
  const one = server(answers, manifest);
  const outcome = await servers.set(new Map([['s', one.known]]));
  return { ...one, servers, outcome };
}

const context = {
  toolUseId: 't1',
  signal: new AbortController().signal,
  keep: async (name: string) => `/kept/${name}`,
} as Partial<ToolContext> as ToolContext;

describe('connecting', () => {
  it('greets, says that it is ready, and asks for the tools', async () => {
    const { methods, seen, servers, outcome } = await connected();
    expect(methods()).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
    expect(seen[0]?.message).toMatchObject({
      params: { protocolVersion: '2025-11-25', clientInfo: { name: 'heddle' } },
    });
    expect(new Set(seen.map(({ message }) => message.id)).size).toBe(3);
    expect(outcome).toEqual({ added: ['s'], removed: [], errors: {} });
    expect(servers.status).toEqual([
      {
        name: 's',
        status: 'connected',
        config: { type: 'sdk', name: 's' },
        scope: 'dynamic',
        serverInfo: { name: 'fake', version: '1.2' },
        tools: [{ name: 'look' }],
      },
    ]);
  });

  it('A3: what its manifest says is not asked', async () => {
    const manifest = {
      initializeResult: { serverInfo: { name: 'known', version: '9' } },
      toolsListResult: { tools: [{ ...TOOL, name: 'told' }] },
    } as McpServerManifest;
    const { methods, servers } = await connected({}, manifest);
    expect(methods()).toEqual([]);
    expect(servers.tools.map(({ name }) => name)).toEqual(['mcp__s__told']);
    expect(servers.status).toMatchObject([{ serverInfo: { name: 'known' } }]);
  });

  it.each<[string, Answers, string]>([
    [
      'an error',
      { answer: { error: { code: -32000, message: 'no such thing' } } },
      'MCP server s failed in initialize: it answered with an error (-32000): no such thing.',
    ],
    ['no result', { answer: {} }, 'MCP server s failed in initialize: it gave no result.'],
    ['a result that is none', { answer: { result: 'yes' } }, 'MCP server s failed in initialize: it gave no result.'],
  ])('G8: one that answers with %s has failed, and says why', async (_, answers, error) => {
    const { servers, outcome } = await connected(answers);
    expect(outcome.errors).toEqual({ s: error });
    expect(servers.status).toMatchObject([{ status: 'failed', error }]);
    expect(servers.tools).toEqual([]);
  });

  it('again: what failed can work, and what worked can fail', async () => {
    const { servers, answers } = await connected();
    answers.answer = { error: { code: 1, message: 'gone' } };
    const error = 'MCP server s failed in initialize: it answered with an error (1): gone.';
    await expect(servers.reconnect('s')).rejects.toMatchObject({ code: 'request_failed', message: error });
    expect(servers.status).toMatchObject([{ status: 'failed', error }]);
    expect(servers.tools).toEqual([]);
    delete answers.answer;
    await servers.reconnect('s');
    expect(servers.status).toMatchObject([{ status: 'connected' }]);
    expect(servers.status[0]).not.toHaveProperty('error');
    expect(servers.tools).toHaveLength(1);
    await expect(servers.reconnect('none')).rejects.toMatchObject({ code: 'invalid_config' });
  });
});

describe('changing the servers', () => {
  it('those that are not named any more go, with their tools; those that stay are not greeted again', async () => {
    const { servers, known, methods } = await connected();
    const other = server({ tools: [{ ...TOOL, name: 'other' }] });
    const both = new Map([
      ['s', known],
      ['o', other.known],
    ]);
    expect(await servers.set(both)).toEqual({ added: ['o'], removed: [], errors: {} });
    expect(methods()).toHaveLength(3);
    expect(await servers.set(new Map([['o', other.known]]))).toEqual({ added: [], removed: ['s'], errors: {} });
    expect(servers.tools.map(({ name }) => name)).toEqual(['mcp__o__other']);
    expect(servers.status.map(({ name }) => name)).toEqual(['o']);
    await expect(servers.toggle('s', true)).rejects.toThrow('Server not found: s');
  });

  it('one that is switched off offers nothing until it is switched on', async () => {
    const { servers } = await connected();
    await servers.toggle('s', false);
    expect(servers.tools).toEqual([]);
    expect(servers.status).toMatchObject([{ status: 'disabled' }]);
    await servers.toggle('s', true);
    expect(servers.tools).toHaveLength(1);
  });
});

describe('a tool of a server', () => {
  it('has a name the model API takes, and the schema of its server', async () => {
    const servers = new McpServers(systemClock);
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } } };
    const one = server({ tools: [{ name: 'get.item/v2', description: 'Gets', inputSchema }] });
    await servers.set(new Map([['my server', one.known]]));
    expect(servers.tools).toMatchObject([{ name: 'mcp__my_server__get_item_v2', description: 'Gets', inputSchema }]);
    await servers.tools[0]?.run({ a: 'x' }, context);
    expect(one.seen.at(-1)?.message).toMatchObject({ params: { name: 'get.item/v2', arguments: { a: 'x' } } });
  });

  it('is called with the id of the call and its signal', async () => {
    const { servers, seen } = await connected();
    await servers.tools[0]?.run({}, context);
    const { message, signal } = seen.at(-1) ?? {};
    expect(message).toMatchObject({ method: 'tools/call', params: { _meta: { 'claudecode/toolUseId': 't1' } } });
    expect(signal).toBe(context.signal);
  });

  it.each<[string, object, object]>([
    ['text', { content: [{ type: 'text', text: 'a' }] }, { content: [{ type: 'text', text: 'a' }] }],
    [
      'an image',
      { content: [{ type: 'image', mimeType: 'image/png', data: PNG }] },
      { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }] },
    ],
    [
      'a resource',
      { content: [{ type: 'resource', resource: { uri: 'x://y', text: 'body' } }] },
      { content: [{ type: 'text', text: 'x://y\nbody' }] },
    ],
    [
      'a binary resource',
      { content: [{ type: 'resource', resource: { uri: 'x://y', blob: 'AA' } }] },
      {
        content: [
          {
            type: 'text',
            text: '[The resource x://y of type application/octet-stream, 2 bytes: saved to /kept/t1-1.bin]',
          },
        ],
      },
    ],
    [
      'a recording',
      { content: [{ type: 'audio', mimeType: 'audio/mpeg', data: 'AAAA' }] },
      { content: [{ type: 'text', text: '[A recording of type audio/mpeg, 3 bytes: saved to /kept/t1-1.mp3]' }] },
    ],
    [
      'an image of a kind that no model takes',
      { content: [{ type: 'image', mimeType: 'image/tiff', data: 'AAAA' }] },
      { content: [{ type: 'text', text: '[An image of type image/tiff, 3 bytes: saved to /kept/t1-1.tiff]' }] },
    ],
    [
      'a link to a resource',
      { content: [{ type: 'resource_link', uri: 'x://y', name: 'why', mimeType: 'text/plain' }] },
      { content: [{ type: 'text', text: '[Resource link why: x://y (text/plain)]' }] },
    ],
    [
      'something else',
      { content: [{ type: 'smell', n: 1 }, null] },
      {
        content: [
          { type: 'text', text: '{"type":"smell","n":1}' },
          { type: 'text', text: 'null' },
        ],
      },
    ],
    [
      'structured content beside an image',
      {
        content: [
          { type: 'text', text: 'as text' },
          { type: 'image', mimeType: 'image/png', data: PNG },
        ],
        structuredContent: { n: 1 },
      },
      { content: [{ type: 'text', text: '{"n":1}' }, { type: 'image' }], structured: { n: 1 } },
    ],
    ['an error without words', { isError: true }, { content: expect.stringContaining('failed'), isError: true }],
    ['content that is none', { content: 'no list' }, { content: [] }],
    [
      'structured content',
      { content: [{ type: 'text', text: 'as text' }], structuredContent: { n: 1 } },
      { content: '{"n":1}', structured: { n: 1 } },
    ],
    [
      'an error',
      {
        isError: true,
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', mimeType: 'image/png', data: PNG },
        ],
      },
      { content: 'a\n[image]', isError: true },
    ],
    ['nothing', {}, { content: [] }],
  ])('gives %s', async (_, result, expected) => {
    const { servers } = await connected({ call: result });
    expect(await servers.tools[0]?.run({}, context)).toMatchObject(expected);
  });

  it('is asked about, whatever it says of itself', async () => {
    const run = await start([{ toolUse: { name: 'mcp__s__look', input: {}, id: 't1' } }, 'ok']);
    const harmless = server({ tools: [{ ...TOOL, annotations: { readOnlyHint: true } }] });
    await run.session.scope.mcp.set(new Map([['s', harmless.known]]));
    expect((await run.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 't1' }]);
    expect(harmless.methods()).not.toContain('tools/call');
    expect(run.session.scope.mcp.tools[0]?.isReadOnly?.({}, { cwd: '/' })).toBe(false);
  });

  it('is there beside an empty list of built-in ones, and tells its error to the model', async () => {
    const broken = server();
    const run = await start([{ toolUse: { name: 'mcp__s__look', input: {}, id: 't1' } }, 'ok'], {
      config: { tools: [], allowedTools: ['mcp__s'] },
    });
    await run.session.scope.mcp.set(new Map([['s', broken.known]]));
    broken.answers.answer = { error: { code: -32603, message: 'broke down' } };
    await run.ask('go');
    expect(run.model.requests[0]?.body.tools?.map(({ name }) => name)).toEqual(['mcp__s__look']);
    expect(resultText(run.messages, 't1')).toBe(
      'MCP server s failed in call of look: it failed inside (-32603): broke down.',
    );
  });
});
