/** Where the browser comes back to after a login: a page on this machine, for one answer. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../protocol/index.js';
import { HeddleError } from '../../../protocol/plain.js';

export interface LoginAnswer {
  code: string;
  /** Who says that it gave the code. */
  iss?: string;
}

export interface Loopback {
  readonly redirectUrl: string;
  /** The first answer with this state. Rejects when the person says no, when it takes too long, or on abort. */
  answer(options: { state: string; signal: AbortSignal; clock: Clock; timeoutMs: number }): Promise<LoginAnswer>;
  /** An answer that was carried over by hand: the address that the browser could not open. False: it is none of ours. */
  take(address: string): boolean;
  close(): Promise<void>;
}

const PATH = '/callback';
const MAX_ADDRESS = 16_384;

/** `port`: one that was registered by hand, then by the name `localhost`, as forms for that say. Absent: any free one. */
export async function openLoopback({ port, preferred }: { port?: number; preferred?: number } = {}): Promise<Loopback> {
  const host = port === undefined ? '127.0.0.1' : 'localhost';
  const settled = Promise.withResolvers<LoginAnswer>();
  settled.promise.catch(() => undefined);
  let expected: string | undefined;

  /** What to tell whoever asked. An answer to another login changes nothing. */
  const judge = (params: URLSearchParams): string | undefined => {
    if (expected === undefined || params.get('state') !== expected) return undefined;
    const error = params.get('error');
    const code = params.get('code');
    if (error !== null) {
      const why = params.get('error_description') ?? error;
      settled.reject(new HeddleError('request_failed', `The login was refused: ${why.slice(0, 500)}`));
      return 'The login was refused.';
    }
    if (!code) return undefined;
    const iss = params.get('iss');
    settled.resolve({ code, ...(iss !== null && { iss }) });
    return 'You are logged in.';
  };

  const server = createServer((request, response) => {
    const said = isOurs(request) ? judge(toUrl(request.url ?? '').searchParams) : undefined;
    reply(response, said);
  });
  const number = await listen(server, { port, preferred });
  const isOurs = ({ method, headers, url = '' }: IncomingMessage): boolean =>
    method === 'GET' &&
    [`127.0.0.1:${number}`, `localhost:${number}`].includes(headers.host ?? '') &&
    url.length <= MAX_ADDRESS &&
    toUrl(url).pathname === PATH;

  return {
    redirectUrl: `http://${host}:${number}${PATH}`,
    async answer({ state, signal, clock, timeoutMs }) {
      expected = state;
      const abort = () => settled.reject(new HeddleError('aborted', 'The login was broken off.'));
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      const cancel = clock.after(timeoutMs, () => {
        const minutes = Math.round(timeoutMs / 60_000);
        settled.reject(new HeddleError('request_failed', `Nobody finished the login within ${minutes} minutes.`));
      });
      try {
        return await settled.promise;
      } finally {
        cancel();
        signal.removeEventListener('abort', abort);
      }
    },
    take(address) {
      const text = address.trim();
      if (text.length > MAX_ADDRESS || !URL.canParse(text)) return false;
      return judge(new URL(text).searchParams) !== undefined;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const toUrl = (path: string): URL => (URL.canParse(path, 'http://x') ? new URL(path, 'http://x') : new URL('http://x'));

function reply(response: ServerResponse, said: string | undefined): void {
  const text = said ?? 'This is no answer to a login that was begun here.';
  response.writeHead(said === undefined ? 400 : 200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><title>Heddle</title><p>${text} You can close this window.</p>\n`);
}

interface Ports {
  port?: number;
  /** Taken if it is free. */
  preferred?: number;
}

async function listen(server: ReturnType<typeof createServer>, { port, preferred }: Ports): Promise<number> {
  const tryPort = (number: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject).listen(number, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  if (port !== undefined) {
    await tryPort(port).catch((cause: unknown) => {
      throw new HeddleError('request_failed', `Port ${port}, where the login must come back to, cannot be used.`, {
        cause,
        hint: 'End what uses it, or choose another port with --callback-port.',
      });
    });
  } else if (preferred === undefined) await tryPort(0);
  else await tryPort(preferred).catch(() => tryPort(0));
  return (server.address() as AddressInfo).port;
}
