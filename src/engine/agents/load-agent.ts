import type { SessionKey, SessionStore } from '../../protocol/index.js';
import { readEntries, toChain } from '../sessions/chain.js';
import { type AgentEntry, type Entry, isChainEntry, isLifeEntry } from '../sessions/entry.js';

export interface LoadedAgent {
  key: SessionKey;
  entries: Entry[];
  /** What its log says of it at the beginning. */
  begun: AgentEntry | undefined;
}

/** What an agent of a session has said and done. Undefined when there is none of this id. */
export async function loadAgent(
  store: SessionStore,
  { sessionId, agentId }: { sessionId: string; agentId: string },
): Promise<LoadedAgent | undefined> {
  const loaded = await store.load(sessionId, { agentId });
  if (loaded === undefined) return undefined;
  // In a file of its own the side chain is the conversation.
  const all = (await readEntries(loaded.lines)).map(
    (entry): Entry => (isChainEntry(entry) ? { ...entry, isSidechain: false } : entry),
  );
  const entries = toChain(all);
  // Agents that it started are named in its log, too.
  const begun = entries.find((entry): entry is AgentEntry => isBegin(entry) && entry.agentId === agentId);
  return { key: { ...loaded.key, agentId }, entries, begun };
}

const isBegin = (entry: Entry): entry is AgentEntry => isLifeEntry(entry) && entry.kind === 'agent';
