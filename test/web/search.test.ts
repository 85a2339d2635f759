import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { addSites, type Domains, isWanted, parseDomain } from '../../src/engine/web/domains.js';
import {
  defineBrave,
  defineSearxng,
  defineTavily,
  type Hit,
  readProviderHits,
  search,
  type SearchEngine,
  type SearchOptions,
} from '../../src/engine/web/search.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { closeServer, findClosedPort, listen, type Site, startSite, watchConnections } from './site.js';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
});

interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, unknown>;
  body: string;
}

type Answer =
  | string
  | { status?: number; headers?: Record<string, string>; body?: string }
  | { results: unknown }
  | { web: unknown };

/** What has neither a body nor a status is sent as JSON. */
const toPage = (answer: Answer) => {
  if (typeof answer === 'string') return { body: answer };
  return 'results' in answer || 'web' in answer ? { body: JSON.stringify(answer) } : answer;
};

/** A search service that writes down what it is asked. */
async function startService(answer: Answer): Promise<Site & { asked: Asked[] }> {
  const asked: Asked[] = [];
  const site = await startSite((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    const { method = '', headers } = request;
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      asked.push({ method, path: url.pathname, query: Object.fromEntries(url.searchParams), headers, body });
      const { status = 200, headers: extra = {}, body: text = '' } = toPage(answer);
      response.writeHead(status, extra).end(text);
    });
  });
  closing.push(site.close);
  return { ...site, asked };
}

const everywhere: Domains = { allowed: [], blocked: [] };

const find = (engine: SearchEngine, options: Partial<SearchOptions & { domains: Domains }> = {}): Promise<Hit[]> => {
  const { domains = everywhere, ...rest } = options;
  const signal = new AbortController().signal;
  return search(engine, { query: 'weaving looms', domains }, { env: {}, clock: systemClock, signal, ...rest });
};

const failure = (finding: Promise<unknown>): Promise<string> =>
  finding.then(
    (found) => `no error: ${JSON.stringify(found)}`,
    (error: Error) => error.message,
  );

const KEY = 'key-0123456789';

const ENGINES: [string, (origin: string) => SearchEngine][] = [
  ['SearXNG', (origin) => defineSearxng(origin.replace('//', `//me:${KEY}@`))],
  ['Brave Search', (origin) => defineBrave(KEY, `${origin}/res/v1/web/search`)],
  ['Tavily', (origin) => defineTavily(KEY, `${origin}/search`)],
];

describe('search services', () => {
  it('asks SearXNG', async () => {
    const service = await startService({
      results: [
        { title: 'One', url: 'https://a.example/1', content: 'first\n snippet', publishedDate: '2024-01-01' },
        { title: '', url: 'https://b.example/2', content: '' },
      ],
    });
    expect(await find(defineSearxng(`${service.origin}/sub/`))).toEqual([
      { title: 'One', url: 'https://a.example/1', snippet: 'first snippet', age: '2024-01-01' },
      { title: 'https://b.example/2', url: 'https://b.example/2' },
    ]);
    const [asked] = service.asked;
    expect(asked).toMatchObject({ method: 'GET', path: '/sub/search', query: { q: 'weaving looms', format: 'json' } });
    expect(asked?.headers.authorization).toBeUndefined();
  });

  it('logs in to SearXNG with what stands in its address', async () => {
    const service = await startService({ results: [] });
    await find(defineSearxng(service.origin.replace('//', '//me:p%40ss@')));
    expect(service.asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  });

  it('asks Brave', async () => {
    const service = await startService({
      web: {
        results: [
          {
            title: 'A &amp; B',
            url: 'https://a.example/',
            description: 'the <strong>loom</strong> &lt;x&gt;',
            age: '1d',
          },
        ],
      },
    });
    expect(await find(defineBrave(KEY, `${service.origin}/res/v1/web/search`))).toEqual([
      { title: 'A & B', url: 'https://a.example/', snippet: 'the loom <x>', age: '1d' },
    ]);
    const [asked] = service.asked;
    expect(asked).toMatchObject({ method: 'GET', path: '/res/v1/web/search', query: { q: 'weaving looms' } });
    expect(asked?.headers['x-subscription-token']).toBe(KEY);
  });

  it('asks Tavily', async () => {
    const service = await startService({ results: [{ title: 'T', url: 'https://a.example/', content: 'c' }] });
    const domains = { allowed: ['a.example'], blocked: [] };
    expect(await find(defineTavily(KEY, `${service.origin}/search`), { domains })).toEqual([
      { title: 'T', url: 'https://a.example/', snippet: 'c' },
    ]);
    const [asked] = service.asked;
    expect(asked?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(asked?.method).toBe('POST');
    expect(JSON.parse(asked?.body ?? '')).toEqual({
      query: 'weaving looms',
      max_results: 10,
      include_domains: ['a.example'],
    });
  });

  it('gives at most ten, only pages, and only from where they may come', async () => {
    const pages = Array.from({ length: 30 }, (_, i) => ({ title: `${i}`, url: `https://docs.a.example/${i}` }));
    const service = await startService({
      results: [
        { title: 'no', url: 'javascript:alert(1)' },
        { title: 'no', url: 'https://evil-a.example/' },
        { title: 'no', url: 'https://a.example.evil/' },
        { title: 'no' },
        null,
        'no',
        ...pages,
      ],
    });
    const hits = await find(defineSearxng(service.origin), { domains: { allowed: ['a.example'], blocked: [] } });
    expect(hits.map(({ title }) => title)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(service.asked[0]?.query.q).toBe('weaving looms site:a.example');
  });

  it('goes through a proxy', async () => {
    const heads: string[] = [];
    const server = createServer((socket) => {
      socket.once('data', (head) => {
        heads.push(head.toString().split('\r\n')[0] ?? '');
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
      });
    });
    const { open } = watchConnections(server);
    await listen(server);
    closing.push(() => closeServer(server, open));
    const { port } = server.address() as { port: number };
    const env = { HTTPS_PROXY: `http://127.0.0.1:${port}` };
    expect(await failure(find(defineBrave(KEY), { env }))).toMatch(/^The request to api\.search\.brave\.com failed/);
    expect(heads).toEqual(['CONNECT api.search.brave.com:443 HTTP/1.1']);
  });
});

describe.each(ENGINES)('%s that fails', (name, define) => {
  const fails = async (answer: Answer): Promise<string> => {
    const words = await failure(find(define((await startService(answer)).origin)));
    expect(words).not.toContain(KEY);
    return words;
  };

  it('because of the key, which is never shown', async () => {
    const words = await fails({ status: 401, body: `{"error": "bad key ${KEY}"}` });
    expect(words).toMatch(new RegExp(`^${name} refused the search \\(401\\)\\. The .* It said: .*bad key \\(key\\)`));
  });

  it('because of too many requests, or its own fault', async () => {
    expect(await fails({ status: 429, body: 'slow down' })).toMatch(/too many requests \(429\).*slow down$/);
    expect(await fails({ status: 500, body: '<h1>oops</h1>' })).toMatch(/answered with the error 500\. It said: oops$/);
  });

  it('with something that is not JSON', async () => {
    expect(await fails('<html>')).toMatch(/did not answer with JSON/);
    expect(await fails('[]')).toMatch(/did not answer with JSON/);
    expect(await fails('')).toMatch(/did not answer with JSON/);
  });

  it('with a redirect, which would carry the key away', async () => {
    const other = await startService({ results: [] });
    const words = await fails({ status: 302, headers: { location: `${other.origin}/` } });
    expect(words).toMatch(/redirects \(302\), which is not followed/);
    expect(other.asked).toEqual([]);
  });

  it('with too much', async () => {
    expect(await fails({ body: `{"x":"${'x'.repeat(1024 * 1024)}"}` })).toMatch(/larger than 1 MB/);
  });

  it('with results of another shape, which count as none', async () => {
    const service = await startService({ body: '{"results": {"a": 1}, "web": 3}' });
    expect(await find(define(service.origin))).toEqual([]);
  });

  it('by refusing the connection', async () => {
    const origin = `http://127.0.0.1:${await findClosedPort()}`;
    expect(await failure(find(define(origin)))).toMatch(/^127\.0\.0\.1 refuses connections on port/);
  });

  it('by silence for 20 s, or until nobody waits any more', async () => {
    const site = await startSite(() => {});
    closing.push(site.close);
    const clock = createFakeClock();
    const asked = site.nextRequest();
    const waiting = failure(find(define(site.origin), { clock }));
    await asked;
    clock.advance(20_000);
    expect(await waiting).toBe(`${name} did not answer within 20 s. Try again later.`);

    const controller = new AbortController();
    const again = site.nextRequest();
    const stopping = failure(find(define(site.origin), { clock, signal: controller.signal }));
    await again;
    controller.abort(new Error('enough'));
    expect(await stopping).toBe('enough');
    await site.quiet();
  });
});

it.each([
  [defineSearxng('nonsense'), 'SEARXNG_URL is not an http or https address. The user has to correct it.'],
  [defineBrave(KEY, 'ftp://x.example/'), 'BRAVE_API_URL is not an http or https address. The user has to correct it.'],
  [defineTavily(KEY, ''), 'TAVILY_API_URL is not an http or https address. The user has to correct it.'],
])('names a setting that is no address', async (engine, words) => expect(await failure(find(engine))).toBe(words));

describe('domains', () => {
  it.each([
    ['example.org', 'example.org'],
    [' Example.ORG. ', 'example.org'],
    ['https://docs.example.org/a?b#c', 'docs.example.org'],
    ['*.example.org', 'example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('%s means %s', (entry, host) => expect(parseDomain(entry)).toBe(host));

  it.each(['', ' ', 'a b', 'https://', 'me@example.org', '*', 'a.*.org'])('"%s" is none', (entry) =>
    expect(() => parseDomain(entry)).toThrow(/is not a domain/),
  );

  it('filter hosts and their subdomains', () => {
    const only: Domains = { allowed: ['a.example'], blocked: [] };
    const not: Domains = { allowed: [], blocked: ['a.example'] };
    const urls = [
      'https://a.example/',
      'http://x.A.example/y',
      'https://xa.example/',
      'https://a.example.b/',
      'ftp://a.example/',
      'x',
    ];
    expect(urls.map((url) => isWanted(url, only))).toEqual([true, true, false, false, false, false]);
    expect(urls.map((url) => isWanted(url, not))).toEqual([false, false, true, true, false, false]);
  });

  it('go into the query too', () => {
    expect(addSites('q', everywhere)).toBe('q');
    expect(addSites('q', { allowed: ['a', 'b'], blocked: [] })).toBe('q (site:a OR site:b)');
    expect(addSites('q', { allowed: [], blocked: ['a', 'b'] })).toBe('q -site:a -site:b');
  });
});

it.each([
  [
    [{ type: 'web_search_result', title: 'T', url: 'https://a.example/', page_age: 'May 1', encrypted_content: 'x' }],
    1,
  ],
  [{ type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }, 'max_uses_exceeded'],
  [null, 'unavailable'],
  ['text', 'unavailable'],
])('reads what a provider found: %j', (content, expected) => {
  const { hits, error } = readProviderHits(content);
  expect(error ?? hits.length).toBe(expected);
});
