/** One server of a session, with all that belongs to it. */
import { isDeepStrictEqual } from 'node:util';
import type { Tool } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { KnownServer } from './known-server.js';
import type { McpLink } from './link.js';
import type { ToolNames } from './names.js';
import type { Offer } from './offer.js';
import type { Refusal } from './refusal.js';
import { toPhaseError } from './remote/phase-error.js';
import { isSdkServer, type ServerDefinition } from './server-definition.js';

export interface Member {
  server: KnownServer;
  definition: ServerDefinition;
  toolNames: ToolNames;
  promptNames: ToolNames;
  /** Why it is not connected, beside the others that there are. */
  refusal: Refusal | undefined;
  /** Made when it is looked at, and forgotten when the server has something else. */
  offer?: Offer | undefined;
}

export const isPending = ({ status }: KnownServer): boolean => status === 'pending';

/** It goes on as it is: neither its definition nor what stands in its way is another. */
export const staysAs = (
  { definition, refusal }: Member,
  next: ServerDefinition | undefined,
  nextRefusal: Refusal | undefined,
): boolean => isSame(definition, next) && isDeepStrictEqual(refusal, nextRefusal);

function isSame(one: ServerDefinition, other: ServerDefinition | undefined): boolean {
  if (other === undefined) return false;
  if (isSdkServer(one) || isSdkServer(other)) {
    return isSdkServer(one) && isSdkServer(other) && one.exchange === other.exchange;
  }
  return isDeepStrictEqual([one.config, one.blocked], [other.config, other.blocked]);
}

export async function callTool(server: KnownServer, call: Parameters<McpLink['call']>) {
  const link = server.use();
  try {
    const result = await link.call(...call);
    server.noteSuccess();
    return result;
  } catch (thrown) {
    if (thrown instanceof HeddleError && (thrown.code === 'aborted' || typeof thrown.data.server === 'string')) {
      throw thrown;
    }
    throw toPhaseError(thrown, { server: server.name, phase: 'call', about: call[0], evidence: {} });
  }
}

/** It is refused before anybody is asked about it. */
export function standIn(name: string, why: () => string): Tool {
  const refuse = (): never => {
    throw new Error(why());
  };
  return { name, description: '', inputSchema: { type: 'object' }, parse: refuse, run: refuse };
}
