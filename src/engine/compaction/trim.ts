/** Old large results are the first to go: they are known to the log, and the tool can be called again. Pure. */
import { readContext } from '../context.js';
import { type Entry, toBlocks } from '../sessions/entry.js';
import { blocksTokens, contextTokens } from './size.js';
import { shortenResult } from './trim-note.js';

/** The model may still be at work with the results of its last answers. */
const KEPT_ANSWERS = 3;
/** About 2,000 characters; a shorter one is not worth a note. */
const LEAST_TOKENS = 500;
/** A batch must bring the context well below the limit, or the next one follows at once. */
const GOAL = 0.7;

export interface Trim {
  toolUseIds: string[];
  /** The size of the context before and after it. */
  preTokens: number;
  postTokens: number;
}

/** The batch that makes the context small enough, or undefined when shortening results cannot. */
export function planTrim(entries: readonly Entry[], compactAt: number): Trim | undefined {
  const { said, trimmed } = readContext(entries);
  const answers = [...new Set(said.flatMap((entry) => (entry.type === 'assistant' ? [entry.message.id] : [])))];
  const firstKept = answers.at(-KEPT_ANSWERS);
  const end = said.findIndex((entry) => entry.type === 'assistant' && entry.message.id === firstKept);
  const toolUseIds: string[] = [];
  let saved = 0;
  for (const entry of said.slice(0, Math.max(end, 0))) {
    if (entry.type !== 'user') continue;
    for (const block of toBlocks(entry.message.content)) {
      if (block.type !== 'tool_result' || trimmed.has(block.tool_use_id)) continue;
      const size = blocksTokens([block]);
      if (size < LEAST_TOKENS) continue;
      toolUseIds.push(block.tool_use_id);
      saved += size - blocksTokens([shortenResult(block)]);
    }
  }
  const preTokens = contextTokens(entries);
  const postTokens = preTokens - saved;
  return toolUseIds.length > 0 && postTokens <= compactAt * GOAL ? { toolUseIds, preTokens, postTokens } : undefined;
}
