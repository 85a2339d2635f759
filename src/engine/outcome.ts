import type { ResultMessage } from '../protocol/index.js';
import type { Limit } from './limits.js';
import type { Manners } from './manners.js';
import type { SessionScope, TurnTally } from './scope.js';
import { HEDDLE_VERSION } from './version.js';

/** How a turn ended. */
export type Ending =
  | { kind: 'done'; text: string; structured?: unknown }
  /** The model API failed for good; the text explains it. */
  | { kind: 'api-error'; text: string; error: string; status: number | null; code: string; terminalReason?: string }
  | { kind: 'limit'; limit: Limit }
  /** A hook ended the turn (`continue: false`). */
  | { kind: 'stopped'; reason?: string; structured?: unknown }
  /** A hook did not let the prompt through. */
  | { kind: 'blocked'; text: string }
  /** A command was answered here, without the model. */
  | { kind: 'local'; name: string; text: string; isError?: boolean; isUnknown?: boolean }
  | { kind: 'interrupted'; during: 'streaming' | 'tools' }
  | { kind: 'failed'; errors: string[]; code?: string; terminalReason?: string };

const REFUSALS = new Set(['model_bad_request', 'model_request_too_large', 'model_prompt_too_long']);

/** What the API refuses once it refuses again: such a turn leaves the context, so that the next one can work. */
export const isRefused = (ending: Ending): boolean => ending.kind === 'api-error' && REFUSALS.has(ending.code);

export interface ResultCounters {
  index: number;
  queued: number;
  /** Who started the turn, if it was not the user. */
  origin?: ResultMessage['origin'];
}

/** The last Message of a turn. */
export function toResult(
  scope: SessionScope,
  tally: TurnTally,
  ending: Ending,
  counters: ResultCounters,
): ResultMessage {
  const { clock, spending, manners } = scope;
  const common = {
    type: 'result' as const,
    duration_ms: Math.round(clock.monotonic() - tally.startedAt),
    duration_api_ms: Math.round(tally.apiMs),
    num_turns: turnsOf(ending, tally, manners),
    stop_reason: tally.stopReason,
    session_id: scope.id,
    total_cost_usd: spending.totalUsd,
    usage: tally.usage,
    modelUsage: spending.byModel,
    permission_denials: scope.denials.splice(0),
    ...(tally.ttftMs !== undefined && { ttft_ms: Math.round(tally.ttftMs) }),
    queued_turn_count: counters.queued,
    result_index: counters.index,
    ...(counters.origin && { origin: counters.origin }),
    heddle_version: HEDDLE_VERSION,
    uuid: clock.uuid(),
  };
  const owesAnswer = scope.config.jsonSchema !== undefined;
  switch (ending.kind) {
    case 'done':
      return {
        ...common,
        subtype: 'success',
        is_error: false,
        result: ending.text,
        terminal_reason: 'completed',
        ...(ending.structured !== undefined && { structured_output: ending.structured }),
      };
    case 'stopped': {
      const terminal_reason = 'hook_stopped';
      const { structured, reason } = ending;
      if (structured !== undefined) {
        const result = JSON.stringify(structured);
        return {
          ...common,
          subtype: 'success',
          is_error: false,
          result,
          structured_output: structured,
          terminal_reason,
        };
      }
      if (owesAnswer) return { ...common, ...unanswered('ended the turn', reason) };
      return { ...common, subtype: 'success', is_error: false, result: '', terminal_reason };
    }
    case 'blocked': {
      if (owesAnswer) return { ...common, ...unanswered('did not let the prompt through', ending.text) };
      const result = manners.tellsBlockedPrompts ? ending.text : '';
      return { ...common, subtype: 'success', is_error: false, result, terminal_reason: 'hook_stopped' };
    }
    case 'local': {
      const { name, text, isError = false, isUnknown = false } = ending;
      // Older clients have read it in a line of its own.
      const result = manners.answersCommands || isError || isUnknown ? text : '';
      const local_command = { name, outcome: isError ? 'error' : 'success' };
      return {
        ...common,
        subtype: 'success',
        is_error: isError,
        result,
        terminal_reason: 'completed',
        ...(manners.answersCommands && { local_command }),
      };
    }
    case 'api-error':
      return {
        ...common,
        subtype: 'success',
        is_error: true,
        result: ending.text,
        terminal_reason: ending.terminalReason ?? 'api_error',
        api_error_status: ending.status,
        error_code: ending.code,
      };
    case 'limit': {
      const { subtype, text, terminalReason, alwaysError, code } = ending.limit;
      const is_error = alwaysError ?? manners.limitsAreErrors;
      return {
        ...common,
        subtype,
        is_error,
        errors: is_error ? [text] : [],
        terminal_reason: terminalReason,
        ...(code !== undefined && { error_code: code }),
      };
    }
    case 'interrupted':
      return {
        ...common,
        subtype: 'error_during_execution',
        is_error: false,
        errors: [],
        terminal_reason: ending.during === 'tools' ? 'aborted_tools' : 'aborted_streaming',
      };
    case 'failed':
      return {
        ...common,
        subtype: 'error_during_execution',
        is_error: true,
        errors: ending.errors,
        ...(ending.terminalReason !== undefined && { terminal_reason: ending.terminalReason }),
        ...(ending.code !== undefined && { error_code: ending.code }),
      };
  }
}

/** Who is owed a value must not take its absence for an answer. */
const unanswered = (what: string, reason = '') => ({
  subtype: 'error_during_execution' as const,
  is_error: true,
  errors: [`A hook ${what} before the structured answer was given.${reason === '' ? '' : ` ${reason}`}`],
  terminal_reason: 'hook_stopped',
});

function turnsOf(ending: Ending, tally: TurnTally, { answersCommands }: Manners): number {
  if (ending.kind === 'blocked') return 0;
  if (ending.kind !== 'local') return 1 + tally.rounds + (ending.kind === 'interrupted' ? 1 : 0);
  if (answersCommands) return 0;
  return ending.isUnknown ? 1 : 2;
}
