import type { ToolResultBlock } from '../../protocol/index.js';
import { canonicalToolName } from '../../protocol/plain.js';
import { type HookRemarks, toRemarks } from '../hooks/around-call.js';
import type { OpenCall } from '../next-action.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { type CallOutcome, notRun, runCall } from './pipeline.js';
import { type FinishedCall, summarizeCalls } from './summary.js';

export interface BatchEnd {
  /** Someone who denied a call wants the turn to end. */
  interrupt: boolean;
  /** A hook wants it to. */
  stop?: HookRemarks['stop'];
}

/** Read-only calls of one message that run at a time: a thousand Reads must not hold a thousand files. */
const MAX_TOGETHER = 16;
/** Agents mostly wait for their model. */
const MAX_AGENTS = 50;

/**
 * Runs the calls of one message. All are judged at once, so that every question is visible; read-only calls then run
 * together, and any other call waits for those before it. A result is recorded as soon as it is there.
 */
export async function runBatch(
  scope: SessionScope,
  calls: readonly OpenCall[],
  options: { tally: TurnTally; signal: AbortSignal },
): Promise<BatchEnd> {
  const abort = new AbortController();
  /** Of the calls that have not started. */
  const waiting = new Set<AbortController>();
  const seats = createSeats(MAX_TOGETHER);
  const agentSeats = createSeats(MAX_AGENTS);
  const done: FinishedCall[] = [];
  let interrupt = false;
  let stopped: HookRemarks['stop'];
  // Later read-only calls may run beside those before them that are read-only themselves, or over.
  let allPassed: Promise<unknown> = Promise.resolve();
  let allFinished: Promise<unknown> = Promise.resolve();
  for (const [index, call] of calls.entries()) {
    const before = { passed: allPassed, finished: allFinished };
    const pass = Promise.withResolvers<void>();
    const own = new AbortController();
    waiting.add(own);
    const run = async (): Promise<void> => {
      let leave = () => {};
      const outcome = await runCall(scope, call, {
        signal: AbortSignal.any([options.signal, abort.signal, own.signal]),
        onStart: () => void waiting.delete(own),
        mayRun: async ({ readOnly }) => {
          if (!readOnly) {
            await before.finished;
            return;
          }
          pass.resolve();
          await before.passed;
          leave = await (isAgentCall(call) ? agentSeats() : seats());
        },
      });
      leave();
      interrupt ||= outcome.interrupt === true;
      stopped ??= outcome.remarks?.stop;
      if (interrupt) abort.abort();
      // What runs by now is left to its end: nobody has interrupted it.
      if (stopped) for (const each of waiting) each.abort();
      recordOutcome(scope, call, outcome);
      done[index] = { block: call.block, isError: outcome.isError };
    };
    const finished = run().finally(pass.resolve);
    allPassed = before.passed.then(() => pass.promise);
    allFinished = before.finished.then(() => finished);
  }
  await allFinished;
  sumUp(scope, done);
  stopped ??= await tellBatch(scope, done, options.signal);
  return { interrupt, ...(stopped && { stop: stopped }) };
}

const isAgentCall = ({ block }: OpenCall): boolean => canonicalToolName(block.name) === 'Task';

/** Tells the hooks that all calls of an answer are over. */
async function tellBatch(
  scope: SessionScope,
  done: readonly FinishedCall[],
  signal: AbortSignal,
): Promise<HookRemarks['stop']> {
  if (!scope.hooks.has('PostToolBatch') || signal.aborted) return undefined;
  const tool_calls = done.map(({ block: { id, name, input }, isError }) => ({
    tool_name: name,
    tool_input: input,
    tool_use_id: id,
    is_error: isError,
  }));
  const verdict = await scope.hooks.fire('PostToolBatch', { tool_calls }, { signal });
  const { notes, stop } = toRemarks('PostToolBatch', verdict);
  recordNotes(scope, notes);
  return stop;
}

/** What hooks say to the model stands beside the results. */
function recordNotes({ recorder }: SessionScope, notes: readonly string[]): void {
  if (notes.length === 0) return;
  recorder.user({ content: notes.map((text) => ({ type: 'text' as const, text })), isMeta: true, show: false });
}

/** Gives a function that resolves when there is a free seat, with the function that leaves it. */
function createSeats(count: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let free = count;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return leave;
  };
}

function sumUp(scope: SessionScope, done: readonly FinishedCall[]): void {
  scope.recorder.emit({
    type: 'tool_use_summary',
    summary: summarizeCalls(done),
    preceding_tool_use_ids: done.map(({ block }) => block.id),
    uuid: scope.clock.uuid(),
    session_id: scope.id,
  });
}

/** Gives calls that will not run a result, because the model API wants every call paired with one. */
export function settleCalls(scope: SessionScope, calls: readonly OpenCall[]): void {
  for (const call of calls) recordOutcome(scope, call, notRun(call));
}

function recordOutcome(scope: SessionScope, { block }: OpenCall, outcome: CallOutcome): void {
  const result: ToolResultBlock = { type: 'tool_result', tool_use_id: block.id, content: outcome.content };
  if (outcome.isError) result.is_error = true;
  scope.recorder.user({ content: [result], toolUseResult: outcome.structured, show: {} });
  recordNotes(scope, outcome.remarks?.notes ?? []);
}
