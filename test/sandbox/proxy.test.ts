import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDomains } from '../../src/engine/sandbox/domains.js';
import { type Proxy, type ProxyOptions, startProxy } from '../../src/engine/sandbox/proxy.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
let server: Server;
let port: number;
let proxies: Proxy[];
let seen: IncomingMessage[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-proxy-'));
  proxies = [];
  seen = [];
  server = createHttpServer((request, response) => {
    seen.push(request);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      if (request.url === '/parts') response.write('first ');
      response.end(`${request.method} ${request.url} ${request.headers.host} ${body}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  server.closeAllConnections();
  server.close();
  removeFolder(folder);
});

const allowed = ['ok.example', '*.ok.example', '127.0.0.1'];

async function start(options: Partial<ProxyOptions> = {}): Promise<string> {
  const path = join(folder, String(proxies.length));
  const proxy = await startProxy(path, {
    domains: createDomains({ allowedDomains: allowed }),
    clock: systemClock,
    lookup: () => Promise.resolve(['127.0.0.1']),
    ...options,
  });
  proxies.push(proxy);
  return path;
}

/** Sends each part when the answer to the one before has begun; gives all that comes back. */
async function talk(path: string, ...parts: (string | Buffer)[]): Promise<Buffer> {
  const socket = connect({ path, allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  for (const [at, part] of parts.entries()) {
    const count = chunks.length;
    socket.write(part);
    if (at < parts.length - 1) while (chunks.length === count) await once(socket, 'data');
  }
  socket.once('end', () => socket.end());
  await ended;
  return Buffer.concat(chunks);
}

const text = async (path: string, ...parts: string[]): Promise<string> => (await talk(path, ...parts)).toString();

const page = (host: string): string =>
  `GET http://${host}:${port}/page?x=1 HTTP/1.1\r\nHost: forged.example\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n`;

const byName = (name: string): Buffer =>
  Buffer.from([5, 1, 0, 3, name.length, ...Buffer.from(name), port >> 8, port & 0xff]);

const hello = Buffer.from([5, 1, 0]);

describe('plain http', () => {
  it('is passed on, to the host that was judged and no other', async () => {
    const answer = await text(await start(), page('ok.example'));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain(`GET /page?x=1 ok.example:${port}`);
    expect(seen[0]?.headers).not.toHaveProperty('proxy-connection');
  });

  it('carries bodies', async () => {
    const head = `POST http://ok.example:${port}/ HTTP/1.1\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`;
    expect(await text(await start(), `${head}body`)).toContain(`POST / ok.example:${port} body`);
  });

  it('comes back in parts when it is sent in parts', async () => {
    const answer = await text(await start(), page('ok.example').replace('/page?x=1', '/parts'));
    expect(answer).toMatch(/Transfer-Encoding: chunked[\s\S]*first [\s\S]*GET \/parts/i);
  });

  it('is given up when the client goes away', async () => {
    server.removeAllListeners('request');
    const lost = new Promise<void>((resolve) => {
      server.on('request', (request) => {
        request.socket.once('close', () => resolve());
        socket.destroy();
      });
    });
    const socket = connect(await start());
    socket.write(page('ok.example'));
    await lost;
  });

  it('is judged anew for every request of a connection', async () => {
    const first = page('ok.example').replaceAll(/(?:Proxy-)?Connection: close\r\n/g, '');
    const answer = await text(await start(), first, page('evil.example'));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*HTTP\/1\.1 403 Forbidden\r\n/);
    expect(seen).toHaveLength(1);
  });

  it.each(['/page', 'https://ok.example/', 'ftp://ok.example/', 'http://'])('refuses %s', async (url) => {
    const answer = await text(await start(), `GET ${url} HTTP/1.1\r\nHost: ok.example\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(seen).toEqual([]);
  });

  it('that is no http at all ends the connection', async () => {
    expect(await text(await start(), '\x16\x03\x01 nonsense\r\n\r\n')).toBe('');
  });
});

describe('tunnels', () => {
  const inner = 'GET /in HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n\r\n';

  it('lead to allowed hosts', async () => {
    const answer = await text(await start(), `CONNECT sub.ok.example:${port} HTTP/1.1\r\n\r\n`, inner);
    expect(answer).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*GET \/in inner/);
  });

  it('carry what was sent too early', async () => {
    expect(await text(await start(), `CONNECT ok.example:${port} HTTP/1.1\r\n\r\n${inner}`)).toContain('GET /in inner');
  });

  it.each([
    'evil.example:443',
    'ok.example',
    'ok.example:0',
    'ok.example:99999',
    '[::1]:443',
    'ok.example.:x',
    '0x7f.1:443',
  ])('do not lead to %s', async (target) => {
    const domains = createDomains({ allowedDomains: ['ok.example'] });
    expect(await text(await start({ domains }), `CONNECT ${target} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  it('end on both sides when one ends', async () => {
    const lost = new Promise<Socket>((resolve) => {
      server.on('connection', (socket) => socket.once('close', () => resolve(socket)));
    });
    const socket = connect(await start());
    socket.write(`CONNECT ok.example:${port} HTTP/1.1\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    await lost;
  });
});

describe('SOCKS5', () => {
  it('leads to allowed hosts by name and by address', async () => {
    const path = await start();
    const request = 'GET /s HTTP/1.1\r\nHost: s\r\nConnection: close\r\n\r\n';
    const address = Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 0xff]);
    for (const target of [byName('ok.example'), address]) {
      const answer = await talk(path, hello, target, request);
      expect([...answer.subarray(0, 4)]).toEqual([5, 0, 5, 0]);
      expect(answer.toString()).toContain('GET /s s');
    }
  });

  it('says that the rules forbid a host', async () => {
    const path = await start();
    const ipv6 = Buffer.from([5, 1, 0, 4, ...Buffer.alloc(15), 1, 0, 80]);
    for (const target of [byName('evil.example'), ipv6]) {
      expect([...(await talk(path, hello, target)).subarray(0, 4)]).toEqual([5, 0, 5, 2]);
    }
  });

  it('does nothing but connect, and only without a password', async () => {
    const path = await start();
    const bind = Buffer.from([5, 2, 0, 1, 127, 0, 0, 1, 0, 80]);
    expect([...(await talk(path, hello, bind)).subarray(2, 4)]).toEqual([5, 7]);
    expect([...(await talk(path, Buffer.from([5, 1, 2])))]).toEqual([5, 0xff]);
    expect([...(await talk(path, hello, Buffer.from([5, 1, 0, 9, 0, 0])))]).toEqual([5, 0]);
  });
});

describe('addresses', () => {
  it('that are private are refused, and a name that has both leads to the public one', async () => {
    const lookup = (host: string) =>
      Promise.resolve(host === 'both.ok.example' ? ['169.254.169.254', '127.0.0.1'] : ['169.254.169.254']);
    const path = await start({ lookup });
    expect(await text(path, page('ok.example'))).toMatch(/403 Forbidden[\s\S]*link-local address 169\.254\.169\.254/);
    expect(await text(path, page('both.ok.example'))).toContain('200 OK');
  });

  it('are those that were judged: the name is looked up once', async () => {
    let lookups = 0;
    const lookup = () => {
      lookups += 1;
      return Promise.resolve(['127.0.0.1']);
    };
    await text(await start({ lookup }), page('ok.example'));
    expect(lookups).toBe(1);
  });

  it('that do not exist or do not answer are an error of the gateway', async () => {
    const unused = createServer().listen(0, '127.0.0.1');
    await once(unused, 'listening');
    const { port: closed } = unused.address() as AddressInfo;
    unused.close();
    await once(unused, 'close');
    expect(await text(await start(), `CONNECT ok.example:${closed} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 502 /);
    const failing = await start({ lookup: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await text(failing, page('ok.example'))).toMatch(/^HTTP\/1\.1 502 [\s\S]*ENOTFOUND/);
    expect(await text(await start({ lookup: () => Promise.resolve([]) }), page('ok.example'))).toContain('no address');
  });

  it('are waited for no longer than half a minute (B4)', async () => {
    const clock = createFakeClock();
    const path = await start({ clock, lookup: () => new Promise(() => undefined) });
    const answer = text(path, page('ok.example'));
    await clock.armed();
    clock.advance(30_000);
    expect(await answer).toMatch(/^HTTP\/1\.1 502 [\s\S]*in time/);
  });
});

it('refusals are told to the log', async () => {
  const told: unknown[] = [];
  const path = await start({ logger: (level, _, data) => told.push([level, data]) });
  await text(path, page('evil.example'));
  expect(told).toEqual([['info', { host: 'evil.example', port }]]);
});

it('a proxy of the user takes what is for it, unjudged', async () => {
  const path = await start({ relay: { http: port } });
  expect(await text(path, page('evil.example'))).toContain('200 OK');
  expect([...(await talk(path, hello, byName('evil.example'))).subarray(2, 4)]).toEqual([5, 2]);
});

it('closing ends every connection', async () => {
  const path = await start();
  const [idle, busy] = [connect(path), connect(path)];
  busy.write(`CONNECT ok.example:${port} HTTP/1.1\r\n\r\n`);
  await once(busy, 'data');
  const ended = Promise.all([idle, busy].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  await proxies[0]?.close();
  await ended;
});
