import { connect, createServer, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { fetchPage, type FetchedPage, type FetchOptions, toPageUrl } from '../../src/engine/web/fetch-page.js';
import { readPrivateHosts } from '../../src/engine/web/private-hosts.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import {
  closeServer,
  createPublicWeb,
  createWatchedClock,
  findClosedPort,
  type Handler,
  listen,
  PUBLIC_ADDRESS,
  type Site,
  startSite,
  watchConnections,
} from './site.js';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  closing = [];
});

async function start(handler: Handler, options?: { secure?: boolean }): Promise<Site> {
  const site = await startSite(handler, options);
  closing.push(site.close);
  return site;
}

const startSecure = (handler: Handler): Promise<Site> => start(handler, { secure: true });

interface Visit extends Partial<Omit<FetchOptions, 'hosts'>> {
  /** HEDDLE_WEB_PRIVATE_HOSTS */
  open?: string;
}

const visit = async (address: string, { open, ...options }: Visit = {}) => {
  const hosts = readPrivateHosts(open);
  const signal = new AbortController().signal;
  return fetchPage(toPageUrl(address, hosts), { hosts, env: {}, clock: systemClock, signal, ...options });
};

const visitPage = async (address: string, options?: Visit): Promise<FetchedPage> => {
  const outcome = await visit(address, options);
  if (outcome.kind !== 'page') throw new Error(`redirected to ${outcome.to.href}`);
  return outcome;
};

const textOf = ({ bytes }: FetchedPage): string => new TextDecoder().decode(bytes);

/** The words of the error, or what came instead. */
const failure = (visiting: Promise<unknown>): Promise<string> =>
  visiting.then(
    (outcome) => `no error: ${JSON.stringify(outcome)}`,
    (error: Error) => error.message,
  );

describe('E5: addresses that are asked for', () => {
  const none = readPrivateHosts('');

  it.each([
    ['http://example.com/a?b=c#d', 'https://example.com/a?b=c'],
    ['http://EXAMPLE.com:80/', 'https://example.com/'],
    ['http://example.com:8080/', 'https://example.com:8080/'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
    ['HTTPS://Example.COM', 'https://example.com/'],
  ])('%s becomes %s', (address, url) => expect(toPageUrl(address, none).href).toBe(url));

  it('leaves http to hosts that the user opened', () => {
    const hosts = readPrivateHosts('127.0.0.1:8080');
    expect(toPageUrl('http://127.0.0.1:8080/', hosts).href).toBe('http://127.0.0.1:8080/');
    expect(toPageUrl('http://127.0.0.1:8081/', hosts).href).toBe('https://127.0.0.1:8081/');
  });

  it.each([
    ['ftp://example.com/', /Only http and https addresses are fetched, not ftp:/],
    ['file:///etc/passwd', /not file:/],
    ['javascript:alert(1)', /not javascript:/],
    ['data:text/html,x', /not data:/],
    ['https://user:pass@example.com/', /must not hold a user name or a password/],
    ['https://user@example.com/', /must not hold a user name or a password/],
    [`https://example.com/${'x'.repeat(8000)}`, /longer than 8000 characters/],
    ['nonsense', /not a web address: nonsense/],
    ['https://1.2.3.4.5/', /not a web address/],
  ])('refuses %.40s', (address, words) => expect(() => toPageUrl(address, none)).toThrow(words));
});

describe('E5: the address that is connected to', () => {
  it('fetches a public page over https', async () => {
    const site = await startSecure(() => '<p>hello');
    const web = createPublicWeb(site);
    const page = await visitPage('http://example.com/a', { effects: web });
    expect({ ...page, url: page.url.href, bytes: textOf(page) }).toEqual({
      kind: 'page',
      url: 'https://example.com/a',
      status: 200,
      statusText: 'OK',
      contentType: 'text/html; charset=utf-8',
      bytes: '<p>hello',
      retryAfter: null,
    });
    expect(web.looked).toEqual(['example.com']);
    expect(web.opened).toEqual([`${PUBLIC_ADDRESS} 443`]);
    await site.quiet();
  });

  it.each([
    'http://127.0.0.1:PORT/',
    'https://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.1:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://localhost:PORT/',
    'http://x.localhost:PORT/',
    'http://metadata.google.internal/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://0.0.0.0:PORT/',
  ])('refuses %s without a connection', async (address) => {
    const site = await start(() => 'secret');
    const web = createPublicWeb(site, [['127.0.0.1']]);
    const words = await failure(visit(address.replace('PORT', String(site.port)), { effects: web }));
    expect(words).toMatch(/which WebFetch does not visit\. The user can allow it with HEDDLE_WEB_PRIVATE_HOSTS=/);
    expect([web.opened, site.requests]).toEqual([[], []]);
  });

  it('refuses a name as soon as one of its addresses is private', async () => {
    const site = await startSecure(() => 'secret');
    const web = createPublicWeb(site, [[PUBLIC_ADDRESS, '10.0.0.7']]);
    expect(await failure(visit('https://example.com/', { effects: web }))).toMatch(
      /^example\.com leads to a private address \(10\.0\.0\.7, private\)/,
    );
    expect(web.opened).toEqual([]);
  });

  it('looks a name up once, and connects to what was judged (DNS rebinding)', async () => {
    const site = await startSecure(({ url }) =>
      url === '/a' ? { status: 302, headers: { location: '/b' } } : 'secret',
    );
    const web = createPublicWeb(site, [[PUBLIC_ADDRESS], ['127.0.0.1']]);
    expect(await failure(visit('https://example.com/a', { effects: web }))).toMatch(/leads to a private address/);
    // The answer for the first hop was not used for the second, nor the second one for the first.
    expect(web.opened).toEqual([`${PUBLIC_ADDRESS} 443`]);
    expect(site.requests).toEqual(['GET /a']);
  });

  it('visits a private host that the user opened, over http too', async () => {
    const site = await start(() => 'inside');
    expect(textOf(await visitPage(`${site.origin}/`, { open: site.host }))).toBe('inside');
    const other = await start(() => 'other');
    expect(await failure(visit(`${other.origin}/`, { open: site.host }))).toMatch(/does not visit/);
    expect(other.requests).toEqual([]);
  });

  it('tries each address of a host until one answers', async () => {
    const site = await start(() => 'inside');
    const lookup = async () => ['::1', '127.0.0.1'];
    const page = await visitPage(`http://intranet.example:${site.port}/`, {
      open: 'intranet.example',
      effects: { lookup },
    });
    expect(textOf(page)).toBe('inside');
  });

  it('sends no cookies and no credentials, and says who it is', async () => {
    const site = await start(({ headers }) => ({ body: JSON.stringify(headers), headers: { 'set-cookie': 'a=b' } }));
    const headers = JSON.parse(textOf(await visitPage(`${site.origin}/`, { open: site.host }))) as object;
    expect(headers).toMatchObject({ 'user-agent': expect.stringMatching(/^Heddle\/\d/) });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['cookie']));
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['authorization']));
  });
});

describe('E5: redirects', () => {
  const redirect = (location: string, status = 302) => ({ status, headers: { location } });

  it.each([301, 302, 303, 307, 308])('follows %i within the host', async (status) => {
    const site = await startSecure(({ url }) => (url === '/b' ? 'there' : redirect('/b#x', status)));
    const page = await visitPage('https://example.com/a', { effects: createPublicWeb(site) });
    expect([page.url.href, textOf(page)]).toEqual(['https://example.com/b', 'there']);
  });

  it('follows to www. and back, each hop judged', async () => {
    const site = await startSecure(({ headers, url }) => {
      if (url === '/end') return 'there';
      return redirect(headers.host === 'example.com' ? 'https://www.example.com/' : 'https://example.com/end');
    });
    const web = createPublicWeb(site);
    expect((await visitPage('https://example.com/', { effects: web })).url.href).toBe('https://example.com/end');
    expect(web.looked).toEqual(['example.com', 'www.example.com', 'example.com']);
  });

  it.each([
    'https://example.org/x',
    'https://sub.example.com/',
    'https://example.com:8443/',
    'http://example.org/',
    'http://169.254.169.254/latest',
    'https://example.com.evil.example/',
  ])('does not follow to %s', async (location) => {
    const site = await startSecure(() => redirect(location, 301));
    const web = createPublicWeb(site);
    const outcome = await visit('https://example.com/a', { effects: web });
    expect(outcome).toMatchObject({ kind: 'redirect', status: 301, statusText: 'Moved Permanently' });
    expect(outcome.kind === 'redirect' && outcome.to.href).toBe(location);
    expect([site.requests, web.looked]).toEqual([['GET /a'], ['example.com']]);
  });

  it('does not follow from one open port to another of the same machine', async () => {
    const inner = await start(() => 'secret');
    const site = await start(() => redirect(`${inner.origin}/`));
    expect(await visit(`${site.origin}/`, { open: site.host })).toMatchObject({ kind: 'redirect' });
    expect(inner.requests).toEqual([]);
  });

  it.each([
    ['http://example.com/', /redirects from https to http, which is not followed/],
    ['http://www.example.com/', /redirects from https to http/],
    ['file:///etc/passwd', /Only http and https/],
    ['https://user:pass@example.com/', /user name or a password/],
    ['', /redirects \(302\) without saying where to/],
    ['https://1.2.3.4.5/', /without saying where to/],
  ])('refuses a redirect to "%s"', async (location, words) => {
    const site = await startSecure(() => redirect(location));
    expect(await failure(visit('https://example.com/', { effects: createPublicWeb(site) }))).toMatch(words);
    expect(site.requests).toHaveLength(1);
  });

  it('ends a loop after ten redirects', async () => {
    const site = await startSecure(({ url }) => redirect(url === '/a' ? '/b' : '/a'));
    expect(await failure(visit('https://example.com/a', { effects: createPublicWeb(site) }))).toBe(
      'example.com redirected more than 10 times. The address leads nowhere.',
    );
    expect(site.requests).toHaveLength(11);
    await site.quiet();
  });
});

describe('limits of a fetch', () => {
  const tooLarge = /is larger than 10 MB\. It was not read\.$/;

  it('ends an endless body', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const site = await start((_, response) => {
      const pour = () => {
        while (response.write(chunk));
      };
      response.on('drain', pour);
      pour();
    });
    expect(await failure(visit(`${site.origin}/`, { open: site.host }))).toMatch(tooLarge);
    await site.quiet();
  });

  it('does not begin a body that is announced as too large', async () => {
    const site = await start((_, response) => {
      response.writeHead(200, { 'content-length': 11 * 1024 * 1024 });
      response.flushHeaders();
    });
    expect(await failure(visit(`${site.origin}/`, { open: site.host }))).toMatch(tooLarge);
    await site.quiet();
  });

  it('counts after decompression (gzip bomb)', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const site = await start(() => ({ body: bomb, headers: { 'content-encoding': 'gzip' } }));
    expect(bomb.byteLength).toBeLessThan(100_000);
    expect(await failure(visit(`${site.origin}/`, { open: site.host }))).toMatch(tooLarge);
    const twice = await start(() => ({ body: gzipSync(bomb), headers: { 'content-encoding': 'gzip, gzip' } }));
    expect(await failure(visit(`${twice.origin}/`, { open: twice.host }))).toMatch(/compressed more than once/);
  });

  it('takes a compressed page, and exactly 10 MB', async () => {
    const body = gzipSync(Buffer.alloc(10 * 1024 * 1024, 'x'));
    const site = await start(() => ({ body, headers: { 'content-encoding': 'gzip' } }));
    expect((await visitPage(`${site.origin}/`, { open: site.host })).bytes.byteLength).toBe(10 * 1024 * 1024);
  });

  it('gives the head of an error page, however long', async () => {
    const site = await start(() => ({ status: 500, body: Buffer.alloc(1024 * 1024, 'x') }));
    const page = await visitPage(`${site.origin}/`, { open: site.host });
    expect([page.status, page.bytes.byteLength]).toEqual([500, 64 * 1024]);
  });

  it('waits 30 s for an answer', async () => {
    const site = await start(() => {});
    const clock = createFakeClock();
    const asked = site.nextRequest();
    const visiting = failure(visit(`${site.origin}/`, { open: site.host, clock }));
    await asked;
    clock.advance(30_000);
    expect(await visiting).toBe(`${site.host} did not answer within 30 s. Try again later, or use another source.`);
    await site.quiet();
    expect(clock.pending).toEqual([]);
  });

  it('waits 30 s for a name server and for a connection', async () => {
    const clock = createFakeClock();
    const never = new Promise<string[]>(() => {});
    const looking = failure(visit('https://example.com/', { clock, effects: { lookup: () => never } }));
    await clock.armed(2);
    clock.advance(30_000);
    expect(await looking).toMatch(/^example\.com did not answer within 30 s/);

    const opened = Promise.withResolvers<Socket>();
    const web = createPublicWeb({ port: 0 });
    // A socket that is never connected to anything.
    const open = () => {
      const socket = new Socket();
      opened.resolve(socket);
      return socket;
    };
    const connecting = failure(visit('https://example.com/', { clock, effects: { ...web, open } }));
    const socket = await opened.promise;
    clock.advance(30_000);
    expect(await connecting).toMatch(/^example\.com did not answer within 30 s/);
    expect(socket.destroyed).toBe(true);
  });

  it('waits 60 s in all', async () => {
    const site = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('slow');
    });
    const { clock, cancelled } = createWatchedClock(30_000);
    const visiting = failure(visit(`${site.origin}/`, { open: site.host, clock }));
    await cancelled;
    clock.advance(60_000);
    expect(await visiting).toMatch(/took longer than 60 s in all/);
    await site.quiet();
  });

  it('ends with its signal, before and after the headers', async () => {
    const site = await start(({ url }, response) => {
      if (url === '/body') response.writeHead(200).write('begun');
    });
    for (const path of ['/headers', '/body']) {
      const controller = new AbortController();
      const { clock, cancelled } = createWatchedClock(30_000);
      const asked = site.nextRequest();
      const visiting = failure(visit(`${site.origin}${path}`, { open: site.host, clock, signal: controller.signal }));
      await asked;
      if (path === '/body') await cancelled;
      controller.abort(new Error('enough'));
      expect(await visiting).toBe('enough');
      await site.quiet();
    }
    expect(
      await failure(visit(`${site.origin}/`, { open: site.host, signal: AbortSignal.abort(new Error('no')) })),
    ).toBe('no');
  });
});

describe('failures of a fetch', () => {
  it('names a host that cannot be found', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    expect(await failure(visit('https://nowhere.example/', { effects: { lookup } }))).toBe(
      'The host nowhere.example cannot be found (ENOTFOUND). Check the spelling of the address.',
    );
    expect(await failure(visit('https://nowhere.example/', { effects: { lookup: async () => [] } }))).toMatch(
      /has no address/,
    );
  });

  it('names a port that refuses', async () => {
    const port = await findClosedPort();
    expect(await failure(visit(`http://127.0.0.1:${port}/`, { open: '127.0.0.1' }))).toBe(
      `127.0.0.1 refuses connections on port ${port}. Check the address, or try again later.`,
    );
  });

  it('does not trust a certificate that nobody vouches for', async () => {
    const site = await startSecure(() => 'secret');
    const { ca: _, ...web } = createPublicWeb(site);
    expect(await failure(visit('https://example.com/', { effects: web }))).toMatch(
      /^No safe connection \(TLS\) to example\.com on port 443: \w*SELF_SIGNED\w*\./,
    );
    expect(site.requests).toEqual([]);
  });

  it('does not trust a certificate of another name', async () => {
    const site = await startSecure(() => 'secret');
    expect(await failure(visit('https://example.net/', { effects: createPublicWeb(site) }))).toMatch(
      /TLS\) to example\.net on port 443: ERR_TLS_CERT_ALTNAME_INVALID/,
    );
    expect(site.requests).toEqual([]);
  });

  it('says so when https meets a server of plain http', async () => {
    const site = await start(() => 'plain');
    expect(await failure(visit('https://example.com/', { effects: createPublicWeb(site) }))).toMatch(
      /seems to speak plain http/,
    );
  });

  it('notices a body that breaks off, and one that is not what it says', async () => {
    const site = await start(({ url }, response) => {
      if (url === '/bad') return { body: 'not gzip', headers: { 'content-encoding': 'gzip' } };
      response.writeHead(200, { 'content-length': 100 }).write('part');
      response.socket?.end();
    });
    expect(await failure(visit(`${site.origin}/cut`, { open: site.host }))).toMatch(
      /closed the connection before its answer was complete/,
    );
    expect(await failure(visit(`${site.origin}/bad`, { open: site.host }))).toMatch(/incorrect header check/);
  });

  it('notices what is not HTTP', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-x\r\n'));
    const { open } = watchConnections(server);
    await listen(server);
    closing.push(() => closeServer(server, open));
    const { port } = server.address() as { port: number };
    expect(await failure(visit(`http://127.0.0.1:${port}/`, { open: '127.0.0.1' }))).toMatch(
      /^The request to 127\.0\.0\.1 failed: /,
    );
  });
});

describe('a proxy', () => {
  /** Passes every connection on to one site. */
  async function startProxy(site: Site): Promise<{ env: Record<string, string>; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((socket) => {
      socket.once('data', (head) => {
        asked.push(head.toString().split('\r\n')[0] ?? '');
        const upstream = connect(site.port, '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          socket.pipe(upstream).pipe(socket);
        });
        socket.once('close', () => upstream.destroy());
        upstream.on('error', () => socket.destroy());
      });
    });
    const { open } = watchConnections(server);
    await listen(server);
    closing.push(() => closeServer(server, open));
    const { port } = server.address() as { port: number };
    return { env: { HTTPS_PROXY: `http://127.0.0.1:${port}` }, asked };
  }

  it('makes the connection', async () => {
    const site = await startSecure(() => 'through');
    const { env, asked } = await startProxy(site);
    const web = createPublicWeb(site);
    expect(textOf(await visitPage('https://example.com/', { env, effects: web }))).toBe('through');
    expect(asked).toEqual(['CONNECT example.com:443 HTTP/1.1']);
    expect([web.looked, web.opened]).toEqual([['example.com'], []]);
    await site.quiet();
  });

  it('E5: is not asked for a name that leads to a private address, at any hop', async () => {
    const site = await startSecure(() => ({ status: 302, headers: { location: '/b' } }));
    const { env, asked } = await startProxy(site);
    const web = createPublicWeb(site, [[PUBLIC_ADDRESS], [PUBLIC_ADDRESS, '127.0.0.1']]);
    expect(await failure(visit('https://example.com/a', { env, effects: web }))).toMatch(
      /^example\.com leads to a private address \(127\.0\.0\.1, loopback\), which WebFetch does not visit/,
    );
    expect([asked.length, site.requests]).toEqual([1, ['GET /a']]);
  });

  it('is asked where only it can resolve the name, and for hosts that the user opened', async () => {
    const site = await startSecure(() => 'through');
    const { env, asked } = await startProxy(site);
    const effects = { ...createPublicWeb(site), lookup: () => Promise.reject(new Error('ENOTFOUND')) };
    expect(textOf(await visitPage('https://example.com/', { env, effects }))).toBe('through');
    const inner = createPublicWeb(site, [['10.0.0.1']]);
    expect(textOf(await visitPage('https://example.com/', { env, effects: inner, open: 'example.com' }))).toBe(
      'through',
    );
    expect([asked.length, inner.looked]).toEqual([2, []]);
  });

  it('is asked after 3 s without an answer of the name server', async () => {
    const site = await startSecure(() => 'through');
    const { env } = await startProxy(site);
    const clock = createFakeClock();
    const effects = { ...createPublicWeb(site), lookup: () => new Promise<string[]>(() => {}) };
    const visiting = visitPage('https://example.com/', { env, effects, clock });
    await clock.armed(3);
    clock.advance(3_000);
    expect(textOf(await visiting)).toBe('through');
    expect(clock.pending).toEqual([]);
  });

  it.each(['https://127.0.0.1/', 'https://[::1]/', 'http://169.254.169.254/', 'https://localhost/'])(
    'E5: is not asked for %s',
    async (address) => {
      const site = await startSecure(() => 'secret');
      const { env, asked } = await startProxy(site);
      expect(await failure(visit(address, { env }))).toMatch(/does not visit/);
      expect(asked).toEqual([]);
    },
  );

  it('is left out where NO_PROXY says so, and then the addresses are judged', async () => {
    const site = await startSecure(() => 'direct');
    const { env, asked } = await startProxy(site);
    const web = createPublicWeb(site, [['10.0.0.1']]);
    const visiting = visit('https://example.com/', { env: { ...env, NO_PROXY: 'example.com' }, effects: web });
    expect(await failure(visiting)).toMatch(/leads to a private address/);
    expect(asked).toEqual([]);
  });
});
