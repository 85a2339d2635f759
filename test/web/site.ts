/** Web servers on loopback, with and without TLS, and a small public web that leads to them. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.js';
import type { WebEffects } from '../../src/engine/web/fetch-page.js';
import tls from '../fixtures/tls/loopback.json' with { type: 'json' };

const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64');

export const CERTIFICATE = new X509Certificate(fromBase64(tls.certificate)).toString();
const KEY = createPrivateKey({ key: fromBase64(tls.key), format: 'der', type: 'pkcs8' });

export interface Site {
  port: number;
  /** `127.0.0.1:port` */
  host: string;
  /** Starts with http: or https:, ends without a slash. */
  origin: string;
  /** What was asked for: method and path. */
  readonly requests: string[];
  /** Resolves with the next request that comes. */
  nextRequest(): Promise<IncomingMessage>;
  /** Resolves when no connection is open. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export type Page = string | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array };
export type Handler = (request: IncomingMessage, response: ServerResponse) => Page | undefined | void;

function answer(response: ServerResponse, page: Page): void {
  const { status = 200, headers = {}, body = '' } = typeof page === 'string' ? { body: page } : page;
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers });
  response.end(body);
}

/** A handler gives a page, or answers by itself and gives nothing. */
export async function startSite(handler: Handler, { secure = false } = {}): Promise<Site> {
  const requests: string[] = [];
  let watchers: ((request: IncomingMessage) => void)[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const page = handler(request, response);
    if (page !== undefined) answer(response, page);
    for (const watcher of watchers) watcher(request);
    watchers = [];
  };
  const server = secure
    ? createSecureServer({ key: KEY.export({ type: 'pkcs8', format: 'pem' }), cert: CERTIFICATE }, listener)
    : createServer(listener);
  const { open, quiet } = watchConnections(server);
  await listen(server);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    host: `127.0.0.1:${port}`,
    origin: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    nextRequest: () => new Promise((resolve) => watchers.push(resolve)),
    quiet,
    close: () => closeServer(server, open),
  };
}

export const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

export function closeServer(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of open) socket.destroy();
  });
}

export function watchConnections(server: Server): { open: Set<Socket>; quiet(): Promise<void> } {
  const open = new Set<Socket>();
  let waiting: (() => void)[] = [];
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      if (open.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    });
  });
  return { open, quiet: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))) };
}

/** A port of loopback on which nobody listens. */
export async function findClosedPort(): Promise<number> {
  const site = await startSite(() => '');
  await site.close();
  return site.port;
}

export const PUBLIC_ADDRESS = '93.184.215.14';

export interface PublicWeb extends WebEffects {
  /** Names that were looked up. */
  readonly looked: string[];
  /** Which addresses were connected to, and their ports. */
  readonly opened: string[];
}

/** Every name has a public address, and all of them lead to this site. `answers` are used up, the last one stays. */
export function createPublicWeb(
  site: Pick<Site, 'port'>,
  answers: readonly (readonly string[])[] = [[PUBLIC_ADDRESS]],
): PublicWeb {
  const looked: string[] = [];
  const opened: string[] = [];
  return {
    looked,
    opened,
    ca: CERTIFICATE,
    async lookup(host) {
      looked.push(host);
      return answers[Math.min(looked.length, answers.length) - 1] ?? [];
    },
    open(addresses, port) {
      opened.push(`${addresses.join(' ')} ${port}`);
      return connect(site.port, '127.0.0.1');
    },
  };
}

/** A fake clock that tells when a timer of this length is given up. */
export function createWatchedClock(ms: number): { clock: FakeClock; cancelled: Promise<void> } {
  const clock = createFakeClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  const { after } = clock;
  clock.after = (length, callback, options) => {
    const cancel = after(length, callback, options);
    return () => {
      cancel();
      if (length === ms) resolve();
    };
  };
  return { clock, cancelled: promise };
}
