/** When even the request for a summary is too long, less of the conversation is read for it. Pure. */
import type { ContentBlockParam, MessageParam, ToolResultBlock } from '../../protocol/index.js';
import { cutMiddle } from './cut-middle.js';
import { blocksTokens } from './size.js';

export interface Shrunk {
  messages: MessageParam[];
  /** Messages that are not there. */
  leftOut: number;
  /** Long texts are there in part. */
  cut: boolean;
}

/** How much of the conversation is kept, counted from its end, and how long a text may be. */
const STAGES = [
  { share: 1, text: Infinity },
  { share: 0.6, text: Infinity },
  { share: 0.3, text: 8_000 },
  { share: 0, text: 2_000 },
] as const;

export const LAST_STAGE = STAGES.length - 1;

/** The first message, and the newest whole rounds: a call is never parted from its result. */
export function shrink(messages: readonly MessageParam[], stage: number): Shrunk {
  const { share, text } = STAGES[Math.min(stage, LAST_STAGE)] ?? STAGES[0];
  if (share === 1) return { messages: [...messages], leftOut: 0, cut: false };
  const head = messages[0]?.role === 'user' ? messages.slice(0, 1) : [];
  const rounds = toRounds(messages.slice(head.length));
  let room = share * tokensOf(messages) - tokensOf(head);
  let first = rounds.length;
  while (first > 0) {
    const size = tokensOf(rounds[first - 1] ?? []);
    if (first < rounds.length && size > room) break;
    room -= size;
    first -= 1;
  }
  const leftOut = rounds.slice(0, first).flat().length;
  const kept = [...withNote(head, leftOut), ...rounds.slice(first).flat()];
  if (text === Infinity) return { messages: kept, leftOut, cut: false };
  return { messages: kept.map((message) => cutMessage(message, text)), leftOut, cut: true };
}

/** An answer and what was said to it. */
function toRounds(messages: readonly MessageParam[]): MessageParam[][] {
  const rounds: MessageParam[][] = [];
  for (const message of messages) {
    const last = rounds.at(-1);
    if (last === undefined || message.role === 'assistant') rounds.push([message]);
    else last.push(message);
  }
  return rounds;
}

const blocksOf = ({ content }: MessageParam): ContentBlockParam[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const tokensOf = (messages: readonly MessageParam[]): number =>
  messages.reduce((sum, message) => sum + blocksTokens(blocksOf(message)), 0);

function withNote(head: readonly MessageParam[], leftOut: number): MessageParam[] {
  if (leftOut === 0) return [...head];
  const note: ContentBlockParam = { type: 'text', text: `[${leftOut} messages that followed are left out here]` };
  return [{ role: 'user', content: [...head.flatMap(blocksOf), note] }];
}

const cutMessage = (message: MessageParam, max: number): MessageParam => ({
  ...message,
  content: blocksOf(message).map((block) => cutBlock(block, max)),
});

/** Thinking is signed, so it stays as it is. */
function cutBlock(block: ContentBlockParam, max: number): ContentBlockParam {
  switch (block.type) {
    case 'text':
      return { ...block, text: cutMiddle(block.text, max) };
    case 'image':
    case 'document':
      return { type: 'text', text: `[${block.type} left out here]` };
    case 'tool_use': {
      const fields = Object.entries(block.input).map(([key, value]) => [
        key,
        typeof value === 'string' ? cutMiddle(value, max) : value,
      ]);
      return { ...block, input: Object.fromEntries(fields) };
    }
    case 'tool_result':
      return { ...block, content: cutResult(block, max) };
    default:
      return block;
  }
}

function cutResult({ content }: ToolResultBlock, max: number): string {
  if (typeof content === 'string') return cutMiddle(content, max);
  const texts = (content ?? []).map((part) => (part.type === 'text' ? part.text : `[${part.type} left out here]`));
  return cutMiddle(texts.join('\n'), max);
}
