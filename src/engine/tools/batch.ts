import type { ToolResultBlock } from '../../protocol/index.js';
import type { OpenCall } from '../next-action.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { type CallOutcome, notRun, runCall } from './pipeline.js';

/** One call's place in the order of its message. */
interface Place {
  /** Resolves when later read-only calls may run beside this one: it is read-only itself, or over. */
  passed: Promise<void>;
  finished: Promise<void>;
}

/**
 * Runs the calls of one message. All are judged at once, so that every question is visible; read-only calls then run
 * together, and any other call waits for those before it. A result is recorded as soon as it is there.
 */
export async function runBatch(
  scope: SessionScope,
  calls: readonly OpenCall[],
  options: { tally: TurnTally; signal: AbortSignal },
): Promise<{ interrupt: boolean }> {
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const places: Place[] = [];
  let interrupt = false;
  for (const call of calls) {
    const before = [...places];
    const pass = Promise.withResolvers<void>();
    const run = async (): Promise<void> => {
      const outcome = await runCall(scope, call, {
        signal,
        mayRun: async ({ readOnly }) => {
          if (readOnly) {
            pass.resolve();
            await Promise.all(before.map((place) => place.passed));
          } else {
            await Promise.all(before.map((place) => place.finished));
          }
        },
      });
      if (outcome.interrupt) {
        interrupt = true;
        stop.abort();
      }
      recordOutcome(scope, call, outcome, options.tally);
    };
    const finished = run().finally(pass.resolve);
    places.push({ passed: pass.promise, finished });
  }
  await Promise.all(places.map((place) => place.finished));
  return { interrupt };
}

/** Gives calls that will not run a result, because the model API wants every call paired with one. */
export function settleCalls(scope: SessionScope, calls: readonly OpenCall[], tally: TurnTally): void {
  for (const call of calls) recordOutcome(scope, call, notRun(call), tally);
}

function recordOutcome(scope: SessionScope, { block }: OpenCall, outcome: CallOutcome, tally: TurnTally): void {
  if (outcome.denial) tally.denials.push(outcome.denial);
  const result: ToolResultBlock = { type: 'tool_result', tool_use_id: block.id, content: outcome.content };
  if (outcome.isError) result.is_error = true;
  scope.recorder.user({ content: [result], toolUseResult: outcome.structured, show: {} });
}
