import { describe, expect, it } from 'vitest';
import type { McpTool } from '../../../src/engine/mcp/connection.js';
import { definitionHash } from '../../../src/engine/mcp/definition.js';
import { createListMcpResourcesTool } from '../../../src/engine/tools/list-mcp-resources.js';
import { createReadMcpResourceTool } from '../../../src/engine/tools/read-mcp-resource.js';
import { HeddleError } from '../../../src/protocol/plain.js';
import { createFakeClock } from '../../../src/testing/index.js';
import { connected, createBench, hangs, type LinkWish, named, remote, statusOf, toCall, tool } from './kit.js';

describe('tools of servers', () => {
  it('what a server claims of a tool is shown, and never trusted', async () => {
    const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: 'yes' };
    const bench = await connected({
      s: { tools: [tool('look', { annotations }), tool('wipe', { annotations: { destructiveHint: true } })] },
    });
    const [look, wipe] = bench.servers.tools;
    expect(look?.description).toBe('Does look\n(The server says: read-only.)');
    expect(wipe?.description).toBe('Does wipe\n(The server says: may destroy.)');
    expect(look?.isReadOnly?.({}, { cwd: '/' })).toBe(false);
    expect(statusOf(bench)?.tools).toEqual([
      { name: 'look', annotations: { readOnly: true, destructive: false } },
      { name: 'wipe', annotations: { destructive: true } },
    ]);
  });

  it.each<[string, unknown, RegExp]>([
    ['has no name', { inputSchema: { type: 'object' } }, /it has no name/],
    ['is nothing', null, /it has no name/],
    ['takes a list', tool('t', { inputSchema: { type: 'array' } }), /type of its input schema/],
    ['has a schema that is none', tool('t', { inputSchema: 'x' as never }), /no object/],
    ['has a field no API takes', tool('t', { inputSchema: { type: 'object', properties: { 'a b': {} } } }), /"a b"/],
    ['has an endless schema', tool('t', { inputSchema: nested(200) }), /too deep/],
    ['has a huge schema', tool('t', { inputSchema: { type: 'object', title: 'x'.repeat(300_000) } }), /200 KB/],
    ['is listed twice', tool('ok'), /listed twice/],
  ])('one that %s is left out and named; the others work', async (_, bad, fault) => {
    const bench = await connected({ s: { tools: [tool('ok'), bad as McpTool] } });
    expect(bench.servers.tools.map(({ name }) => name)).toEqual(['mcp__s__ok']);
    expect(statusOf(bench)).toMatchObject({ status: 'connected', error: expect.stringMatching(fault) });
  });

  it('a schema of alternatives is given as one with all of their fields, which the model API takes', async () => {
    const inputSchema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      oneOf: [{ properties: { b: {} }, required: ['b'] }, { properties: { c: {} } }],
    };
    const bench = await connected({ s: { tools: [tool('t', { inputSchema }), tool('u', { inputSchema: {} })] } });
    const [t, u] = bench.servers.tools;
    expect(t?.inputSchema).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: {}, c: {} },
      required: ['a'],
    });
    expect(u?.inputSchema).toEqual({ type: 'object' });
  });

  it('a server that floods: 10,000 tools are taken, the rest is left out', async () => {
    const flood = Array.from({ length: 12_000 }, (_, at) => tool(`t${at}`, { description: 'x'.repeat(20_000) }));
    const bench = await connected({ flood: { tools: flood }, late: {} });
    const { tools } = bench.servers;
    expect(tools).toHaveLength(10_000);
    expect(tools[0]?.description.length).toBeLessThan(2_100);
    expect(statusOf(bench, 'flood')?.error).toContain('2000 tools: there are too many');
    const declared = bench.servers.declare({ windowTokens: 200_000 });
    expect(declared.map(({ name }) => name)).toEqual(['ToolSearch']);
    const news = bench.servers.takeNews({ windowTokens: 200_000 }) ?? '';
    expect(news).toContain('mcp__flood__*: 10000 tools');
    expect(news.length).toBeLessThan(2_000);
  });

  it('a server that changes its list all the time is told of once in a while', async () => {
    const bench = await connected({ s: {} });
    const before = bench.changes.length;
    for (let at = 0; at < 1_000; at += 1) bench.links[0]?.change('tools', { tools: [tool(`t${at}`)] });
    expect(bench.changes).toHaveLength(before);
    expect(bench.servers.tools.map(({ name }) => name)).toEqual(['mcp__s__t999']);
    bench.clock.advance(100);
    expect(bench.changes.slice(before)).toEqual([{ server: 's', what: 'tools' }]);
  });

  it('progress is told, though not all of it', async () => {
    const clock = createFakeClock();
    const call: LinkWish['call'] = async (_, __, { onProgress }) => {
      for (let at = 0; at < 1_000; at += 1) onProgress?.({ progress: at });
      clock.advance(250);
      onProgress?.({ progress: 1_000 });
      return {};
    };
    const bench = await connected({ s: { call } });
    const { context, progressed } = toCall(clock);
    await named(bench.servers.tools, 'mcp__s__look').run({}, context);
    expect(progressed()).toBe(2);
  });

  it.each([
    ['an error of its own', () => new Error('boom'), 'MCP server s failed in call of look: boom.'],
    [
      'an error that says it all',
      () =>
        new HeddleError('channel_closed', 'MCP server s failed in call of look: it died.', { data: { server: 's' } }),
      'MCP server s failed in call of look: it died.',
    ],
    ['what is too deep', () => new RangeError('Maximum call stack size exceeded'), 'its answer is nested too deep.'],
  ])('G8: a call that throws %s names server and phase', async (_, error, text) => {
    const bench = await connected({ s: { call: async () => Promise.reject(error()) } });
    await expect(named(bench.servers.tools, 'mcp__s__look').run({}, toCall().context)).rejects.toThrow(text);
  });

  it('a server whose tools change while a call runs: the call ends as it would, the next one says that the tool is gone', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const bench = await connected({
      s: {
        async call() {
          begun.resolve();
          await gate.promise;
          return { content: [{ type: 'text', text: 'done' }] };
        },
      },
    });
    const running = named(bench.servers.tools, 'mcp__s__look').run({}, toCall().context);
    await begun.promise;
    bench.links[0]?.change('tools', { tools: [tool('other')] });
    gate.resolve();
    expect(await running).toMatchObject({ content: [{ text: 'done' }] });
    expect(() => bench.servers.find('mcp__s__look')?.parse?.({})).toThrow('does not offer mcp__s__look any more');
    expect(bench.servers.find('mcp__s__never')).toBeUndefined();
    expect(bench.servers.find('mcp__none__look')).toBeUndefined();
  });

  it('a schema for results that cannot be used makes no result an error', async () => {
    const outputSchema = { type: 'nonsense' };
    const bench = await connected({ s: { tools: [tool('t', { outputSchema })] } });
    expect(bench.servers.tools[0]?.outputSchema).toBeUndefined();
  });
});

function nested(depth: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: 'object' };
  for (let at = 0; at < depth; at += 1) schema = { type: 'object', properties: { a: schema } };
  return schema;
}

describe('definitionHash', () => {
  const base = tool('t', { outputSchema: { type: 'object' } });

  it.each<[string, Partial<McpTool>]>([
    ['name', { name: 'u' }],
    ['description', { description: 'Does t ' }],
    ['input', { inputSchema: { type: 'object' } }],
    ['output', { outputSchema: { type: 'object', required: ['x'] } }],
    ['output that is gone', { outputSchema: undefined }],
  ])('changes with its %s', (_, change) => {
    expect(definitionHash({ ...base, ...change })).not.toBe(definitionHash(base));
  });

  it('does not change with the order of fields, with annotations, nor between a list and a table', () => {
    const swapped = { ...base, inputSchema: { properties: { text: { type: 'string' } }, type: 'object' } };
    expect(definitionHash(swapped)).toBe(definitionHash(base));
    expect(definitionHash({ ...base, annotations: { readOnlyHint: true } })).toBe(definitionHash(base));
    const [list, table] = [{ enum: [['a', 1]] }, { enum: { a: 1 } }] as Record<string, unknown>[];
    expect(definitionHash(tool('t', { inputSchema: list ?? {} }))).not.toBe(
      definitionHash(tool('t', { inputSchema: table ?? {} })),
    );
  });
});

describe('resources', () => {
  const resources = [{ uri: 'x://1', name: 'one', mimeType: 'text/plain' }, { uri: 'x://2' }];

  it('are listed, of one server or of all', async () => {
    const bench = await connected({ st: { resources }, 'other one': { resources: [{ uri: 'y://1' }] }, none: {} });
    const list = createListMcpResourcesTool(bench.servers);
    const { context } = toCall();
    expect((await list.run({}, context)).structured).toEqual([
      { uri: 'x://1', name: 'one', mimeType: 'text/plain', server: 'st' },
      { uri: 'x://2', name: 'x://2', server: 'st' },
      { uri: 'y://1', name: 'y://1', server: 'other one' },
    ]);
    expect((await list.run({ server: 'other_one' }, context)).content).toBe(
      '[{"uri":"y://1","name":"y://1","server":"other one"}]',
    );
    expect((await list.run({ server: 'none' }, context)).content).toBe('There are no resources.');
  });

  it('of a server that is not known, or not there', async () => {
    const bench = createBench({ st: {}, broken: hangs });
    void bench.servers.set(
      new Map([
        ['st', remote()],
        ['broken', remote()],
      ]),
    );
    await bench.until(() => statusOf(bench, 'st')?.status === 'connected');
    const list = createListMcpResourcesTool(bench.servers);
    const read = createReadMcpResourceTool(bench.servers);
    const { context } = toCall();
    await expect(list.run({ server: 'zz' }, context)).rejects.toThrow(
      'Server "zz" not found. Available servers: st, broken',
    );
    await expect(read.run({ server: 'zz', uri: 'x' }, context)).rejects.toThrow(
      'Server "zz" not found. Available servers: st, broken',
    );
    // It is waited for, though not for ever.
    const reading = expect(read.run({ server: 'broken', uri: 'x' }, context)).rejects.toThrow(
      'MCP server broken is still connecting.',
    );
    await bench.clock.armed(2);
    bench.clock.advance(30_000);
    await reading;
  });

  it('are read; what is no text is kept in a file', async () => {
    const bench = await connected({
      st: {
        resources,
        readResource: async (uri) => [
          { uri, mimeType: 'text/plain', text: 'words' },
          { uri, mimeType: 'application/pdf', blob: Buffer.from('bytes').toString('base64') },
        ],
      },
    });
    const { context, kept } = toCall();
    const read = createReadMcpResourceTool(bench.servers);
    expect((await read.run({ server: 'st', uri: 'x://1' }, context)).structured).toEqual({
      contents: [
        { uri: 'x://1', mimeType: 'text/plain', text: 'words' },
        { uri: 'x://1', mimeType: 'application/pdf', text: '[Binary content, saved to /kept/t1-2.pdf]' },
      ],
    });
    expect(String(kept.get('t1-2.pdf'))).toBe('bytes');
  });

  it('their tools are declared only where a connected server has some', async () => {
    const none = await connected({ s: {} });
    expect(none.servers.declare({ windowTokens: 200_000 }).map(({ name }) => name)).toEqual([
      'mcp__s__look',
      'ToolSearch',
    ]);
    const some = await connected({ s: { resources } });
    const names = some.servers.declare({ windowTokens: 200_000 }).map(({ name }) => name);
    expect(names).toEqual(['ListMcpResourcesTool', 'ReadMcpResourceTool', 'mcp__s__look', 'ToolSearch']);
  });
});

describe('prompts', () => {
  const prompts = [
    { name: 'greet', description: 'Greets\nsomeone', arguments: [{ name: 'who', required: true }, { name: 'how' }] },
    { name: 'sing.it' },
    null as never,
  ];

  it('are slash commands', async () => {
    const bench = await connected({ 'my server': { prompts } });
    expect(bench.servers.prompts).toMatchObject([
      {
        name: 'mcp__my_server__greet',
        server: 'my server',
        description: 'Greets someone',
        argumentHint: '<who> [how]',
      },
      { name: 'mcp__my_server__sing_it', description: '', argumentHint: '' },
    ]);
  });

  it('take words as arguments, the last one all that is left', async () => {
    const asked: unknown[] = [];
    const bench = await connected({
      s: {
        prompts,
        async getPrompt(name, args) {
          asked.push([name, args]);
          return [{ role: 'user', content: { type: 'text', text: 'hi' } }];
        },
      },
    });
    const { signal } = new AbortController();
    expect(await bench.servers.expandPrompt('mcp__s__greet', '"Ada L" very  warmly', { signal })).toHaveLength(1);
    await bench.servers.expandPrompt('mcp__s__sing_it', 'x', { signal });
    expect(asked).toEqual([
      ['greet', { who: 'Ada L', how: 'very warmly' }],
      ['sing.it', {}],
    ]);
    await expect(bench.servers.expandPrompt('mcp__s__greet', '', { signal })).rejects.toThrow(
      'The argument who is missing.',
    );
    await expect(bench.servers.expandPrompt('mcp__s__none', '', { signal })).rejects.toThrow(
      'There is no command /mcp__s__none.',
    );
  });
});
