/** What is told of a server that a session has. */
import type { McpServerStatus } from '../../protocol/index.js';
import type { Member } from './member.js';
import { describeFaults, type Offer } from './offer.js';
import { showConfig } from './secrets.js';
import { isSdkServer } from './server-definition.js';
import { kindOf } from './server-kind.js';

/** Those who sit elsewhere are told nothing of how servers of this machine are set up. */
export function toStatus(
  { server, definition }: Pick<Member, 'server' | 'definition'>,
  offer: Offer | undefined,
  { isElsewhere }: { isElsewhere: boolean },
): McpServerStatus {
  const { name, link, status } = server;
  const error = server.error ?? (offer && describeFaults(offer.faults));
  return {
    name,
    status,
    ...(isElsewhere && !isSdkServer(definition) ? {} : describeSetup(name, definition)),
    ...(link?.serverInfo && { serverInfo: link.serverInfo }),
    ...(error !== undefined && { error }),
    ...(offer && { tools: [...offer.shown] }),
  };
}

function describeSetup(name: string, definition: Member['definition']): Partial<McpServerStatus> {
  const { scope = 'dynamic', source } = definition;
  const isSdk = isSdkServer(definition);
  return {
    config: isSdk ? { type: 'sdk', name } : showConfig(definition.config),
    scope,
    ...(source !== undefined && { source }),
    ...(!isSdk && { transport: kindOf(definition.config) }),
  };
}
