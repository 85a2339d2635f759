import { describe, expect, it } from 'vitest';
import {
  firstLine,
  listTools,
  planCatalogue,
  readSearchChoice,
  toolTokens,
} from '../../../src/engine/mcp/catalogue.js';
import { searchTools } from '../../../src/engine/mcp/search.js';
import { createToolSearchTool } from '../../../src/engine/tools/tool-search.js';
import type { Tool } from '../../../src/protocol/index.js';
import { type Bench, connected, createBench, fakeLink, named, remote, statusOf, toCall, tool } from './kit.js';

const ours = (name: string, description = ''): Tool => ({
  name,
  description,
  inputSchema: { type: 'object' },
  run: async () => ({ content: '' }),
});

const WINDOW = { windowTokens: 200_000 };
const many = (count: number) =>
  Array.from({ length: count }, (_, at) => tool(`t${at}`, { description: 'x'.repeat(1_000) }));

describe('readSearchChoice', () => {
  it.each([
    [undefined, { mode: 'auto', percent: 10 }],
    ['auto', { mode: 'auto', percent: 10 }],
    ['auto:3', { mode: 'auto', percent: 3 }],
    ['auto:101', { mode: 'auto', percent: 10 }],
    ['true', { mode: 'true', percent: 0 }],
    [' FALSE ', { mode: 'false', percent: 100 }],
    ['nonsense', { mode: 'auto', percent: 10 }],
  ])('%j', (text, choice) => expect(readSearchChoice(text)).toEqual(choice));
});

describe('planCatalogue', () => {
  const tools = [ours('mcp__s__b', 'x'.repeat(4_000)), ours('mcp__s__a')];
  const names = (list: readonly Tool[]) => list.map(({ name }) => name);

  it.each([
    ['auto', 20_000, ['mcp__s__a', 'mcp__s__b'], []],
    ['auto', 10_000, [], ['mcp__s__a', 'mcp__s__b']],
    ['true', 1_000_000, [], ['mcp__s__a', 'mcp__s__b']],
    ['false', 10, ['mcp__s__a', 'mcp__s__b'], []],
  ] as const)('%s with a window of %i tokens', (mode, windowTokens, declared, deferred) => {
    const plan = planCatalogue(tools, { mode, windowTokens });
    expect(names(plan.declared)).toEqual(declared);
    expect(names(plan.deferred)).toEqual(deferred);
  });

  it('a tenth of the window is not too much yet', () => {
    const tokens = toolTokens(tools);
    expect(planCatalogue(tools, { mode: 'auto', windowTokens: tokens * 10 }).deferred).toEqual([]);
    expect(planCatalogue(tools, { mode: 'auto', windowTokens: tokens * 10 - 10 }).deferred).toHaveLength(2);
  });

  it('names come with a line, then alone, then only counted', () => {
    const list = [ours('mcp__s__a', 'Does a.\nMore.'), ours('mcp__s__b'), ours('Other')];
    expect(listTools(list, 200_000)).toBe('mcp__s__a: Does a.\nmcp__s__b\nOther');
    expect(listTools(list, 350)).toBe('mcp__s__a\nmcp__s__b\nOther');
    expect(listTools(list, 10)).toBe('mcp__s__*: 2 tools\nOther');
    expect(firstLine('x'.repeat(300))).toHaveLength(120);
  });
});

describe('searchTools', () => {
  const tools = [
    ours('mcp__git__create_issue', 'Creates an issue in a repository'),
    ours('mcp__git__listPulls', 'Lists pull requests'),
    ours('mcp__mail__send', 'Sends a message; may create a draft'),
  ];
  const found = (query: string, max = 5) => searchTools(tools, query, max).tools.map(({ name }) => name);

  it.each([
    ['create', ['mcp__git__create_issue', 'mcp__mail__send']],
    ['git pulls', ['mcp__git__listPulls', 'mcp__git__create_issue']],
    ['+mail create', ['mcp__mail__send']],
    ['nothing', []],
    ['?!', []],
    ['select:mcp__mail__send, mcp__git__listPulls', ['mcp__mail__send', 'mcp__git__listPulls']],
    ['select:MCP__MAIL__SEND,mail__send,send', ['mcp__mail__send']],
  ])('%s', (query, names) => expect(found(query)).toEqual(names));

  it('says which of the named ones are not there, and gives no more than is asked', () => {
    expect(searchTools(tools, 'select:send,none', 5).missing).toEqual(['none']);
    expect(found('a', 1)).toHaveLength(1);
  });
});

describe('what is declared', () => {
  const declared = ({ servers }: Bench) => JSON.stringify(servers.declare(WINDOW));
  const news = ({ servers }: Bench) => servers.takeNews(WINDOW);

  it('a server that comes late leaves the declared tools as they are; its tools are told of and found', async () => {
    const gate = Promise.withResolvers<void>();
    const late = fakeLink({ tools: [tool('send')] });
    const bench = createBench({ s: {}, mail: () => gate.promise.then(() => late) });
    void bench.servers.set(
      new Map([
        ['s', remote()],
        ['mail', remote()],
      ]),
    );
    await bench.until(() => statusOf(bench, 's')?.status === 'connected');
    const first = declared(bench);
    expect(bench.servers.declare(WINDOW).map(({ name }) => name)).toEqual(['mcp__s__look', 'ToolSearch']);
    expect(news(bench)).toContain('still connecting: mail');
    expect(news(bench)).toBeUndefined();
    const search = named(bench.servers.declare(WINDOW), 'ToolSearch');
    const { context } = toCall();
    const looking = search.run({ query: 'send', max_results: 5 }, context);
    // It waits for the server; here nobody moves the clock but the test.
    await bench.clock.armed(2);
    bench.clock.advance(10_000);
    expect((await looking).content).toContain('still connecting, their tools may follow: mail');
    gate.resolve();
    await bench.until(() => statusOf(bench, 'mail')?.status === 'connected');
    expect(declared(bench)).toBe(first);
    expect(news(bench)).toMatch(/ToolSearch.*\nmcp__mail__send: Does send$/);
    expect(news(bench)).toBeUndefined();
    const output = await search.run({ query: 'select:mcp__mail__send', max_results: 5 }, context);
    expect(output.structured).toEqual({
      matches: ['mcp__mail__send'],
      query: 'select:mcp__mail__send',
      total_deferred_tools: 1,
    });
    expect(JSON.parse(output.content as string)).toEqual({
      name: 'mcp__mail__send',
      description: 'Does send',
      input_schema: { type: 'object', properties: { text: { type: 'string' } } },
    });
    const sent = await bench.servers.find('mcp__mail__send')?.run({ text: 'x' }, context);
    expect(sent).toMatchObject({ content: [{ text: 'did send' }] });
    expect(late.calls).toEqual([{ tool: 'send', input: { text: 'x' } }]);
  });

  it('tools that change, go and come back are told of; what is declared stays', async () => {
    const bench = await connected({ s: { tools: [tool('a'), tool('b')] } });
    const first = declared(bench);
    bench.links[0]?.change('tools', { tools: [tool('a', { description: 'Other' })] });
    expect(news(bench)).toBe(
      'The definitions of these tools have changed. Get them again with ToolSearch before you call them:\nmcp__s__a: Other\n\n' +
        'These tools are not there any more:\nmcp__s__b',
    );
    const search = named(bench.servers.declare(WINDOW), 'ToolSearch');
    expect((await search.run({ query: 'other', max_results: 5 }, toCall().context)).content).toContain(
      '"description":"Other"',
    );
    bench.links[0]?.change('tools', { tools: [tool('a', { description: 'Other' }), tool('b')] });
    expect(news(bench)).toBe('These tools are there again:\nmcp__s__b: Does b');
    expect(declared(bench)).toBe(first);
  });

  it('too many are deferred: only ToolSearch is declared, and they are named once', async () => {
    const bench = await connected({ s: { tools: many(100) } });
    expect(bench.servers.declare(WINDOW).map(({ name }) => name)).toEqual(['ToolSearch']);
    expect(news(bench)?.split('\n')).toHaveLength(101);
    expect(news(bench)).toBeUndefined();
    bench.servers.retell();
    expect(news(bench)?.split('\n')).toHaveLength(101);
    expect(await bench.servers.find('mcp__s__t7')?.run({}, toCall().context)).toMatchObject({
      content: [{ text: 'did t7' }],
    });
  });

  it.each([
    ['false', 100],
    ['true', 0],
    ['auto', 0],
    ['auto:50', 100],
  ])('ENABLE_TOOL_SEARCH=%s declares %i of 100', async (toolSearch, count) => {
    const bench = await connected({ s: { tools: many(100) } }, { toolSearch });
    const names = bench.servers.declare(WINDOW).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('mcp__'))).toHaveLength(count);
    expect(names.includes('ToolSearch')).toBe(toolSearch !== 'false');
  });

  it.each([{ toolSearch: 'false' }, { hasSearch: false }])(
    'without ToolSearch %j what comes late is declared at the next turn',
    async (parts) => {
      const bench = await connected({ s: {} }, parts);
      expect(bench.servers.declare(WINDOW).map(({ name }) => name)).toEqual(['mcp__s__look']);
      await bench.servers.set(
        new Map([
          ['s', remote()],
          ['o', remote()],
        ]),
      );
      expect(bench.servers.declare(WINDOW).map(({ name }) => name)).toEqual(['mcp__o__look', 'mcp__s__look']);
      expect(news(bench)).toBeUndefined();
      await bench.servers.toggle('o', false);
      expect(bench.servers.declare(WINDOW)).toHaveLength(2);
    },
  );

  it('of servers of the host alone, whose tools are all known, no ToolSearch is declared', async () => {
    const bench = createBench({});
    const manifest = { initializeResult: {}, toolsListResult: { tools: [tool('a')] } };
    await bench.servers.set(new Map([['app', { exchange: async () => undefined, manifest }]]));
    expect(bench.servers.declare(WINDOW).map(({ name }) => name)).toEqual(['mcp__app__a']);
  });
});

describe('ToolSearch', () => {
  it('says that nothing was found, and what is not there', async () => {
    const search = createToolSearchTool({
      arrived: async () => {},
      search: (query) => ({ tools: [], missing: query.startsWith('select') ? ['x'] : [], hidden: 3, pending: [] }),
    });
    const { context } = toCall();
    expect((await search.run({ query: 'q', max_results: 5 }, context)).content).toBe(
      'No tool matches. 3 can be found: try other words.',
    );
    expect((await search.run({ query: 'select:x', max_results: 5 }, context)).content).toBe(
      'There is no tool named x.',
    );
    expect(await search.parse({ query: 'q' })).toEqual({ query: 'q', max_results: 5 });
  });
});
