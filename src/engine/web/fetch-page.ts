/** The guarded HTTP client of WebFetch: it connects to the very addresses it has judged, at every redirect anew. */
import { lookup as lookupName } from 'node:dns/promises';
import { STATUS_CODES } from 'node:http';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import type { buildConnector, Dispatcher, Response } from 'undici';
import type { Clock } from '../../protocol/index.js';
import type { Env } from '../model/credentials.js';
import { proxyFor } from '../model/proxy.js';
import { isPrivateName, privateKindOf } from './address.js';
import { explainFailure, readBody, sendRequest, startDeadline } from './exchange.js';
import { hostOf, type PrivateHosts, portOf } from './private-hosts.js';

const MAX_REDIRECTS = 10;
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const ANSWER_MS = 30_000;
const TOTAL_MS = 60_000;
const MAX_URL = 8_000;
/** Where names are left to the proxy, a lookup of our own may never be answered. */
const PROXY_LOOKUP_MS = 3_000;

/** How the outside is reached. Tests give their own. */
export interface WebEffects {
  /** All addresses of a name. Called once for each connection. */
  lookup(host: string): Promise<readonly string[]>;
  /** Opens a connection to one of these addresses. */
  open(addresses: readonly string[], port: number): Socket;
  /** Certificates that are trusted instead of the system's. */
  ca?: string;
}

export interface FetchOptions {
  hosts: PrivateHosts;
  env: Env;
  clock: Clock;
  signal: AbortSignal;
  effects?: Partial<WebEffects>;
}

export interface FetchedPage {
  kind: 'page';
  /** After redirects. */
  url: URL;
  status: number;
  statusText: string;
  contentType: string;
  /** Of an answer that is an error only the head. */
  bytes: Uint8Array;
  retryAfter: string | null;
}

/** Another host is not followed: whoever allowed the first one did not allow it. */
export interface Redirected {
  kind: 'redirect';
  url: URL;
  to: URL;
  status: number;
  statusText: string;
}

/** The address that is fetched for what was asked: https, without the fragment. Throws words for the model. */
export function toPageUrl(address: string, hosts: PrivateHosts): URL {
  if (!URL.canParse(address)) throw new Error(`This is not a web address: ${address.slice(0, 200)}`);
  const url = new URL(address);
  checkUrl(url);
  if (url.protocol === 'http:' && !hosts.allows(url)) url.protocol = 'https:';
  url.hash = '';
  return url;
}

function checkUrl(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(`Only http and https addresses are fetched, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('An address must not hold a user name or a password. Leave them out.');
  }
  if (url.href.length > MAX_URL) throw new Error(`The address is longer than ${MAX_URL} characters.`);
}

/** Fetches a page, following redirects within its host. Throws words for the model; ends with the signal. */
export async function fetchPage(start: URL, options: FetchOptions): Promise<FetchedPage | Redirected> {
  const { clock, signal } = options;
  const words = `${start.host} took longer than ${TOTAL_MS / 1000} s in all. Try again later, or use another source.`;
  const total = startDeadline(clock, signal, { ms: TOTAL_MS, words });
  try {
    let url = start;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const outcome = await visit(url, { ...options, signal: total.signal });
      if (outcome.kind === 'page' || !isSameHost(url, outcome.to)) return outcome;
      if (url.protocol === 'https:' && outcome.to.protocol === 'http:') {
        throw new Error(`${url.host} redirects from https to http, which is not followed: ${outcome.to.href}`);
      }
      url = outcome.to;
    }
    throw new Error(`${start.host} redirected more than ${MAX_REDIRECTS} times. The address leads nowhere.`);
  } finally {
    total.end();
  }
}

const withoutWww = (url: URL): string => `${hostOf(url).replace(/^www\./, '')}:${url.port}`;

const isSameHost = (from: URL, to: URL): boolean => withoutWww(from) === withoutWww(to);

/** One hop: judge the address, connect to it, read the answer. */
async function visit(url: URL, options: FetchOptions): Promise<FetchedPage | Redirected> {
  const words = `${url.host} did not answer within ${ANSWER_MS / 1000} s. Try again later, or use another source.`;
  const waiting = startDeadline(options.clock, options.signal, { ms: ANSWER_MS, words });
  const { signal } = waiting;
  let route: Route | undefined;
  try {
    route = await openRoute(url, { ...options, signal });
    const headers = { accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5' };
    const response = await sendRequest({ url, method: 'GET', headers, dispatcher: route.dispatcher, signal });
    const { status } = response;
    const facts = { url, status, statusText: STATUS_CODES[status] ?? '' };
    const to = findRedirect(url, response);
    if (to !== undefined) return { kind: 'redirect', to, ...facts };
    waiting.meet();
    const failed = status >= 400;
    const maxBytes = failed ? MAX_ERROR_BYTES : MAX_BYTES;
    const bytes = await readBody(response, { url, signal, maxBytes, cut: failed });
    const contentType = response.headers.get('content-type') ?? '';
    return { kind: 'page', ...facts, contentType, bytes, retryAfter: response.headers.get('retry-after') };
  } finally {
    waiting.end();
    route?.close();
  }
}

function findRedirect(url: URL, { status, headers }: Response): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const location = headers.get('location') ?? '';
  if (location === '' || !URL.canParse(location, url.href)) {
    throw new Error(`${url.host} redirects (${status}) without saying where to.`);
  }
  const to = new URL(location, url);
  checkUrl(to);
  to.hash = '';
  return to;
}

interface Route {
  dispatcher: Dispatcher;
  /** Ends every connection that was opened, finished or not. */
  close(): void;
}

async function openRoute(url: URL, options: FetchOptions): Promise<Route> {
  const { env, effects = {} } = options;
  const proxy = proxyFor(url, env);
  if (proxy !== undefined) {
    await judgeName(url, options);
    const { ProxyAgent } = await import('undici');
    const agent = new ProxyAgent({ uri: proxy, requestTls: { ca: effects.ca } });
    return { dispatcher: agent, close: () => void agent.destroy().catch(() => {}) };
  }
  const addresses = await judgeAddresses(url, options);
  const { Agent, buildConnector } = await import('undici');
  const sockets: Socket[] = [];
  const secure = buildConnector({ ca: effects.ca, timeout: 0, maxCachedSessions: 0 });
  const open = effects.open ?? openSocket;
  const connect: buildConnector.connector = (target, callback) => {
    const socket = open(addresses, Number(portOf(url)));
    sockets.push(socket);
    let told = false;
    const tell: buildConnector.Callback = (...outcome) => {
      if (!told) callback(...outcome);
      told = true;
    };
    socket.on('error', (error) => tell(error, null));
    socket.once('close', () => tell(new Error('The connection was closed.'), null));
    socket.once('connect', () => {
      if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, tell);
      else tell(null, socket);
    });
  };
  const agent = new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 });
  return {
    dispatcher: agent,
    close() {
      void agent.destroy().catch(() => {});
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Of several addresses the first that answers. The name is not looked up again. */
function openSocket(addresses: readonly string[], port: number): Socket {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = addresses;
  if (all.length === 1) return connectSocket({ host: first, port, noDelay: true });
  return connectSocket({
    host: 'judged.invalid',
    port,
    noDelay: true,
    autoSelectFamily: true,
    lookup: (_host, _options, callback) => callback(null, all),
  });
}

const refuse = (url: URL, what: string): Error =>
  new Error(
    `${url.host} ${what}, which WebFetch does not visit. The user can allow it with HEDDLE_WEB_PRIVATE_HOSTS=${url.host}.`,
  );

/** What can be told without looking the name up. Gives the address when the host is one. */
function judgeHost(url: URL, hosts: PrivateHosts): string | undefined {
  const host = hostOf(url);
  const address = isIP(host) === 0 ? undefined : host;
  if (hosts.allows(url)) return address;
  if (isPrivateName(host)) throw refuse(url, 'is a name of private networks');
  const kind = address === undefined ? undefined : privateKindOf(address);
  if (kind !== undefined) throw refuse(url, `is a private address (${kind})`);
  return address;
}

/** The addresses that will be connected to: public, all of them, unless the user opened the host. */
async function judgeAddresses(url: URL, options: FetchOptions): Promise<readonly string[]> {
  const { hosts, signal, effects = {} } = options;
  const literal = judgeHost(url, hosts);
  if (literal !== undefined) return [literal];
  const lookup = effects.lookup ?? lookupAll;
  let addresses: readonly string[];
  try {
    addresses = await unlessAborted(lookup(hostOf(url)), signal);
  } catch (thrown) {
    throw explainFailure(thrown, { url, signal });
  }
  if (addresses.length === 0) throw new Error(`The host ${hostOf(url)} has no address. Check the spelling.`);
  if (!hosts.allows(url)) refusePrivate(url, addresses);
  return addresses;
}

function refusePrivate(url: URL, addresses: readonly string[]): void {
  for (const address of addresses) {
    const kind = privateKindOf(address);
    if (kind !== undefined) throw refuse(url, `leads to a private address (${address}, ${kind})`);
  }
}

/** A proxy looks the name up by itself. Where only it can, there is nothing to judge. */
async function judgeName(url: URL, { hosts, clock, signal, effects = {} }: FetchOptions): Promise<void> {
  if (judgeHost(url, hosts) !== undefined || hosts.allows(url)) return;
  const lookup = effects.lookup ?? lookupAll;
  const waiting = startDeadline(clock, signal, { ms: PROXY_LOOKUP_MS, words: 'no answer' });
  const addresses = await unlessAborted(lookup(hostOf(url)), waiting.signal).catch(() => []);
  waiting.end();
  refusePrivate(url, addresses);
}

const lookupAll = async (host: string): Promise<string[]> => {
  const found = await lookupName(host, { all: true });
  return found.map(({ address }) => address);
};

/** A lookup cannot be stopped, only left behind. */
function unlessAborted<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error('aborted'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
