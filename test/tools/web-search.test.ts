import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AsideCall } from '../../src/engine/aside-call.js';
import { createWebSearchTool } from '../../src/engine/tools/web-search.js';
import type { ContentBlock } from '../../src/protocol/index.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { type Site, startSite } from '../web/site.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
let sites: Site[];
beforeEach(() => {
  bench = createBench();
  bench.clock = createFakeClock();
  sites = [];
});
afterEach(async () => {
  await bench.close();
  await Promise.all(sites.map((site) => site.close()));
});

const nobody = (): Promise<ContentBlock[]> => Promise.reject(new Error('no model was to be asked'));

const hits = (...names: string[]): ContentBlock => ({
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: names.map((name) => ({
    type: 'web_search_result',
    title: name.toUpperCase(),
    url: `https://${name}.example/`,
    page_age: 'May 1, 2025',
    encrypted_content: 'secret',
  })),
});

const failed = (error_code: string): ContentBlock => ({
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: { type: 'web_search_tool_result_error', error_code },
});

const said = (text: string): ContentBlock => ({ type: 'text', text });

/** WebSearch by a provider that gives these blocks. */
function provide(blocks: ContentBlock[], env: Record<string, string> = {}) {
  const calls: AsideCall[] = [];
  const callAside = async (call: AsideCall): Promise<ContentBlock[]> => {
    calls.push(call);
    return blocks;
  };
  const tool = createWebSearchTool({ callAside, env, providerSearches: true });
  if (tool === undefined) throw new Error('no tool');
  return { calls, tool, search: (input: object) => bench.call(tool, { query: 'looms', ...input }) };
}

async function startSearxng(results: object[]): Promise<Site> {
  const site = await startSite(() => ({ body: JSON.stringify({ results }) }));
  sites.push(site);
  return site;
}

describe('WebSearch by the provider', () => {
  it('asks with the server tool, and lists what it found', async () => {
    const { calls, search } = provide([
      said("I'll search."),
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'looms' } },
      hits('a', 'b'),
      hits('b', 'c'),
      said(' Looms '),
      said('weave.'),
    ]);
    const { content, structured, isError } = await search({});
    expect(isError).toBeUndefined();
    expect(content).toBe(
      [
        'Web search results for query: "looms"',
        [
          '- A – https://a.example/ – May 1, 2025',
          '- B – https://b.example/ – May 1, 2025',
          '- C – https://c.example/ – May 1, 2025',
        ].join('\n'),
        "I'll search. Looms weave.",
        'In your answer, name the sources you use with their links.',
      ].join('\n\n'),
    );
    const hit = (name: string) => ({ title: name, url: `https://${name.toLowerCase()}.example/`, age: 'May 1, 2025' });
    expect(structured).toEqual({
      query: 'looms',
      results: [hit('A'), hit('B'), hit('C'), "I'll search. Looms weave."],
      durationSeconds: 0,
      searchCount: 2,
    });
    expect(calls[0]).toMatchObject({ purpose: 'web_search', prompt: 'Search the web for: looms' });
    expect(calls[0]?.tools).toEqual([{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }]);
  });

  it('passes domains on, and filters by them all the same', async () => {
    const { calls, search } = provide([hits('a', 'b')]);
    const { text } = await search({ allowed_domains: ['https://A.example/x'] });
    expect(calls[0]?.tools?.[0]).toMatchObject({ allowed_domains: ['a.example'] });
    expect(text).toContain('https://a.example/');
    expect(text).not.toContain('https://b.example/');
    const blocked = await search({ blocked_domains: ['a.example'] });
    expect(calls[1]?.tools?.[0]).toMatchObject({ blocked_domains: ['a.example'] });
    expect(blocked.text).not.toContain('https://a.example/');
  });

  it('says when nothing was found', async () => {
    const { text, isError } = await provide([hits()]).search({});
    expect(text).toBe('Web search results for query: "looms"\n\nNothing was found. Try other words.');
    expect(isError).toBeUndefined();
  });

  it('fails when every search failed, and not when only some did', async () => {
    const { text, isError } = await provide([failed('too_many_requests'), said('Sorry')]).search({});
    expect({ text, isError }).toEqual({
      text: 'The web search failed: too_many_requests. Ask for less at once, or try again later.',
      isError: true,
    });
    expect((await provide([hits('a'), failed('max_uses_exceeded')]).search({})).text).toContain('https://a.example/');
  });

  it('passes on why no model could be asked', async () => {
    const callAside = () => Promise.reject(new Error('The budget is spent.'));
    const tool = createWebSearchTool({ callAside, env: {}, providerSearches: true });
    if (tool === undefined) throw new Error('no tool');
    expect(await bench.call(tool, { query: 'looms' })).toMatchObject({ isError: true, text: 'The budget is spent.' });
  });
});

describe('WebSearch by a service', () => {
  it('lists titles, links and snippets', async () => {
    const site = await startSearxng([{ title: 'A', url: 'https://a.example/', content: 'all about looms' }]);
    const tool = createWebSearchTool({
      callAside: nobody,
      env: { SEARXNG_URL: site.origin },
      providerSearches: false,
    });
    if (tool === undefined) throw new Error('no tool');
    const { text, structured } = await bench.call(tool, { query: 'looms' });
    expect(text).toBe(
      'Web search results for query: "looms"\n\n- A – https://a.example/ – all about looms\n\nIn your answer, name the sources you use with their links.',
    );
    expect(structured).toEqual({
      query: 'looms',
      results: [{ title: 'A', url: 'https://a.example/', snippet: 'all about looms' }],
      durationSeconds: 0,
      searchCount: 1,
    });
    expect(tool.isReadOnly({ query: 'looms' }, { cwd: bench.cwd })).toBe(true);
  });

  it.each([
    [{}, undefined],
    [{ HEDDLE_SEARCH: 'searxng' }, undefined],
    [{ HEDDLE_SEARCH: 'bing', SEARXNG_URL: 'S' }, undefined],
    [{ HEDDLE_SEARCH: 'provider', SEARXNG_URL: 'S' }, undefined],
    [{ SEARXNG_URL: 'S', BRAVE_API_KEY: 'k', TAVILY_API_KEY: 'k' }, 'GET /search'],
    [{ BRAVE_API_KEY: 'k', TAVILY_API_KEY: 'k' }, 'GET /brave'],
    [{ TAVILY_API_KEY: 'k' }, 'POST /tavily'],
    [{ HEDDLE_SEARCH: 'tavily', SEARXNG_URL: 'S', BRAVE_API_KEY: 'k', TAVILY_API_KEY: 'k' }, 'POST /tavily'],
    [{ HEDDLE_SEARCH: 'brave', SEARXNG_URL: 'S', BRAVE_API_KEY: 'k' }, 'GET /brave'],
    [{ HEDDLE_SEARCH: '', SEARXNG_URL: 'S' }, 'GET /search'],
  ])('%j without a searching provider: %s', async (settings, expected) => {
    const site = await startSearxng([]);
    const env = {
      ...settings,
      ...('SEARXNG_URL' in settings && { SEARXNG_URL: site.origin }),
      BRAVE_API_URL: `${site.origin}/brave`,
      TAVILY_API_URL: `${site.origin}/tavily`,
    };
    const tool = createWebSearchTool({ callAside: nobody, env, providerSearches: false });
    if (tool !== undefined) await bench.call(tool, { query: 'looms' });
    expect(site.requests.map((request) => request.replace(/\?.*/, ''))).toEqual(
      expected === undefined ? [] : [expected],
    );
    expect(tool === undefined).toBe(expected === undefined);
  });

  it('is chosen over a searching provider only by name', async () => {
    const site = await startSearxng([]);
    const { calls, search } = provide([hits('a')], { SEARXNG_URL: site.origin });
    await search({});
    expect([calls.length, site.requests.length]).toEqual([1, 0]);
    const named = provide([hits('a')], { SEARXNG_URL: site.origin, HEDDLE_SEARCH: 'searxng' });
    await named.search({});
    expect([named.calls.length, site.requests.length]).toEqual([0, 1]);
  });
});

describe('WebSearch: input', () => {
  it.each([
    [
      { allowed_domains: ['a.example'], blocked_domains: ['b.example'] },
      /Give either `allowed_domains` or `blocked_domains`, not both/,
    ],
    [{ allowed_domains: ['not a domain'] }, /`not a domain` is not a domain\. Give a host such as example\.org/],
    [{ query: 'x' }, /`query` is not valid/],
  ])('refuses %j', async (input, words) => {
    const { calls, tool } = provide([]);
    await expect(tool.parse({ query: 'looms', ...input })).rejects.toThrow(words);
    await expect(tool.parse({ query: 'looms', ...input })).rejects.toThrow(/^InputValidationError: WebSearch failed/);
    expect(calls).toEqual([]);
  });

  it('takes an empty list for none', async () => {
    const { calls, search } = provide([hits('a')]);
    expect((await search({ allowed_domains: [], blocked_domains: ['b.example'] })).isError).toBeUndefined();
    expect(calls).toHaveLength(1);
  });
});
