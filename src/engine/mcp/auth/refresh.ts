/** New tokens for old ones, without anyone being asked. */
import type { AuthFetch } from './bounded-fetch.js';
import type { AuthRecord, AuthStore } from './store.js';

export interface RefreshOptions {
  store: AuthStore;
  serverUrl: string;
  fetchFn: AuthFetch;
  /** The access token that is of no use any more. */
  spent: string;
}

/** Early enough that a request which starts now is still answered. */
const EARLY_MS = 60_000;

export const endsSoon = ({ expiresAt }: AuthRecord, now: number): boolean =>
  expiresAt !== undefined && expiresAt - now < EARLY_MS;

/** Errors of the authorization server that say that the tokens are dead; any other may pass. */
const DEAD = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

/**
 * The record with a token that was not `spent`, by us or by another process meanwhile. Undefined: there is none to be had
 * without a person. Throws what may pass: network, a server in trouble.
 */
export async function refreshTokens({
  store,
  serverUrl,
  fetchFn,
  spent,
}: RefreshOptions): Promise<AuthRecord | undefined> {
  return store.exclusively(serverUrl, async () => {
    const record = await store.read(serverUrl);
    const { tokens, client, discovery, resource } = record ?? {};
    if (record === undefined || tokens === undefined) return undefined;
    if (tokens.access_token !== spent && !endsSoon(record, store.clock.now())) return record;
    const refreshToken = tokens.refresh_token;
    if (refreshToken === undefined || client === undefined) return undefined;
    const { discoverOAuthServerInfo, OAuthError, refreshAuthorization } = await import('@modelcontextprotocol/client');
    const { authorizationServerUrl, authorizationServerMetadata: metadata } =
      discovery ?? (await discoverOAuthServerInfo(serverUrl, { fetchFn }));
    try {
      const fresh = await refreshAuthorization(authorizationServerUrl, {
        metadata,
        clientInformation: client,
        refreshToken,
        fetchFn,
        ...(resource !== undefined && { resource }),
      });
      const next = withTokens(record, { ...tokens, ...fresh }, store.clock.now());
      await store.update(serverUrl, () => next);
      return next;
    } catch (thrown) {
      if (!(thrown instanceof OAuthError) || !DEAD.has(thrown.code)) throw thrown;
      await store.update(serverUrl, ({ tokens: _, expiresAt: __, ...rest }) => rest);
      return undefined;
    }
  });
}

/** An answer without a time of its own has none: the old one is not its. */
export function withTokens(record: AuthRecord, tokens: NonNullable<AuthRecord['tokens']>, now: number): AuthRecord {
  const { expiresAt: _, ...rest } = record;
  const { expires_in: seconds } = tokens;
  return { ...rest, tokens, ...(seconds !== undefined && { expiresAt: now + seconds * 1000 }) };
}
