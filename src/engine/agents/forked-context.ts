/** What an agent knows that starts with what its parent knows. */
import type { ContentBlock, UserContentBlock } from '../../protocol/index.js';
import { shortenResult } from '../compaction/trim-note.js';
import { readContext } from '../context.js';
import { type AssistantEntry, type ChainEntry, type Entry, toBlocks, type UserEntry } from '../sessions/entry.js';

/**
 * The conversation as entries of the agent's own log, so that a resume finds it. Calls without a result are left out,
 * the one that starts the agent among them, and so is what was thought: it means something to its own answer alone.
 */
export function forkContext(
  entries: readonly Entry[],
  { agentId, uuid }: { agentId: string; uuid: () => string },
): ChainEntry[] {
  const { said, trimmed } = readContext(entries);
  const answered = new Set(said.flatMap((entry) => (entry.type === 'user' ? resultsOf(entry) : [])));
  const forked: ChainEntry[] = [];
  for (const entry of said) {
    const content =
      entry.type === 'user'
        ? toBlocks(entry.message.content).map((block) => trim(block, trimmed))
        : entry.message.content.filter((block) => isKept(block, answered));
    if (content.length === 0) continue;
    // Without its writer: nobody looks for the end of answers that came whole.
    const { writer: _, gitBranch: __, parentUuid: ___, ...rest } = entry;
    const links = { uuid: uuid(), parentUuid: forked.at(-1)?.uuid ?? null, isSidechain: true, agentId };
    forked.push({ ...rest, ...links, message: { ...entry.message, content } } as UserEntry | AssistantEntry);
  }
  return forked;
}

const resultsOf = ({ message }: UserEntry): string[] =>
  toBlocks(message.content).flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));

const trim = (block: UserContentBlock, trimmed: ReadonlySet<string>): UserContentBlock =>
  block.type === 'tool_result' && trimmed.has(block.tool_use_id) ? shortenResult(block) : block;

function isKept(block: ContentBlock, answered: ReadonlySet<string>): boolean {
  if (block.type === 'tool_use') return answered.has(block.id);
  return block.type !== 'thinking' && block.type !== 'redacted_thinking';
}
