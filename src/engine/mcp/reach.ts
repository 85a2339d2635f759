/** The way of a session to servers that are not the host's own. */
import type { SessionConfig } from '../../protocol/index.js';
import { sessionAuthFor } from './auth/session-auth.js';
import { createAuthStore } from './auth/store.js';
import type { LinkParts, McpLink } from './link.js';
import { connectRemote } from './remote/connect.js';
import type { RemoteConfig } from './server-definition.js';
import { hasAddress } from './server-kind.js';

export function reachServer(
  name: string,
  server: RemoteConfig,
  { parts, config }: { parts: LinkParts; config: SessionConfig },
): Promise<McpLink> {
  const { env, configDir } = config;
  if (!hasAddress(server)) return connectRemote(name, server, parts);
  const auth = sessionAuthFor(server, { store: createAuthStore({ configDir }), env, logger: parts.logger });
  const { roots: _, ...requests } = parts.requests;
  // A server elsewhere gets no paths of this machine; the environment says only which proxy leads to it.
  return connectRemote(name, server, { ...parts, requests, env, auth });
}
