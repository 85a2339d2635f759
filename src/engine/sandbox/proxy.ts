/** The only way from a sandbox to the network: a proxy that judges every host and connects to the address it has judged. */
import { createServer as createHttpServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { createDial, type Dial, type DialOptions, joinSockets, Refusal } from './dial.js';
import { acceptSocks } from './socks.js';

const MAX_HEAD_BYTES = 64 * 1024;

/** Headers that are between the client and the proxy alone. */
const OWN_HEADERS = new Set(['proxy-connection', 'proxy-authorization', 'connection', 'keep-alive', 'te', 'upgrade']);

export interface ProxyOptions extends DialOptions {
  /** Ports on this machine of proxies that take the place of ours. They judge by their own rules. */
  relay?: { http?: number; socks?: number };
}

export interface Proxy {
  close(): Promise<void>;
}

/** Listens on a socket in the file system. One port speaks HTTP, CONNECT and SOCKS5. */
export async function startProxy(path: string, options: ProxyOptions): Promise<Proxy> {
  const dial = createDial(options);
  const open = new Set<Socket>();
  const http = createHttpServer({ maxHeaderSize: MAX_HEAD_BYTES, requireHostHeader: false }, (incoming, answer) => {
    forward(incoming, answer, dial).catch((error: unknown) => refuseRequest(answer, error));
  });
  http.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    tunnel(incoming.url ?? '', { client, head, dial }).catch((error: unknown) => refuseTunnel(client, error));
  });
  http.on('clientError', (_, client) => client.destroy());

  const server = createServer({ allowHalfOpen: true }, (client) => {
    open.add(client);
    client.on('error', () => client.destroy());
    client.once('close', () => open.delete(client));
    client.once('readable', () => {
      const chunk = client.read() as Buffer | null;
      // It went away without a word.
      if (chunk === null) return void client.destroy();
      client.unshift(chunk);
      const isSocks = chunk[0] === 5;
      const other = isSocks ? options.relay?.socks : options.relay?.http;
      if (other !== undefined) relay(client, other);
      else if (isSocks) acceptSocks(client, dial).catch(() => client.destroy());
      else http.emit('connection', client);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  // What keeps the process alive is the command, not the way it may take.
  server.unref();
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const client of open) client.destroy();
      }),
  };
}

function relay(client: Socket, port: number): void {
  const server = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  server.on('error', () => server.destroy());
  joinSockets(client, server);
}

async function tunnel(target: string, way: { client: Socket; head: Buffer; dial: Dial }): Promise<void> {
  const [, host = '', port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(target) ?? [];
  const server = await way.dial(host.replace(/^\[|\]$/g, ''), Number(port));
  way.client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (way.head.byteLength > 0) server.write(way.head);
  joinSockets(way.client, server);
}

async function forward(incoming: IncomingMessage, answer: ServerResponse, dial: Dial): Promise<void> {
  const url = URL.parse(incoming.url ?? '');
  if (url?.protocol !== 'http:') throw new Refusal('This is a proxy for http and https');
  const socket = await dial(url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || 80));
  const headers = Object.entries(incoming.headers).filter(([name]) => !OWN_HEADERS.has(name));
  answer.once('close', () => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      method: incoming.method,
      path: `${url.pathname}${url.search}`,
      // Whom the client says it talks to must be whom it was judged by.
      headers: { ...Object.fromEntries(headers), host: url.host, connection: 'close' },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders.filter(isForClient));
      response.pipe(answer);
      response.once('error', () => answer.destroy());
      resolve();
    });
    incoming.pipe(outgoing);
  });
}

const isForClient = (_: string, at: number, all: readonly string[]): boolean =>
  !OWN_HEADERS.has((all[at - (at % 2)] ?? '').toLowerCase());

function toAnswer(error: unknown): { status: number; title: string; text: string } {
  const { message } = error as Error;
  if (error instanceof Refusal) return { status: 403, title: 'Forbidden', text: `Blocked by the sandbox: ${message}.` };
  return { status: 502, title: 'Bad Gateway', text: `The sandbox could not connect: ${message}.` };
}

function refuseRequest(answer: ServerResponse, error: unknown): void {
  if (answer.headersSent) return void answer.destroy();
  const { status, text } = toAnswer(error);
  answer.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${text}\n`);
}

function refuseTunnel(client: Socket, error: unknown): void {
  const { status, title, text } = toAnswer(error);
  const body = `${text}\n`;
  client.end(
    `HTTP/1.1 ${status} ${title}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
