/** The login of a session: tokens that are there already, and new ones for them. Nobody is asked, nothing is registered. */
import type { AuthProvider } from '@modelcontextprotocol/client';
import type { Logger } from '../../../protocol/index.js';
import { hasAddress } from '../server-kind.js';
import type { ServerConfig } from '../sources/entry.js';
import { createAuthFetch } from './bounded-fetch.js';
import { endsSoon, refreshTokens } from './refresh.js';
import type { AuthRecord, AuthStore } from './store.js';

export interface SessionAuthOptions {
  store: AuthStore;
  serverUrl: string;
  /** Where a proxy is named. */
  env: Readonly<Record<string, string>>;
  logger?: Logger;
}

/** Refusals that come so soon after a renewal are answers to requests with the old token. */
const LATE_MS = 10_000;

/**
 * For the `authProvider` of the client's transports. Where there is no token, or none any more, `onUnauthorized` throws the
 * client's UnauthorizedError: the server needs someone to log in (`heddle mcp auth`).
 */
export function createSessionAuth({ store, serverUrl, env, logger = () => {} }: SessionAuthOptions): AuthProvider {
  const fetchFn = createAuthFetch(env);
  let known: AuthRecord | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;
  let renewing: Promise<AuthRecord | undefined> | undefined;

  const renew = (spent: string): Promise<AuthRecord | undefined> => {
    renewing ??= refreshTokens({ store, serverUrl, fetchFn, spent })
      .then((record) => {
        known = record;
        renewedAt = store.clock.monotonic();
        return record;
      })
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  };
  const tell = (thrown: unknown): undefined => {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    logger('warn', `The login of the MCP server ${new URL(serverUrl).origin} could not be renewed: ${error}`);
  };

  return {
    async token() {
      known ??= await store.read(serverUrl).catch(tell);
      const token = known?.tokens?.access_token;
      if (known === undefined || token === undefined || !endsSoon(known, store.clock.now())) return token;
      // A token that is about to end is better than none where the other side is in trouble.
      const renewed = await renew(token).catch(tell);
      return renewed?.tokens?.access_token ?? token;
    },
    async onUnauthorized() {
      const spent = known?.tokens?.access_token;
      if (spent !== undefined && store.clock.monotonic() - renewedAt < LATE_MS) return;
      known = undefined;
      const renewed = await renew(spent ?? '').catch(tell);
      if (renewed?.tokens !== undefined) return;
      const { UnauthorizedError } = await import('@modelcontextprotocol/client');
      throw new UnauthorizedError('Nobody is logged in to this server.');
    },
  };
}

/** The same for a server as it is configured; none where it is given a key, because that one is meant to be used. */
export function sessionAuthFor(
  config: ServerConfig,
  options: Omit<SessionAuthOptions, 'serverUrl'>,
): AuthProvider | undefined {
  if (!hasAddress(config)) return undefined;
  const hasKey = Object.keys(config.headers ?? {}).some((name) => name.toLowerCase() === 'authorization');
  return hasKey ? undefined : createSessionAuth({ ...options, serverUrl: config.url });
}
