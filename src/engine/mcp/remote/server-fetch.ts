/** The `fetch` of one HTTP server: its headers go to nobody else, and no answer is too large. */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import type { HeddleError } from '../../../protocol/plain.js';
import { proxyFor } from '../../model/proxy.js';
import { HEDDLE_VERSION } from '../../version.js';
import type { Secrets } from '../secrets.js';
import { boundBody } from './bounded-body.js';
import { MAX_MESSAGE_BYTES } from './lines.js';

export interface ServerFetchOptions {
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Where the proxy is named. */
  env: Readonly<Record<string, string>>;
  /** Tokens become known when they are sent. */
  secrets: Secrets;
  onFlood(error: HeddleError): void;
}

export interface ServerFetch {
  readonly fetch: FetchLike;
  /** The server has answered something. */
  readonly isReached: boolean;
  /** Its last answer to a message was that it wants to know who asks. */
  readonly needsAuth: boolean;
  close(): void;
}

const BODILESS = new Set([101, 204, 205, 304]);

export async function createServerFetch({
  url,
  headers,
  env,
  secrets,
  onFlood,
}: ServerFetchOptions): Promise<ServerFetch> {
  const { Agent, fetch, Headers, ProxyAgent, Response } = await import('undici');
  const proxy = proxyFor(url, env);
  // A stream may be silent for hours; how long an answer may take is decided per call.
  const patient = { bodyTimeout: 0, headersTimeout: 0 };
  const dispatcher: Dispatcher = proxy === undefined ? new Agent(patient) : new ProxyAgent({ uri: proxy, ...patient });
  let isReached = false;
  let needsAuth = false;

  const send = async (target: string | URL, init: RequestInit = {}): Promise<unknown> => {
    const merged = new Headers(init.headers as ConstructorParameters<typeof Headers>[0]);
    if (!merged.has('user-agent')) merged.set('user-agent', `Heddle/${HEDDLE_VERSION}`);
    // What the protocol sets is stronger. The OAuth of a server may take place elsewhere: that gets nothing.
    if (new URL(target).origin === url.origin) {
      for (const [name, value] of Object.entries(headers)) if (!merged.has(name)) merged.set(name, value);
    }
    const key = merged.get('authorization');
    if (key !== null) secrets.add(key);
    const { body, method, signal, redirect } = init;
    const response = await fetch(target, {
      ...(typeof body === 'string' || body instanceof URLSearchParams ? { body } : {}),
      method,
      signal,
      redirect,
      headers: merged,
      dispatcher,
    });
    isReached = true;
    if (carriesMessages(init, merged.get('accept'))) needsAuth = asksWho(response);
    if (response.body === null || BODILESS.has(response.status) || isPlainlySmall(response.headers)) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const bounded = new Response(boundBody(response.body as ReadableStream<Uint8Array>, { isStream, onFlood }), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
    // Whoever follows redirects asks where it ended.
    Object.defineProperty(bounded, 'url', { value: response.url });
    return bounded;
  };

  return {
    fetch: send as FetchLike,
    get isReached() {
      return isReached;
    },
    get needsAuth() {
      return needsAuth;
    },
    close() {
      dispatcher.destroy().catch(() => undefined);
    },
  };
}

/** Rather than the errands of OAuth. */
const carriesMessages = ({ body }: RequestInit, accept: string | null): boolean =>
  accept?.includes('text/event-stream') === true || (typeof body === 'string' && body.includes('"jsonrpc"'));

interface Answer {
  status: number;
  headers: { get(name: string): string | null };
}

const asksWho = ({ status, headers }: Answer): boolean =>
  status === 401 || (status === 403 && headers.get('www-authenticate')?.includes('insufficient_scope') === true);

/** It says how long it is, is not compressed, and that is little enough: nothing needs counting. */
const isPlainlySmall = (headers: Answer['headers']): boolean => {
  const length = headers.get('content-length');
  return length !== null && headers.get('content-encoding') === null && Number(length) <= MAX_MESSAGE_BYTES;
};
