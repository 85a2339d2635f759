import type { ContentBlock, MessageParam, ToolResultBlock, UserContentBlock } from '../protocol/index.js';
import { replaceRefused } from './compaction/refused.js';
import { shortenResult } from './compaction/trim-note.js';
import { type AssistantEntry, type Entry, isLifeEntry, toBlocks, type UserEntry } from './sessions/entry.js';

type SaidEntry = UserEntry | AssistantEntry;

/** The conversation as the model sees it. It follows from the log alone, so a resumed session sends the same bytes. */
export function toContext(entries: readonly Entry[]): MessageParam[] {
  const { said, trimmed } = readContext(entries);
  const messages: MessageParam[] = [];
  for (const entry of said) {
    if (entry.type === 'user') addUser(messages, entry, trimmed);
    else addAssistant(messages, entry);
  }
  // The line of the first prompt may be damaged.
  if (messages[0]?.role === 'assistant') messages.unshift({ role: 'user', content: [DAMAGED] });
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user')
      message.content = orderResults(message.content as UserContentBlock[], messages[index - 1]);
  }
  return messages;
}

/** What of a log the context is made of. */
export interface ContextParts {
  said: SaidEntry[];
  /** The calls whose results are shown as a note. */
  trimmed: ReadonlySet<string>;
}

export function readContext(entries: readonly Entry[]): ContextParts {
  const since = sinceSummary(entries);
  const aborted = abortedMessages(since);
  const replaced = replaceRefused(since);
  const said: SaidEntry[] = [];
  const trimmed = new Set<string>();
  for (const written of since) {
    const entry = replaced.has(written) ? replaced.get(written) : written;
    if (entry === undefined) continue;
    if (isLifeEntry(entry)) {
      if (entry.kind === 'trim') for (const id of entry.toolUseIds) trimmed.add(id);
    } else if (entry.type === 'user') {
      said.push(entry);
    } else if (entry.type === 'assistant') {
      if (!entry.isApiErrorMessage && !aborted.has(entry.message.id)) said.push(entry);
    }
  }
  return { said, trimmed };
}

/**
 * What counts since the conversation was last summed up, the summary first, or since it began anew. A boundary that no summary follows, because
 * the process died between the two, changes nothing.
 */
export function sinceSummary(entries: readonly Entry[]): readonly Entry[] {
  const start = entries.findLastIndex(
    (entry) =>
      (entry.type === 'user' && entry.isCompactSummary === true) ||
      (isLifeEntry(entry) && entry.kind === 'branch' && entry.at === null),
  );
  return start <= 0 ? entries : entries.slice(start);
}

/** Blocks of one answer, and of answers that continue one another, are one message; the log keeps them apart. */
function addAssistant(messages: MessageParam[], entry: AssistantEntry): void {
  const blocks = entry.message.content.filter(saysSomething);
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === 'assistant') for (const block of blocks) (last.content as ContentBlock[]).push(block);
  else messages.push({ role: 'assistant', content: [...blocks] });
}

/** Neighbouring user entries are one message. */
function addUser(messages: MessageParam[], entry: UserEntry, trimmed: ReadonlySet<string>): void {
  const said = toBlocks(entry.message.content)
    .filter(saysSomething)
    .map((block) => (block.type === 'tool_result' && trimmed.has(block.tool_use_id) ? shortenResult(block) : block));
  const blocks: UserContentBlock[] = said.length > 0 ? said : [{ type: 'text', text: '(an empty message)' }];
  const last = messages.at(-1);
  if (last?.role === 'user') for (const block of blocks) (last.content as UserContentBlock[]).push(block);
  else messages.push({ role: 'user', content: blocks });
}

/**
 * Tool results first, as the API wants them, one for each call in the order of the calls, whichever was done first. In a
 * damaged log a call or a result may be missing: the API would refuse its other half for ever.
 */
function orderResults(content: readonly UserContentBlock[], answer: MessageParam | undefined): UserContentBlock[] {
  const results = new Map<string, ToolResultBlock>();
  for (const block of content) if (block.type === 'tool_result') results.set(block.tool_use_id, block);
  const calls = ((answer?.content ?? []) as ContentBlock[]).filter((block) => block.type === 'tool_use');
  const others = content.filter((block) => block.type !== 'tool_result');
  const ordered = [...calls.map(({ id }) => results.get(id) ?? lostResult(id)), ...others];
  return ordered.length > 0 ? ordered : [DAMAGED];
}

const DAMAGED: UserContentBlock = {
  type: 'text',
  text: '(The log of this session is damaged: something is missing here.)',
};

const lostResult = (id: string): ToolResultBlock => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'The result of this call was lost: the log of the session is damaged here. Check before you repeat it.',
  is_error: true,
});

/** The API refuses blocks of empty text. */
const saysSomething = (block: { type: string; text?: unknown }): boolean =>
  block.type !== 'text' || (typeof block.text === 'string' && block.text.trim() !== '');

/** Ids of answers that failed or were cut off. */
function abortedMessages(entries: readonly Entry[]): Set<string> {
  const ids = new Set<string>();
  for (const entry of entries) if (isLifeEntry(entry) && entry.kind === 'aborted') ids.add(entry.messageId);
  return ids;
}
