import type { ToolUseBlock } from '../protocol/index.js';
import type { Limit } from './budget/limit.js';
import { isCompactionDue } from './compaction/size.js';
import {
  type AssistantEntry,
  type CallEntry,
  type Entry,
  isLifeEntry,
  type StepEntry,
  toBlocks,
  type TurnEntry,
} from './sessions/entry.js';
import { endStructured, readStructured } from './structured-output/decide.js';

/** A tool call without a result, and how far it came. */
export interface OpenCall {
  block: ToolUseBlock;
  /** What arrived of an input that was not JSON. */
  invalidInput?: string;
  life: 'new' | 'requested' | 'answered' | 'started';
  /** The answer that was given before the process died, if one was. */
  answer?: Extract<CallEntry, { state: 'answered' }>;
  /** The agent that it started. */
  agentId?: string;
  /** The last question about it. */
  shown?: Extract<CallEntry, { state: 'requested' }>;
}

export type Action =
  | { do: 'idle' }
  | { do: 'call-model' }
  /** The context is too large for the next model call. */
  | { do: 'compact' }
  | { do: 'run-tools'; calls: OpenCall[] }
  /** The answer is not whole: say so to the model and call it again. */
  | { do: 'nudge'; why: 'max_tokens' | 'empty' | 'unstructured' }
  /** The turn owes a structured answer, and there will be none. */
  | { do: 'give-up'; limit: Limit }
  | { do: 'finish'; stopReason: string | null; empty: boolean; structured?: { value: unknown } };

export interface ActionOptions {
  /** The size from which the context is made smaller first; absent: it never is. */
  compactAt?: number | undefined;
  /** The turn owes an answer that matches a schema. */
  structured?: boolean;
}

const MAX_CONTINUATIONS = 3;
const MAX_PAUSES = 20;

/**
 * What has to happen next. Follows from the log alone, so a resumed session goes on as if nothing had been.
 */
export function nextAction(entries: readonly Entry[], { compactAt, structured = false }: ActionOptions = {}): Action {
  const action = advance(entries, structured);
  return action.do === 'call-model' && isCompactionDue(entries, compactAt) ? { do: 'compact' } : action;
}

function advance(entries: readonly Entry[], structured: boolean): Action {
  const turn = currentTurn(entries);
  const prompted = turn?.some((entry) => entry.type === 'user' && !entry.isMeta && !entry.isCompactSummary);
  if (turn === undefined || !prompted) return { do: 'idle' };
  const last = turn.findLastIndex((entry) => isLifeEntry(entry) && entry.kind === 'step');
  if (last === -1) return { do: 'call-model' };

  const calls = openCalls(turn);
  if (calls.length > 0) return { do: 'run-tools', calls };
  const answer = structured ? readStructured(turn) : undefined;
  if (answer?.state === 'failed') return { do: 'give-up', limit: answer.limit };
  if (answer?.state === 'given')
    return { do: 'finish', stopReason: null, empty: false, structured: { value: answer.value } };
  const somethingToSay = turn.slice(last + 1).some((entry) => entry.type === 'user');
  if (somethingToSay) return { do: 'call-model' };

  const { stopReason, messageId } = turn[last] as StepEntry;
  const empty = !turn.some((entry) => isAnswer(entry) && entry.message.id === messageId);
  const stops = (reason: string) => turn.filter((entry) => isStep(entry) && entry.stopReason === reason).length;
  if (stopReason === 'pause_turn' && stops('pause_turn') <= MAX_PAUSES) return { do: 'call-model' };
  if (stopReason === 'max_tokens' && stops('max_tokens') <= MAX_CONTINUATIONS)
    return { do: 'nudge', why: 'max_tokens' };
  if (empty && stopReason !== 'refusal' && !wasNudged(turn)) return { do: 'nudge', why: 'empty' };
  if (!structured || stopReason === 'refusal' || stopReason === 'model_context_window_exceeded')
    return { do: 'finish', stopReason, empty };
  const end = endStructured(turn);
  if (end.do === 'remind') return { do: 'nudge', why: 'unstructured' };
  if (end.do === 'fail') return { do: 'give-up', limit: end.limit };
  return { do: 'finish', stopReason, empty: false, structured: { value: end.value } };
}

/** The entries of the turn that is running, or undefined when none is. */
export function currentTurn(entries: readonly Entry[]): readonly Entry[] | undefined {
  const last = entries.findLast((entry) => isTurn(entry));
  return last?.state === 'started' ? lastTurn(entries) : undefined;
}

/** The entries since the last turn began, whether it is over or not. */
export const lastTurn = (entries: readonly Entry[]): readonly Entry[] =>
  entries.slice(entries.findLastIndex((entry) => isTurn(entry) && entry.state === 'started') + 1);

/** The prompt of the last turn. */
export const lastPrompt = (entries: readonly Entry[]): string | undefined =>
  entries.findLast((entry): entry is TurnEntry => isTurn(entry) && entry.state === 'started')?.promptUuid;

/** The model that the running turn fell back to, if it did. */
export function lastFallback(entries: readonly Entry[]): string | undefined {
  const entry = currentTurn(entries)?.findLast((one) => isLifeEntry(one) && one.kind === 'fallback');
  return entry && 'model' in entry && typeof entry.model === 'string' ? entry.model : undefined;
}

/** Tool calls that have no result yet, in order. Answers that were cut off are marked as aborted before this is asked. */
export function openCalls(entries: readonly Entry[]): OpenCall[] {
  const aborted = new Set<string>();
  for (const entry of entries) if (isLifeEntry(entry) && entry.kind === 'aborted') aborted.add(entry.messageId);
  const open = new Map<string, OpenCall>();
  for (const entry of entries) {
    if (entry.type === 'assistant' && !aborted.has(entry.message.id)) {
      for (const block of entry.message.content)
        if (block.type === 'tool_use') open.set(block.id, toOpenCall(block, entry));
    } else if (entry.type === 'user') {
      for (const block of toBlocks(entry.message.content))
        if (block.type === 'tool_result') open.delete(block.tool_use_id);
    } else if (isLifeEntry(entry) && entry.kind === 'call') {
      const call = open.get(entry.toolUseId);
      if (call) live(call, entry);
    } else if (isLifeEntry(entry) && entry.kind === 'agent') {
      const call = open.get(entry.toolUseId ?? '');
      if (call) call.agentId = entry.agentId;
    }
  }
  return [...open.values()];
}

const toOpenCall = (block: ToolUseBlock, { invalidInput }: AssistantEntry): OpenCall => ({
  block,
  life: 'new',
  ...(invalidInput !== undefined && { invalidInput }),
});

function live(call: OpenCall, entry: CallEntry): void {
  call.life = entry.state;
  if (entry.state === 'answered') call.answer = entry;
  // Asked again, because what the first answer rested on has changed: that answer holds no more.
  if (entry.state === 'requested') {
    delete call.answer;
    call.shown = entry;
  }
}

const isTurn = (entry: Entry): entry is TurnEntry => isLifeEntry(entry) && entry.kind === 'turn';

/** An answer that says something: an empty text is none. */
const isAnswer = (entry: Entry): entry is AssistantEntry =>
  entry.type === 'assistant' && entry.message.content.some((block) => block.type !== 'text' || block.text !== '');

const isStep = (entry: Entry): entry is StepEntry => isLifeEntry(entry) && entry.kind === 'step';

/** Context stands before the first answer of a turn; what the engine says after it is a nudge. */
const wasNudged = (turn: readonly Entry[]): boolean =>
  turn.slice(turn.findIndex(isStep)).some((entry) => entry.type === 'user' && entry.isMeta === true);
