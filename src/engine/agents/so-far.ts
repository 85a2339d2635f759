/** What an agent has said and done while it still works. Pure. */
import { lastTurn } from '../next-action.js';
import { type Entry, isLifeEntry } from '../sessions/entry.js';
import { cutText } from '../tools/bound.js';

/** The end is what matters; its log has all of it. */
const MAX_ITEMS = 30;
const MAX_TEXT = 1_000;

/** The last texts and the names of the last calls since it was last told something, the newest at the end. */
export function describeSoFar(entries: readonly Entry[]): string {
  const turn = lastTurn(entries);
  // What was tried and given up was never said.
  const aborted = new Set(
    turn.flatMap((entry) => (isLifeEntry(entry) && entry.kind === 'aborted' ? [entry.messageId] : [])),
  );
  const blocks = turn.flatMap((entry) =>
    entry.type === 'assistant' && !aborted.has(entry.message.id) ? entry.message.content : [],
  );
  const calls = blocks.filter(({ type }) => type === 'tool_use').length;
  const items = blocks.flatMap((block) => {
    if (block.type === 'tool_use') return [`[It called ${block.name}]`];
    return block.type === 'text' && block.text.trim() !== '' ? [shorten(block.text.trim())] : [];
  });
  const head = `[The agent is still working. Tool calls so far: ${calls}]`;
  const left = items.length - MAX_ITEMS;
  return [head, ...(left > 0 ? [`[${left} earlier ones are left out]`] : []), ...items.slice(-MAX_ITEMS)].join('\n');
}

const shorten = (text: string): string => (text.length <= MAX_TEXT ? text : `${cutText(text, MAX_TEXT)} [cut]`);
