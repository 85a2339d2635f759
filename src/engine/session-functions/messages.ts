import { loadAgent } from '../agents/load-agent.js';
import { readEntries, toChain } from '../sessions/chain.js';
import { type BoundaryEntry, type ChainEntry, type Entry, isChainEntry } from '../sessions/entry.js';
import { type DirOption, glanceAtNamed, type PageOptions, pageOf, type SessionParts, storedId } from './named.js';

/** One message of a conversation, as it is kept. */
export interface SessionMessage {
  type: 'user' | 'assistant' | 'system';
  uuid: string;
  session_id: string;
  /** What went to or came from the model; of a system message, what it says. */
  message: unknown;
  parent_tool_use_id: string | null;
  parent_agent_id: string | null;
}

export interface MessagesOptions extends DirOption, PageOptions {
  /** Also where the conversation was compacted. */
  includeSystemMessages?: boolean | undefined;
}

/** The whole conversation, oldest first, also what came before it was compacted. Empty when there is no such session. */
export async function getSessionMessages(
  parts: Pick<SessionParts, 'store'>,
  named: string,
  options: MessagesOptions = {},
): Promise<SessionMessage[]> {
  const sessionId = await storedId(parts, named);
  if (options.dir !== undefined && !(await glanceAtNamed(parts, sessionId, options))) return [];
  const loaded = await parts.store.load(sessionId);
  if (loaded === undefined) return pageOf([], options);
  const entries = toChain(await readEntries(loaded.lines));
  return pageOf(toSessionMessages(entries, { sessionId, ...options }), options);
}

/** The ids of the agents that a session started. */
export async function listSubagents(
  parts: Pick<SessionParts, 'store'>,
  sessionId: string,
  options: DirOption = {},
): Promise<string[]> {
  const glance = await glanceAtNamed(parts, sessionId, options);
  return (glance && (await parts.store.agents?.(glance.key.sessionId))) ?? [];
}

export async function getSubagentMessages(
  parts: Pick<SessionParts, 'store'>,
  { sessionId: named, agentId }: { sessionId: string; agentId: string },
  options: DirOption & PageOptions = {},
): Promise<SessionMessage[]> {
  const sessionId = await storedId(parts, named);
  const ids = await listSubagents(parts, sessionId, options);
  const loaded = ids.includes(agentId) ? await loadAgent(parts.store, { sessionId, agentId }) : undefined;
  return pageOf(loaded ? toSessionMessages(loaded.entries, { sessionId }) : [], options);
}

/** What was said, without what the engine put in for the model alone. */
export const toSessionMessages = (
  entries: readonly Entry[],
  { sessionId, includeSystemMessages }: { sessionId: string; includeSystemMessages?: boolean | undefined },
): SessionMessage[] =>
  entries
    .filter((entry): entry is ChainEntry => isSaid(entry) && (includeSystemMessages || entry.type !== 'system'))
    .map((entry) => ({
      type: entry.type,
      uuid: entry.uuid,
      session_id: sessionId,
      message: entry.type === 'system' ? toBoundaryText(entry) : entry.message,
      parent_tool_use_id: null,
      parent_agent_id: null,
    }));

/** Whether an entry is a part of the conversation that people see. */
export const isSaid = (entry: Entry): entry is ChainEntry =>
  isChainEntry(entry) && !(entry.type === 'user' && entry.isMeta === true);

const toBoundaryText = ({ subtype, content, compactMetadata }: BoundaryEntry): object => ({
  role: 'system',
  subtype,
  content,
  compact_metadata: {
    trigger: compactMetadata?.trigger,
    pre_tokens: compactMetadata?.preTokens,
    ...(compactMetadata?.postTokens !== undefined && { post_tokens: compactMetadata.postTokens }),
  },
});
