/** The OAuth client of one login: what the library asks of a client, with a person at a browser. */
import { randomBytes } from 'node:crypto';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { HeddleError } from '../../../protocol/plain.js';
import type { McpOAuthConfig } from '../../../protocol/index.js';
import { withTokens } from './refresh.js';
import type { AuthRecord, AuthStore } from './store.js';

export interface LoginProviderOptions {
  store: AuthStore;
  serverUrl: string;
  /** Where the browser comes back to. */
  redirectUrl: string;
  oauth?: McpOAuthConfig;
  /** Of a client that was registered by hand. Kept with its tokens, because a renewal needs it. */
  clientSecret?: string;
  /** Shows the page to the person. */
  present: (url: URL) => void | Promise<void>;
}

export interface LoginProvider extends OAuthClientProvider {
  /** What the answer of the browser must say: any other answer is not ours. */
  readonly expectedState: string;
}

/**
 * One login: the proof key, the state and what was discovered live here alone. Client and tokens are kept, the tokens
 * only when there are some.
 */
export function createLoginProvider(options: LoginProviderOptions): LoginProvider {
  const { store, serverUrl, redirectUrl, oauth = {}, clientSecret, present } = options;
  const expectedState = randomBytes(32).toString('base64url');
  let verifier: string | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  let resource: string | undefined;
  let client: StoredOAuthClientInformation | undefined =
    oauth.clientId === undefined
      ? undefined
      : { client_id: oauth.clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };

  return {
    expectedState,
    redirectUrl,
    ...(oauth.clientMetadataUrl !== undefined && { clientMetadataUrl: oauth.clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Heddle',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(oauth.scope !== undefined && { scope: oauth.scope }),
    },
    state: () => expectedState,
    async clientInformation(context) {
      const kept = (await store.read(serverUrl))?.client;
      if (client !== undefined) {
        // Its secret is for the authorization server that it was first used with.
        const issuer = client.issuer ?? (kept?.client_id === client.client_id ? kept.issuer : undefined);
        return { ...client, issuer: issuer ?? context?.issuer };
      }
      // Many servers hold us to the very redirect that they were told.
      return kept?.redirectUrl === redirectUrl ? kept : undefined;
    },
    async saveClientInformation(information) {
      client = information;
      if (oauth.clientId !== undefined) return;
      await store.update(serverUrl, (record) => ({ ...record, client: { ...information, redirectUrl } }));
    },
    async tokens() {
      return (await store.read(serverUrl))?.tokens;
    },
    async saveTokens(tokens) {
      await store.update(serverUrl, (record): AuthRecord => {
        const known = client === undefined ? record.client : { ...client, redirectUrl };
        const base = { ...record, ...(known && { client: known }), ...(discovery && { discovery }) };
        return withTokens({ ...base, ...(resource !== undefined && { resource }) }, tokens, store.clock.now());
      });
    },
    saveResourceUrl(url) {
      resource = url;
    },
    async redirectToAuthorization(url) {
      if (url.protocol !== 'https:' && url.protocol !== 'http:') {
        throw new HeddleError('request_failed', `The server wants to log in at ${url.protocol}, which is no web page.`);
      }
      await present(url);
    },
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier() {
      if (verifier === undefined) throw new HeddleError('internal', 'A login was finished that had not begun.');
      return verifier;
    },
    saveDiscoveryState(state) {
      discovery = state;
    },
    discoveryState: () => discovery,
    async invalidateCredentials(scope) {
      if (scope === 'verifier' || scope === 'all') verifier = undefined;
      if (scope === 'discovery' || scope === 'all') discovery = undefined;
      if (scope === 'client' || scope === 'all') client = oauth.clientId === undefined ? undefined : client;
      if (scope === 'verifier' || scope === 'discovery') return;
      await store.update(serverUrl, (record) => {
        const { client: _, ...withoutClient } = record;
        const { tokens: __, expiresAt: ___, ...withoutTokens } = record;
        if (scope === 'all') return undefined;
        return scope === 'client' ? withoutClient : withoutTokens;
      });
    },
  };
}
