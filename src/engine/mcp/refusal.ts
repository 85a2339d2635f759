import { findLikeNames, findNameFault, showName } from './names.js';
import type { ServerDefinition } from './server-definition.js';

const MAX_SERVERS = 100;

/** Why a server is not connected, and what it is then. */
export type Refusal = { status: 'failed' | 'disabled'; reason: string };

/** Servers that must not be connected, and why. */
export function findRefusals(servers: ReadonlyMap<string, ServerDefinition>): Map<string, Refusal> {
  const refusals = new Map<string, Refusal>();
  const refuse = (name: string, reason: string, status: Refusal['status'] = 'failed'): void => {
    refusals.set(name, { status, reason: `MCP server ${showName(name)} is not connected: ${reason}.` });
  };
  for (const [name, definition] of servers) {
    const fault = findNameFault(name);
    if (fault !== undefined) refuse(name, fault);
    else if (definition.blocked !== undefined) {
      refuse(
        name,
        definition.blocked.replace(/\.$/, ''),
        'isOff' in definition && definition.isOff ? 'disabled' : 'failed',
      );
    }
  }
  const usable = [...servers.keys()].filter((name) => !refusals.has(name));
  for (const [name, other] of findLikeNames(usable)) {
    refuse(name, `its tools could be taken for those of ${showName(other)}; give it another name`);
  }
  for (const name of usable.filter((each) => !refusals.has(each)).slice(MAX_SERVERS)) {
    refuse(name, `a session has ${MAX_SERVERS} servers at most`);
  }
  return refusals;
}
