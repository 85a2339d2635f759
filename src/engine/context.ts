import type { ContentBlock, MessageParam, UserContentBlock } from '../protocol/index.js';
import { type AssistantEntry, type Entry, isLifeEntry, toBlocks, type UserEntry } from './sessions/entry.js';

/** The conversation as the model sees it. It follows from the log alone, so a resumed session sends the same bytes. */
export function toContext(entries: readonly Entry[]): MessageParam[] {
  const aborted = abortedMessages(entries);
  const dropped = droppedEntries(entries);
  const messages: MessageParam[] = [];
  for (const entry of entries) {
    if (isLifeEntry(entry) || dropped.has(entry)) continue;
    if (entry.type === 'user') addUser(messages, entry);
    else if (!entry.isApiErrorMessage && !aborted.has(entry.message.id)) addAssistant(messages, entry);
  }
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user')
      message.content = orderResults(message.content as UserContentBlock[], messages[index - 1]);
  }
  return messages;
}

/** Blocks of one answer, and of answers that continue one another, are one message; the log keeps them apart. */
function addAssistant(messages: MessageParam[], entry: AssistantEntry): void {
  const blocks = entry.message.content.filter(saysSomething);
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === 'assistant') (last.content as ContentBlock[]).push(...blocks);
  else messages.push({ role: 'assistant', content: [...blocks] });
}

/** Neighbouring user entries are one message. */
function addUser(messages: MessageParam[], entry: UserEntry): void {
  const said = toBlocks(entry.message.content).filter(saysSomething);
  const blocks: UserContentBlock[] = said.length > 0 ? said : [{ type: 'text', text: '(an empty message)' }];
  const last = messages.at(-1);
  if (last?.role === 'user') (last.content as UserContentBlock[]).push(...blocks);
  else messages.push({ role: 'user', content: blocks });
}

/** Tool results first, as the API wants them, in the order of their calls, whichever of them was done first. */
function orderResults(content: readonly UserContentBlock[], answer: MessageParam | undefined): UserContentBlock[] {
  const order = callOrder(answer);
  const results = content.filter((block) => block.type === 'tool_result');
  results.sort((a, b) => (order.get(a.tool_use_id) ?? 0) - (order.get(b.tool_use_id) ?? 0));
  return [...results, ...content.filter((block) => block.type !== 'tool_result')];
}

/** The API refuses blocks of empty text. */
const saysSomething = (block: { type: string; text?: unknown }): boolean =>
  block.type !== 'text' || (typeof block.text === 'string' && block.text.trim() !== '');

function callOrder(answer: MessageParam | undefined): Map<string, number> {
  const blocks = (answer?.content ?? []) as ContentBlock[];
  return new Map(blocks.flatMap((block, index) => (block.type === 'tool_use' ? [[block.id, index] as const] : [])));
}

/** Ids of answers that failed or were cut off. */
function abortedMessages(entries: readonly Entry[]): Set<string> {
  const ids = new Set<string>();
  for (const entry of entries) if (isLifeEntry(entry) && entry.kind === 'aborted') ids.add(entry.messageId);
  return ids;
}

/** What turns said that the model API refused; what the engine told about the surroundings stays. */
function droppedEntries(entries: readonly Entry[]): Set<Entry> {
  const dropped = new Set<Entry>();
  let turn: Entry[] = [];
  for (const entry of entries) {
    if (!isLifeEntry(entry)) turn.push(entry);
    else if (entry.kind === 'turn' && entry.state === 'started') turn = [];
    else if (entry.kind === 'turn' && entry.dropped) for (const one of turn) if (!isSurroundings(one)) dropped.add(one);
  }
  return dropped;
}

const isSurroundings = (entry: Entry): boolean => entry.type === 'user' && entry.isMeta === true;
