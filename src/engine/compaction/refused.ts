/** What stays of a turn that the model API refused. Pure. */
import type { ToolUseBlock } from '../../protocol/index.js';
import {
  type AssistantEntry,
  type Entry,
  isLifeEntry,
  type StepEntry,
  toBlocks,
  type UserEntry,
} from '../sessions/entry.js';
import { cutMiddle } from './cut-middle.js';
import { remind } from './remind.js';

type SaidEntry = UserEntry | AssistantEntry;

/** Instead of each of these entries the context has another one, or none. */
export type Replaced = ReadonlyMap<Entry, SaidEntry | undefined>;

export function replaceRefused(entries: readonly Entry[]): Replaced {
  const replaced = new Map<Entry, SaidEntry | undefined>();
  let turn: Entry[] = [];
  for (const entry of entries) {
    if (!isLifeEntry(entry) || entry.kind !== 'turn') turn.push(entry);
    else if (entry.state === 'started') turn = [];
    else if (entry.dropped) for (const [one, other] of replaceTail(turn)) replaced.set(one, other);
  }
  return replaced;
}

/**
 * All before the last answer was sent and taken: it stays. That answer and what was said to it may be what the API never
 * takes, so only words are left of them: calls that ran must be known, or the model makes them again. What the engine told
 * about the surroundings stays anyway.
 */
function replaceTail(turn: readonly Entry[]): [Entry, SaidEntry | undefined][] {
  const step = turn.findLastIndex((entry) => isLifeEntry(entry) && entry.kind === 'step');
  const messageId = (turn[step] as StepEntry | undefined)?.messageId;
  const isLast = (entry: Entry): entry is AssistantEntry =>
    entry.type === 'assistant' && entry.message.id === messageId;
  const first = turn.findIndex(isLast);
  const tail = turn.slice(first === -1 ? step + 1 : first);
  const calls = tail
    .filter(isLast)
    .flatMap(({ message }) => message.content.filter((block) => block.type === 'tool_use'));
  return tail.flatMap((entry): [Entry, SaidEntry | undefined][] => {
    if (entry.type === 'user') return entry.isMeta ? [] : [[entry, keepWords(entry, calls)]];
    return entry.type === 'assistant' ? [[entry, isLast(entry) ? keepTexts(entry) : undefined]] : [];
  });
}

const keepTexts = (entry: AssistantEntry): AssistantEntry => ({
  ...entry,
  message: { ...entry.message, content: entry.message.content.filter(({ type }) => type === 'text') },
});

/** A summary that was made in a refused turn stays; an image that came with its prompt may be what was refused. */
function keepWords(entry: UserEntry, calls: readonly ToolUseBlock[]): UserEntry | undefined {
  const blocks = toBlocks(entry.message.content);
  const content = entry.isCompactSummary
    ? blocks.filter(({ type }) => type === 'text')
    : blocks.flatMap((block) => {
        const call = block.type === 'tool_result' && calls.find(({ id }) => id === block.tool_use_id);
        return call
          ? [remind(describeCall(call, { isError: block.is_error === true, max: MAX_INPUTS / calls.length }))]
          : [];
      });
  return content.length === 0 ? undefined : { ...entry, message: { role: 'user', content } };
}

/** Characters of all inputs together. */
const MAX_INPUTS = 8_000;

const describeCall = ({ name, input }: ToolUseBlock, { isError, max }: { isError: boolean; max: number }): string => {
  const asked = cutMiddle(JSON.stringify(input) ?? '', Math.ceil(max));
  const end = isError ? 'It failed' : 'It is done';
  return `You called ${name} with ${asked}\n${end}. The result is left out: the model API refused the request that held it.`;
};
