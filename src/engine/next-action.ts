import type { ToolUseBlock } from '../protocol/index.js';
import {
  type AssistantEntry,
  type CallEntry,
  type Entry,
  isLifeEntry,
  type StepEntry,
  toBlocks,
  type TurnEntry,
} from './sessions/entry.js';

/** A tool call without a result, and how far it came. */
export interface OpenCall {
  block: ToolUseBlock;
  /** What arrived of an input that was not JSON. */
  invalidInput?: string;
  life: 'new' | 'requested' | 'answered' | 'started';
  /** The answer that was given before the process died, if one was. */
  answer?: Extract<CallEntry, { state: 'answered' }>;
}

export type Action =
  | { do: 'idle' }
  | { do: 'call-model' }
  | { do: 'run-tools'; calls: OpenCall[] }
  /** The answer is not whole: say so to the model and call it again. */
  | { do: 'nudge'; why: 'max_tokens' | 'empty' }
  | { do: 'finish'; stopReason: string | null; empty: boolean };

const MAX_CONTINUATIONS = 3;

/** What has to happen next. Follows from the log alone, so a resumed session goes on as if nothing had been. */
export function nextAction(entries: readonly Entry[]): Action {
  const turn = currentTurn(entries);
  const prompted = turn?.some((entry) => entry.type === 'user' && !entry.isMeta);
  if (turn === undefined || !prompted) return { do: 'idle' };
  const last = turn.findLastIndex((entry) => isLifeEntry(entry) && entry.kind === 'step');
  if (last === -1) return { do: 'call-model' };

  const calls = openCalls(turn);
  if (calls.length > 0) return { do: 'run-tools', calls };
  const somethingToSay = turn.slice(last + 1).some((entry) => entry.type === 'user');
  if (somethingToSay) return { do: 'call-model' };

  const { stopReason, messageId } = turn[last] as StepEntry;
  if (stopReason === 'pause_turn') return { do: 'call-model' };
  const empty = !turn.some((entry) => entry.type === 'assistant' && entry.message.id === messageId);
  const stops = (reason: string) => turn.filter((entry) => isStep(entry) && entry.stopReason === reason).length;
  if (stopReason === 'max_tokens' && stops('max_tokens') <= MAX_CONTINUATIONS)
    return { do: 'nudge', why: 'max_tokens' };
  if (empty && stopReason !== 'refusal' && !wasNudged(turn)) return { do: 'nudge', why: 'empty' };
  return { do: 'finish', stopReason, empty };
}

/** The entries of the turn that is running, or undefined when none is. */
export function currentTurn(entries: readonly Entry[]): readonly Entry[] | undefined {
  const start = entries.findLastIndex((entry) => isLifeEntry(entry) && entry.kind === 'turn');
  if (start === -1 || (entries[start] as TurnEntry).state === 'ended') return undefined;
  return entries.slice(start + 1);
}

/** Tool calls that have no result yet, in order. Answers that were cut off are marked as aborted before this is asked. */
export function openCalls(entries: readonly Entry[]): OpenCall[] {
  const answered = new Set<string>();
  const aborted = new Set<string>();
  const lives = new Map<string, CallEntry[]>();
  for (const entry of entries) {
    if (entry.type === 'user') {
      for (const block of toBlocks(entry.message.content)) {
        if (block.type === 'tool_result') answered.add(block.tool_use_id);
      }
    } else if (isLifeEntry(entry)) {
      if (entry.kind === 'aborted') aborted.add(entry.messageId);
      if (entry.kind === 'call') lives.set(entry.toolUseId, [...(lives.get(entry.toolUseId) ?? []), entry]);
    }
  }
  const open: OpenCall[] = [];
  for (const entry of entries) {
    if (entry.type !== 'assistant' || aborted.has(entry.message.id)) continue;
    for (const block of entry.message.content) {
      if (block.type !== 'tool_use' || answered.has(block.id)) continue;
      open.push(toOpenCall(block, entry, lives.get(block.id) ?? []));
    }
  }
  return open;
}

function toOpenCall(block: ToolUseBlock, entry: AssistantEntry, life: readonly CallEntry[]): OpenCall {
  const call: OpenCall = { block, life: life.at(-1)?.state ?? 'new' };
  if (entry.invalidInput !== undefined) call.invalidInput = entry.invalidInput;
  const answer = life.findLast((step) => step.state === 'answered');
  if (answer) call.answer = answer;
  return call;
}

const isStep = (entry: Entry): entry is StepEntry => isLifeEntry(entry) && entry.kind === 'step';

/** Context stands before the first answer of a turn; what the engine says after it is a nudge. */
const wasNudged = (turn: readonly Entry[]): boolean =>
  turn.slice(turn.findIndex(isStep)).some((entry) => entry.type === 'user' && entry.isMeta === true);
