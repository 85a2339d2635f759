/** Makes the context smaller: the log keeps everything, the model goes on from a summary. */
import type { MessageParam, UserContentBlock } from '../../protocol/index.js';
import { type HeddleError, toHeddleError } from '../../protocol/plain.js';
import { sinceSummary, toContext } from '../context.js';
import { afterCompact, beforeCompact, type CompactTrigger } from '../hooks/around-compact.js';
import { toInit } from '../init.js';
import type { Limit } from '../budget/limit.js';
import { compactAt } from '../limits.js';
import { currentTurn } from '../next-action.js';
import { carryPlan } from '../plan/turn-notes.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { type Entry, isLifeEntry, toBlocks, type UserEntry } from '../sessions/entry.js';
import {
  carryFiles,
  carryLast,
  carryLists,
  carryPrompt,
  carryServers,
  carrySkills,
  carrySurroundings,
  toText,
} from './carry.js';
import { remind } from './remind.js';
import { blocksTokens, contextTokens } from './size.js';
import { type Summary, summarize } from './summarize.js';
import { continueFrom, GO_ON } from './texts.js';
import { planTrim, type Trim } from './trim.js';

export interface CompactOptions {
  trigger: CompactTrigger;
  /** What the summary must heed. */
  instructions?: string;
  /** The model API has refused the context as too long. */
  overflowed?: boolean;
  signal: AbortSignal;
  tally: TurnTally;
}

/** What became of it. Only the first two have changed the context; why one of the others came is said in a message. */
export type CompactOutcome =
  | { kind: 'compacted'; preTokens: number; postTokens: number; summary: string }
  | ({ kind: 'trimmed' } & Trim)
  /** There is nothing that a summary could make shorter. Nothing was said. */
  | { kind: 'nothing' }
  | { kind: 'blocked'; reason: string }
  | { kind: 'failed'; error: HeddleError }
  | { kind: 'limit'; limit: Limit }
  | { kind: 'interrupted' };

/** Never throws. */
export async function compact(scope: SessionScope, options: CompactOptions): Promise<CompactOutcome> {
  const { recorder, clock } = scope;
  const { trigger, instructions, signal, tally } = options;
  const startedAt = clock.monotonic();
  const threshold = compactAt(scope, tally);
  const trim =
    trigger === 'auto' && !options.overflowed && threshold !== undefined
      ? planTrim(recorder.log.entries, threshold)
      : undefined;
  if (trim) return applyTrim(scope, trim);

  const past = splitPast(recorder.log.entries, trigger);
  if (!past.hasAnswers) return { kind: 'nothing' };
  const limit = tally.budget.reached({ countTurns: false });
  if (limit) return { kind: 'limit', limit };
  const opening = await beforeCompact(scope, { trigger, instructions }, signal);
  if (signal.aborted) return { kind: 'interrupted' };
  if (opening.blocked !== undefined) {
    tell(scope, `The conversation is not summed up: a PreCompact hook blocks it. ${opening.blocked}`);
    return { kind: 'blocked', reason: opening.blocked };
  }

  const preTokens = contextTokens(recorder.log.entries);
  tellStatus(scope, { status: 'compacting', reason: reasonFor(options, { preTokens, threshold }) });
  let summary: Summary;
  try {
    const wanted = [...(instructions ? [instructions] : []), ...opening.instructions];
    const { messages } = past;
    const overflowed = options.overflowed === true && past.hasBegun;
    const made = await summarize(scope, { messages, instructions: wanted, overflowed, tally, signal });
    if ('subtype' in made) {
      tellStatus(scope, { status: null, compact_result: 'failed' });
      return { kind: 'limit', limit: made };
    }
    summary = made;
  } catch (thrown) {
    const error = toHeddleError(thrown);
    tellStatus(scope, { status: null, compact_result: 'failed' });
    if (signal.aborted) return { kind: 'interrupted' };
    tell(scope, `The conversation could not be summed up and stays as it is: ${error.message}`);
    return { kind: 'failed', error };
  }
  tellStatus(scope, { status: null, compact_result: 'success', compact_output_chars: summary.text.length });
  // What hooks add belongs to the context, so they are told before it begins anew: no moment to die in loses it.
  const remarks = await afterCompact(scope, { trigger, summary: summary.text }, signal);
  const text = continueFrom(summary.text, summary);
  const content = await compose(scope, { text, remarks, past, tally, signal });
  if (signal.aborted) return { kind: 'interrupted' };
  const postTokens = blocksTokens(content);
  const durationMs = Math.round(clock.monotonic() - startedAt);
  if (trigger === 'manual') recorder.emit(toInit(scope));
  recorder.boundary({ trigger, preTokens, postTokens, durationMs });
  recorder.user({
    content,
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
    show: { message: { role: 'user', content: text }, isReplay: false },
  });
  return { kind: 'compacted', preTokens, postTokens, summary: summary.text };
}

function applyTrim(scope: SessionScope, trim: Trim): CompactOutcome {
  const { toolUseIds, preTokens, postTokens } = trim;
  const saved = showCount(preTokens - postTokens);
  tell(scope, `${toolUseIds.length} old tool results are left out of the context to save about ${saved} tokens.`);
  void scope.recorder.life({ kind: 'trim', toolUseIds });
  return { kind: 'trimmed', ...trim };
}

/** What is summed up, and what is not because it waits for an answer. */
interface Past {
  messages: MessageParam[];
  /** The prompt of a turn that is not over. */
  prompt: UserContentBlock[];
  /** The model has begun to work on it. */
  hasBegun: boolean;
  /** It holds more than a prompt or the last summary. */
  hasAnswers: boolean;
}

function splitPast(entries: readonly Entry[], trigger: CompactTrigger): Past {
  const context = toContext(entries);
  // Of a turn that was refused after its first answer there may be no message of the model.
  const hasAnswers =
    context.some(({ role }) => role === 'assistant') ||
    sinceSummary(entries).some((entry) => isLifeEntry(entry) && entry.kind === 'step');
  const turn = trigger === 'auto' ? currentTurn(entries) : undefined;
  const said = (turn ?? []).filter((entry): entry is UserEntry => entry.type === 'user' && isSaid(entry));
  if (turn === undefined || turn.some((entry) => isLifeEntry(entry) && entry.kind === 'step')) {
    const prompt = said.filter((entry) => !entry.isMeta).slice(0, 1);
    return { messages: context, prompt: prompt.flatMap(blocksOf), hasBegun: turn !== undefined, hasAnswers };
  }
  const before = entries.slice(0, entries.length - turn.length);
  return { messages: toContext(before), prompt: said.flatMap(blocksOf), hasBegun: false, hasAnswers };
}

const blocksOf = ({ message }: UserEntry): UserContentBlock[] => toBlocks(message.content);

const isSaid = (entry: UserEntry): boolean =>
  !entry.isCompactSummary && blocksOf(entry).every(({ type }) => type !== 'tool_result');

interface Composition {
  text: string;
  remarks: readonly string[];
  past: Past;
  tally: TurnTally;
  signal: AbortSignal;
}

/** All that the model knows from here on, in one entry: it is in the log whole, or nothing has changed. */
async function compose(
  scope: SessionScope,
  { text, remarks, past, tally, signal }: Composition,
): Promise<UserContentBlock[]> {
  const window = scope.catalog.contextWindow(tally.model.model, [...(scope.config.betas ?? []), ...tally.model.betas]);
  const blocks: UserContentBlock[] = [
    ...(await carrySurroundings(scope, signal)),
    toText(text),
    ...carryLists(scope),
    ...(await carryPlan(scope)).map(remind),
    ...carryServers(scope, window),
    ...carrySkills(scope),
    ...(await carryFiles(scope, { room: Math.min(25_000, Math.floor(window / 8)) })),
    ...remarks.map(toText),
  ];
  const prompt = carryPrompt(past.prompt, { room: Math.floor(window / 4) });
  if (!past.hasBegun) return [...blocks, ...prompt];
  return [
    ...blocks,
    toText('The message of the user that is being worked on:'),
    ...prompt,
    ...carryLast(past.messages, { room: Math.min(10_000, Math.floor(window / 16)) }),
    toText(GO_ON),
  ];
}

function reasonFor(
  { trigger, overflowed }: CompactOptions,
  { preTokens, threshold }: { preTokens: number; threshold: number | undefined },
): string {
  if (trigger === 'manual') return 'The user asked for it.';
  if (overflowed) return 'The conversation no longer fits into the context window of the model.';
  return `The context has about ${showCount(preTokens)} tokens; from ${showCount(threshold ?? 0)} on it is summed up.`;
}

export const showCount = (count: number): string => count.toLocaleString('en-US');

function tellStatus(
  { recorder, clock, id }: SessionScope,
  fields: { status: 'compacting' | null; reason?: string; compact_result?: string; compact_output_chars?: number },
): void {
  recorder.emit({ type: 'system', subtype: 'status', ...fields, uuid: clock.uuid(), session_id: id });
}

function tell({ recorder, clock, id }: SessionScope, content: string): void {
  const uuid = clock.uuid();
  recorder.emit({ type: 'system', subtype: 'informational', level: 'notice', content, uuid, session_id: id });
}
