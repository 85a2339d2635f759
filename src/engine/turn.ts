import type { HeddleError } from '../protocol/plain.js';
import { withinTime } from './budget/time.js';
import { createRelief } from './compaction/relief.js';
import { mayStop } from './hooks/around-turn.js';
import type { Limit } from './budget/limit.js';
import { explainModelError } from './model/explain.js';
import { type Action, lastTurn, nextAction, openCalls } from './next-action.js';
import type { Ending } from './outcome.js';
import type { SessionScope, TurnTally } from './scope.js';
import { step } from './step.js';
import { readStructured, REMINDER } from './structured-output/decide.js';
import { runBatch, settleCalls } from './tools/batch.js';

/**
 * THE LOOP. Does what the log asks for until it asks for nothing more. The main thread, a resumed session and every
 * subagent run this one function.
 */
export async function turn(scope: SessionScope, tally: TurnTally, signal: AbortSignal): Promise<Ending> {
  const { clock } = scope;
  const timed = await withinTime(tally.budget, { clock, signal }, (both) => advance(scope, tally, both));
  const ending = timed.over && timed.value.kind === 'interrupted' ? toLimited(timed.over) : timed.value;
  settleCalls(scope, openCalls(lastTurn(scope.recorder.log.entries)));
  if (ending.kind === 'interrupted') sayInterrupted(scope, ending.during);
  return ending;
}

const toLimited = (limit: Limit): Ending => ({ kind: 'limit', limit });

async function advance(scope: SessionScope, tally: TurnTally, signal: AbortSignal): Promise<Ending> {
  const { log, outbox } = scope.recorder;
  const relief = createRelief(scope, tally, signal);
  const structured = scope.config.jsonSchema !== undefined;
  for (;;) {
    if (signal.aborted) return { kind: 'interrupted', during: 'streaming' };
    const action = nextAction(log.entries, { compactAt: relief.compactAt, structured });
    switch (action.do) {
      case 'compact': {
        const limit = tally.budget.reached();
        if (limit) return { kind: 'limit', limit };
        const ending = await relief.compact();
        if (typeof ending === 'object') return ending;
        break;
      }
      case 'call-model': {
        const limit = tally.budget.reached();
        if (limit) return { kind: 'limit', limit };
        await outbox.ready(signal);
        if (signal.aborted) return { kind: 'interrupted', during: 'streaming' };
        const outcome = await step(scope, tally, signal);
        if (outcome.kind === 'limit') return { kind: 'limit', limit: outcome.limit };
        if (outcome.kind === 'interrupted') return { kind: 'interrupted', during: 'streaming' };
        if (outcome.kind === 'done') relief.noteAnswer();
        else {
          const relieved = outcome.error.code === 'model_prompt_too_long' && (await relief.makeRoom());
          if (typeof relieved === 'object') return relieved;
          if (!relieved) return explainFailure(scope, tally, outcome.error);
        }
        break;
      }
      case 'run-tools': {
        const limit = tally.budget.reached({ countTurns: false });
        if (limit) return { kind: 'limit', limit };
        const { interrupt, stop } = await runBatch(scope, action.calls, { tally, signal });
        tally.rounds += 1;
        if (interrupt || signal.aborted) return { kind: 'interrupted', during: 'tools' };
        if (stop) return structured ? stopStructured(scope, stop) : { kind: 'stopped', ...stop };
        break;
      }
      case 'nudge':
        if (action.why === 'max_tokens') tally.text.joined += tally.text.last;
        scope.recorder.user({ content: NUDGES[action.why], isMeta: true, show: { isSynthetic: true } });
        tally.rounds += 1;
        break;
      case 'finish': {
        const relieved = action.stopReason === 'model_context_window_exceeded' && (await relief.makeRoom());
        if (typeof relieved === 'object') return relieved;
        if (relieved) {
          tally.text.joined += tally.text.last;
          tally.rounds += 1;
          break;
        }
        const ending = (await finishStructured(scope, action)) ?? finish(action, tally);
        if (ending.kind !== 'done' || (await mayStop(scope, tally, signal))) return ending;
        break;
      }
      case 'give-up':
        return { kind: 'limit', limit: action.limit };
      case 'idle':
        return { kind: 'failed', errors: ['There is nothing to do: the log has no prompt.'] };
    }
  }
}

const NUDGES = {
  max_tokens: 'The answer was cut off at the output limit. Go on exactly where it stops, without repeating anything.',
  empty: 'The answer was empty. Answer now, or say what is missing.',
  unstructured: REMINDER,
} as const;

function finish(action: Extract<Action, { do: 'finish' }>, tally: TurnTally): Ending {
  if (action.stopReason === 'refusal') {
    return { kind: 'failed', errors: ['The model refused to answer this request.'], terminalReason: 'refusal' };
  }
  if (action.stopReason === 'model_context_window_exceeded') {
    const errors = ['The conversation no longer fits into the context window of the model.'];
    return { kind: 'failed', errors, code: 'model_prompt_too_long', terminalReason: 'prompt_too_long' };
  }
  if (action.empty) return { kind: 'failed', errors: ['The model gave an empty answer.'], terminalReason: 'empty' };
  return { kind: 'done', text: tally.text.joined + tally.text.last };
}

/** The end of a turn with an answer that matches the schema; undefined where none is owed. */
const finishStructured = async (
  scope: SessionScope,
  { structured }: Extract<Action, { do: 'finish' }>,
): Promise<Ending | undefined> => (structured === undefined ? undefined : finishValue(scope, structured.value));

async function finishValue({ config }: SessionScope, value: unknown): Promise<Ending> {
  const { findMismatch } = await import('./structured-output/open.js');
  const mismatch = await findMismatch(config.jsonSchema ?? {}, value);
  if (mismatch === undefined) return { kind: 'done', text: JSON.stringify(value), structured: value };
  return {
    kind: 'failed',
    errors: [`A hook has put a value that does not match the schema in place of the answer: ${mismatch}`],
  };
}

/** A hook ends the turn; an answer that was given by then stays one. */
async function stopStructured(scope: SessionScope, stop: { reason?: string }): Promise<Ending> {
  const read = readStructured(lastTurn(scope.recorder.log.entries));
  const ending = 'value' in read ? await finishValue(scope, read.value) : undefined;
  if (ending?.kind !== 'done') return ending ?? { kind: 'stopped', ...stop };
  return { kind: 'stopped', ...stop, structured: ending.structured };
}

/** A failed model call ends the turn with an explanation that stands where the answer would. */
function explainFailure(scope: SessionScope, tally: TurnTally, error: HeddleError): Ending {
  const { text, assistantError, apiErrorStatus, terminalReason } = explainModelError(error, {
    model: tally.model.model,
  });
  const zero = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  scope.recorder.assistant({
    message: {
      id: scope.clock.uuid(),
      type: 'message',
      role: 'assistant',
      model: '<synthetic>',
      content: [{ type: 'text', text }],
      stop_reason: 'stop_sequence',
      stop_sequence: '',
      usage: zero,
    },
    isApiErrorMessage: true,
    show: { error: assistantError, is_api_error_message: true, api_error_status: apiErrorStatus ?? null },
  });
  return {
    kind: 'api-error',
    text,
    error: assistantError,
    status: apiErrorStatus ?? null,
    code: error.code,
    ...(terminalReason !== undefined && { terminalReason }),
  };
}

function sayInterrupted(scope: SessionScope, during: 'streaming' | 'tools'): void {
  const text = during === 'tools' ? '[Request interrupted by user for tool use]' : '[Request interrupted by user]';
  scope.recorder.user({ content: [{ type: 'text', text }], show: {} });
}
