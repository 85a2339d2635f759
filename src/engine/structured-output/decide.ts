/** Whether a turn that owes a structured answer has given it. Follows from the log alone. Pure. */
import type { Limit } from '../budget/limit.js';
import { stopFeedback } from '../hooks/texts.js';
import { type Entry, isLifeEntry, toBlocks } from '../sessions/entry.js';

export const STRUCTURED_OUTPUT = 'StructuredOutput';

/** Calls whose value did not match, since the last one that did. */
export const MAX_INVALID_CALLS = 5;
/** How often a model that ends without the call is told to make it. */
export const MAX_REMINDERS = 3;

const TAG = '[structured-output-enforce]';

/** What a model is told that ends its turn without the call. */
export const REMINDER = `${TAG} You have not given your answer yet. Call the ${STRUCTURED_OUTPUT} tool now, with a value that matches its schema; what you say outside of it is not read.`;

/** What the log says about the answer that a turn owes. */
export type StructuredState =
  /** It is there, and nothing has been said since: the turn is over. */
  | { state: 'given'; value: unknown }
  /** It was given before, and then the turn was told to go on. */
  | { state: 'kept'; value: unknown }
  | { state: 'owed' }
  /** There will be none. */
  | { state: 'failed'; limit: Limit };

interface Call {
  isValid: boolean;
  value: unknown;
  /** What the model was told. */
  text: string;
  /** Where in the turn that is. */
  at: number;
}

/** Where a turn stands. `turn` holds its entries, from its prompt on. */
export function readStructured(turn: readonly Entry[]): StructuredState {
  const calls = readCalls(turn);
  const last = calls.findLastIndex(({ isValid }) => isValid);
  const invalid = calls.slice(last + 1);
  const tooMany = invalid.length >= MAX_INVALID_CALLS;
  if (last === -1) return tooMany ? { state: 'failed', limit: invalidLimit(invalid) } : { state: 'owed' };
  const { value, at } = calls[last] as Call;
  // Hooks did not let the turn end with it. When a better one was tried in vain, it is good enough.
  const sentBack = turn.slice(at + 1).some((entry) => FEEDBACK.some((start) => saysFirst(entry, start)));
  return { state: sentBack && !tooMany ? 'kept' : 'given', value };
}

/** What follows when the model has ended its turn by itself. */
export function endStructured(
  turn: readonly Entry[],
): { do: 'finish'; value: unknown } | { do: 'remind' } | { do: 'fail'; limit: Limit } {
  const read = readStructured(turn);
  if (read.state === 'failed') return { do: 'fail', limit: read.limit };
  if (read.state !== 'owed') return { do: 'finish', value: read.value };
  const reminders = turn.filter((entry) => saysFirst(entry, TAG)).length;
  return reminders < MAX_REMINDERS ? { do: 'remind' } : { do: 'fail', limit: uncalledLimit(reminders) };
}

/** The calls of the tool that have a result, in the order of the results. */
function readCalls(turn: readonly Entry[]): Call[] {
  const asked = new Map<string, unknown>();
  const calls: Call[] = [];
  for (const [at, entry] of turn.entries()) {
    if (isLifeEntry(entry)) continue;
    if (entry.type === 'assistant') {
      for (const block of entry.message.content) {
        if (block.type === 'tool_use' && block.name === STRUCTURED_OUTPUT) asked.set(block.id, block.input);
      }
    } else if (entry.type === 'user') {
      for (const block of toBlocks(entry.message.content)) {
        if (block.type !== 'tool_result' || !asked.has(block.tool_use_id)) continue;
        const text = typeof block.content === 'string' ? block.content : JSON.stringify(block.content ?? '');
        const isValid = block.is_error !== true;
        // A hook may have changed the input; the result holds what was checked last.
        const { toolUseResult: kept } = entry;
        const value = typeof kept === 'object' && kept !== null ? kept : asked.get(block.tool_use_id);
        calls.push({ isValid, value, text, at });
      }
    }
  }
  return calls;
}

const FEEDBACK = [stopFeedback('Stop', ''), stopFeedback('SubagentStop', '')];

/** Whether an entry is something that the engine says, and begins like this. */
function saysFirst(entry: Entry, start: string): boolean {
  if (entry.type !== 'user' || entry.isMeta !== true) return false;
  const [first] = toBlocks(entry.message.content);
  return first?.type === 'text' && first.text.startsWith(start);
}

const failed = (text: string): Limit => ({
  subtype: 'error_max_structured_output_retries',
  text,
  terminalReason: 'structured_output_retry_exhausted',
  alwaysError: true,
});

const invalidLimit = (calls: readonly Call[]): Limit => {
  const last = (calls.at(-1)?.text ?? '').replace(/<\/?tool_use_error>/g, '').slice(0, 1_000);
  return failed(`No answer was accepted in ${calls.length} calls of ${STRUCTURED_OUTPUT}. The last one: ${last}`);
};

const uncalledLimit = (reminders: number): Limit =>
  failed(`The model gave no answer through ${STRUCTURED_OUTPUT}, though it was told to ${reminders} times.`);
