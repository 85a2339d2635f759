/** Sizes of what a request is made of, brought to what the API counted. Pure. */
import type { ToolParam } from '../../protocol/index.js';
import { blocksTokens, textTokens } from '../compaction/size.js';
import { readContext, sinceSummary, toContext } from '../context.js';
import { inputOf } from '../model/usage-sum.js';
import { type Entry, isLifeEntry } from '../sessions/entry.js';

export const toolTokens = (tool: ToolParam): number => textTokens(JSON.stringify(tool));

export function messagesTokens(entries: readonly Entry[]): number {
  return toContext(entries).reduce(
    (sum, { content }) => sum + (typeof content === 'string' ? textTokens(content) : blocksTokens(content)),
    0,
  );
}

/** Whether an answer in the context tells what the API counted for it. */
export function isCounted(entries: readonly Entry[]): boolean {
  const { said } = readContext(entries);
  const answers = said.filter((entry) => entry.type === 'assistant');
  const ids = new Set(answers.map(({ message }) => message.id));
  return (
    answers.some(({ writer, message }) => writer !== 'heddle' && (message.usage?.input_tokens ?? 0) > 0) ||
    sinceSummary(entries).some(
      (entry) => isLifeEntry(entry) && entry.kind === 'step' && ids.has(entry.messageId) && inputOf(entry.usage) > 0,
    )
  );
}

/** Whole numbers in the same proportion that come to the total exactly. */
export function scaleTo(sizes: readonly number[], total: number): number[] {
  const sum = sizes.reduce((all, size) => all + size, 0);
  if (sum === 0) return sizes.map(() => 0);
  const exact = sizes.map((size) => (size * total) / sum);
  const whole = exact.map(Math.floor);
  let left = total - whole.reduce((all, size) => all + size, 0);
  const byRest = exact
    .map((size, index) => ({ index, rest: size - Math.floor(size) }))
    .toSorted((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRest) {
    if (left < 1) break;
    whole[index] = (whole[index] ?? 0) + 1;
    left -= 1;
  }
  return whole;
}
