/** How large the context is, and how large it may become. Pure. */
import type { ContentBlockParam, Usage } from '../../protocol/index.js';
import { readContext, sinceSummary } from '../context.js';
import { DEFAULT_MAX_TOKENS } from '../model/catalog.js';
import { inputOf } from '../model/usage-sum.js';
import { type AssistantEntry, type Entry, isLifeEntry, toBlocks, type UserEntry } from '../sessions/entry.js';
import { shortenResult } from './trim-note.js';

const BYTES_PER_TOKEN = 4;
const IMAGE_TOKENS = 1_600;
const DOCUMENT_TOKENS = 3_000;

/** Room beside the longest answer. */
const SPARE_TOKENS = 1_000;

export interface ThresholdOptions {
  /** The context window of the model, in tokens. */
  window: number;
  maxOutput: number;
  env: Readonly<Record<string, string | undefined>>;
  /** What settings say; on when absent. */
  enabled?: boolean | undefined;
}

/** The size from which the context is made smaller by itself; undefined: never. */
export function compactThreshold({ window, maxOutput, env, enabled }: ThresholdOptions): number | undefined {
  if (enabled === false || isSet(env.DISABLE_COMPACT) || isSet(env.DISABLE_AUTO_COMPACT)) return undefined;
  const reserve = Math.min(Math.min(maxOutput, DEFAULT_MAX_TOKENS) + SPARE_TOKENS, window / 4);
  const most = Math.floor(window - reserve);
  const percent = Number.parseFloat(env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE ?? '');
  return percent > 0 && percent <= 100 ? Math.min(most, Math.floor((window * percent) / 100)) : most;
}

export const isSet = (value: string | undefined): boolean => value === '1' || value?.toLowerCase() === 'true';

export const textTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

export const blocksTokens = (blocks: readonly ContentBlockParam[]): number =>
  blocks.reduce((sum, block) => sum + blockTokens(block), 0);

/** A guess: the API alone knows. */
function blockTokens(block: ContentBlockParam): number {
  switch (block.type) {
    case 'text':
      return textTokens(block.text);
    case 'thinking':
      return textTokens(block.thinking);
    case 'tool_use':
      return textTokens(block.name + JSON.stringify(block.input));
    case 'tool_result':
      return typeof block.content === 'string' ? textTokens(block.content) : blocksTokens(block.content ?? []);
    case 'image':
      return IMAGE_TOKENS;
    case 'document':
      return DOCUMENT_TOKENS;
    default:
      return textTokens(JSON.stringify(block));
  }
}

/** Tokens that the next model call would send: what the last answer was counted with, and a guess at what came since. */
export function contextTokens(entries: readonly Entry[]): number {
  const { said, trimmed } = readContext(entries);
  const { counts, lateTrims } = readCounts(entries, new Set(said.map(idOf)));
  const last = said.findLastIndex((entry) => countOf(entry, counts) > 0);
  const base = said[last];
  if (base === undefined) return guess(said, trimmed);
  const counted = said.slice(0, last + 1);
  // The counts of another writer are those of the moment at which the answer began.
  const own = counts.has(idOf(base)) ? [] : counted.filter((entry) => idOf(entry) === idOf(base));
  const saved = lateTrims.size === 0 ? 0 : guess(counted, new Set()) - guess(counted, lateTrims);
  return Math.max(0, countOf(base, counts) + guess(own, trimmed) + guess(said.slice(last + 1), trimmed) - saved);
}

type SaidEntry = UserEntry | AssistantEntry;

const idOf = (entry: SaidEntry): string => (entry.type === 'assistant' ? entry.message.id : '');

function countOf(entry: SaidEntry, counts: ReadonlyMap<string, number>): number {
  if (entry.type !== 'assistant') return 0;
  const known = counts.get(entry.message.id);
  if (known !== undefined || entry.writer === 'heddle') return known ?? 0;
  return sumOf(entry.message.usage, { output: false });
}

/** Other writers, and other providers, may leave counts out. */
function sumOf(usage: Partial<Usage> | undefined, { output }: { output: boolean }): number {
  const sum = inputOf(usage ?? {});
  const total = sum + (output ? (usage?.output_tokens ?? 0) : 0);
  return Number.isFinite(total) && sum > 0 ? total : 0;
}

/** What each of these answers was counted with, and the results that were shortened after the last of them. */
function readCounts(
  entries: readonly Entry[],
  answers: ReadonlySet<string>,
): { counts: Map<string, number>; lateTrims: Set<string> } {
  const counts = new Map<string, number>();
  let lateTrims = new Set<string>();
  for (const entry of sinceSummary(entries)) {
    if (!isLifeEntry(entry)) continue;
    if (entry.kind === 'trim') for (const id of entry.toolUseIds) lateTrims.add(id);
    if (entry.kind !== 'step' || !answers.has(entry.messageId)) continue;
    const sum = sumOf(entry.usage, { output: true });
    if (sum === 0) continue;
    counts.set(entry.messageId, sum);
    lateTrims = new Set();
  }
  return { counts, lateTrims };
}

function guess(said: readonly SaidEntry[], trimmed: ReadonlySet<string>): number {
  return said.reduce((sum, entry) => {
    const blocks = entry.type === 'user' ? toBlocks(entry.message.content) : entry.message.content;
    const shown = blocks.map((block) =>
      block.type === 'tool_result' && trimmed.has(block.tool_use_id) ? shortenResult(block) : block,
    );
    return sum + blocksTokens(shown);
  }, 0);
}

/** Whether the context must become smaller before the next model call: never twice without an answer in between. */
export function isCompactionDue(entries: readonly Entry[], compactAt: number | undefined): boolean {
  return compactAt !== undefined && hasAnswerSince(entries) && contextTokens(entries) >= compactAt;
}

/** Whether the model has answered since the context was last made smaller. */
function hasAnswerSince(entries: readonly Entry[]): boolean {
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    const entry = entries[index];
    if (entry === undefined) continue;
    if (isLifeEntry(entry)) {
      if (entry.kind === 'step') return true;
      if (entry.kind === 'trim') return false;
    } else if (entry.type === 'user') {
      if (entry.isCompactSummary) return false;
    } else if (entry.type === 'assistant' && entry.writer !== 'heddle') return true;
  }
  return false;
}
