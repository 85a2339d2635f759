/** A whole login: discovery, registration, the page for the person, and the tokens for the code that comes back. */
import { HeddleError, toHeddleError } from '../../../protocol/plain.js';
import { HEDDLE_VERSION } from '../../version.js';
import type { McpOAuthConfig } from '../../../protocol/index.js';
import { type AuthFetch, createAuthFetch } from './bounded-fetch.js';
import { createLoginProvider } from './login-provider.js';
import type { AuthStore } from './store.js';

export interface LoginOptions {
  store: AuthStore;
  server: { type: 'http' | 'sse'; url: string; headers?: Readonly<Record<string, string>>; oauth?: McpOAuthConfig };
  clientSecret?: string;
  /** Scopes beside what the server itself asks for. */
  scope?: string;
  /** Shows the page to the person. `take` accepts the address that a browser elsewhere could not open. */
  present: (page: URL, take: (address: string) => boolean) => void | Promise<void>;
  signal: AbortSignal;
  timeoutMs?: number;
  /** Where a proxy is named. */
  env: Readonly<Record<string, string>>;
}

/** `not-needed`: the server answers without a login. */
export type LoginOutcome = 'logged-in' | 'not-needed';

const TIMEOUT_MS = 5 * 60_000;

/** Throws a HeddleError that says which step failed. Nothing is kept of a login that does not come to its end but the client. */
export async function logIn(options: LoginOptions): Promise<LoginOutcome> {
  const { store, server, present, signal, timeoutMs = TIMEOUT_MS } = options;
  const fetchFn = createAuthFetch(options.env);
  const challenge = await step(server.url, 'asking the server', () => readChallenge(server, { fetchFn, signal }));
  if (challenge === 'open') return 'not-needed';
  const [{ auth }, { openLoopback }] = await Promise.all([
    import('@modelcontextprotocol/client'),
    import('./loopback.js'),
  ]);
  const kept = (await store.read(server.url))?.client?.redirectUrl;
  const loopback = await openLoopback({
    ...(server.oauth?.callbackPort !== undefined && { port: server.oauth.callbackPort }),
    ...(kept !== undefined && { preferred: Number(new URL(kept).port) }),
  });
  try {
    const provider = createLoginProvider({
      store,
      serverUrl: server.url,
      redirectUrl: loopback.redirectUrl,
      ...(server.oauth && { oauth: server.oauth }),
      ...(options.clientSecret !== undefined && { clientSecret: options.clientSecret }),
      present: (page) => present(page, (address) => loopback.take(address)),
    });
    const scope = options.scope ?? challenge.scope ?? server.oauth?.scope;
    const common = {
      serverUrl: server.url,
      fetchFn,
      ...(scope !== undefined && { scope }),
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    };
    // The page is shown while the answer is waited for already: it may come at once.
    const answered = loopback.answer({ state: provider.expectedState, signal, clock: store.clock, timeoutMs });
    answered.catch(() => undefined);
    await step(server.url, 'finding out where to log in', () =>
      auth(provider, { ...common, forceReauthorization: true }),
    );
    const { code, iss } = await answered;
    await step(server.url, 'fetching the tokens', () =>
      auth(provider, { ...common, authorizationCode: code, ...(iss !== undefined && { iss }) }),
    );
    return 'logged-in';
  } finally {
    await loopback.close();
  }
}

export const logOut = async (store: AuthStore, serverUrl: string): Promise<boolean> => {
  if ((await store.read(serverUrl)) === undefined) return false;
  await store.update(serverUrl, () => undefined);
  return true;
};

interface Challenge {
  resourceMetadataUrl?: URL;
  scope?: string;
}

/** Greets the server without a token, to hear what it wants. */
async function readChallenge(
  { type, url, headers = {} }: LoginOptions['server'],
  { fetchFn, signal }: { fetchFn: AuthFetch; signal: AbortSignal },
): Promise<Challenge | 'open'> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const accept = type === 'sse' ? 'text/event-stream' : 'application/json, text/event-stream';
  // Of a stream that opens nothing is read: the headers say it all, and asking for them alone ends it at once.
  const init: RequestInit =
    type === 'sse'
      ? { method: 'HEAD', headers: { ...headers, accept } }
      : {
          method: 'POST',
          headers: { ...headers, accept, 'content-type': 'application/json' },
          body: JSON.stringify(GREETING),
        };
  const response = await fetchFn(url, { ...init, signal });
  const { status, ok } = response;
  if (status === 401 || status === 403) return extractWWWAuthenticateParams(response);
  if (ok) return 'open';
  // A server of streams that knows only GET wants a login as far as we can tell.
  if (type === 'sse' && (status === 404 || status === 405)) return {};
  throw new HeddleError('request_failed', `it answered with HTTP status ${status}`);
}

const GREETING = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'heddle', version: HEDDLE_VERSION } },
};

async function step<T>(url: string, what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    const { message } = toHeddleError(thrown);
    const { cause } = thrown instanceof Error ? thrown : {};
    const under = cause instanceof Error && cause.message !== message ? ` (${cause.message})` : '';
    throw new HeddleError(
      'request_failed',
      `Logging in to ${new URL(url).origin} failed while ${what}: ${message}${under}`,
      {
        cause: thrown,
        hint: 'Check the address. A server that takes no new clients needs --client-id.',
      },
    );
  }
}
