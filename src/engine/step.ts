import type { ApiMessage, ModelEvent, ModelRequest, StreamEventMessage, Usage } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { type Answer, type FinishedBlock, partialText, startAnswer, takeEvent } from './assemble.js';
import { endOf } from './budget/fit.js';
import type { Limit } from './budget/limit.js';
import type { ResolvedModel } from './model/catalog.js';
import { DEFAULT_MAX_RETRIES, decideRetry } from './model/retry.js';
import { explainModelError } from './model/explain.js';
import { addUsage } from './model/usage-sum.js';
import { tellRateLimit } from './rate-limit.js';
import { buildRequest } from './request.js';
import type { SessionScope, TurnTally } from './scope.js';
import { countTime } from './tally.js';
import { wait } from './wait.js';

/** How a model call ended. */
export type StepOutcome =
  | { kind: 'done' }
  | { kind: 'limit'; limit: Limit }
  | { kind: 'interrupted' }
  | { kind: 'failed'; error: HeddleError };

/** Calls the model with what the log says, until an answer is whole or it is clear that none will come. */
export async function step(scope: SessionScope, tally: TurnTally, signal: AbortSignal): Promise<StepOutcome> {
  const maxRetries = scope.config.maxRetries ?? DEFAULT_MAX_RETRIES;
  let overloads = 0;
  for (let attempt = 1; ; attempt += 1) {
    const paid = buildRequest(scope, tally);
    if ('subtype' in paid) return { kind: 'limit', limit: paid };
    const call = await attemptCall(scope, tally, { request: paid.request, signal });
    const blocks = call.recorded.map(({ block }) => block);
    paid.reservation.settle(endOf(call.answer, blocks));
    if (call.error === undefined) return { kind: 'done' };
    if (signal.aborted) {
      keepPartial(scope, tally, call);
      return { kind: 'interrupted' };
    }
    abandon(scope, tally, call);
    overloads = call.error.code === 'model_overloaded' ? overloads + 1 : 0;
    const fallback = fallbackFor(scope, tally);
    const decision = decideRetry(call.error, {
      attempt,
      maxRetries,
      overloads,
      random: scope.clock.random(),
      hasFallback: fallback !== undefined,
    });
    if (decision.do === 'fail') return { kind: 'failed', error: call.error };
    if (decision.do === 'fallback' && fallback !== undefined) {
      switchModel(scope, tally, { to: fallback, trigger: decision.trigger });
      overloads = 0;
      attempt = 0;
      continue;
    }
    const delayMs = decision.do === 'retry' ? decision.delayMs : 0;
    announceRetry(scope, tally, { call, attempt, maxRetries, delayMs });
    if ((await wait(scope.clock, delayMs, signal)) === 'aborted') return { kind: 'interrupted' };
  }
}

/** One request and what came of it. */
interface Attempt {
  answer: Answer;
  request: ModelRequest;
  requestId: string | undefined;
  /** Blocks that were recorded. */
  recorded: FinishedBlock[];
  /** Gives each partial message its uuid. */
  partialId(): string;
  error?: HeddleError;
}

async function attemptCall(
  scope: SessionScope,
  tally: TurnTally,
  options: { request: ModelRequest; signal: AbortSignal },
): Promise<Attempt> {
  const startedAt = scope.clock.monotonic();
  const attempt: Attempt = {
    answer: startAnswer(),
    request: options.request,
    requestId: undefined,
    recorded: [],
    partialId: countIds(scope.clock.uuid()),
  };
  try {
    const provider = await scope.providerFor(options.request.body.model);
    const batches = provider.stream(options.request, {
      signal: options.signal,
      onResponse: (info) => {
        attempt.requestId = info.requestId;
        tellRateLimit(scope, info.rateLimit);
      },
    });
    for await (const batch of batches) takeBatch(scope, tally, attempt, batch);
    if (!attempt.answer.stopped)
      throw new HeddleError('model_stream', 'The model stream ended early.', { retryable: true });
    const tookMs = countTime(scope, tally, startedAt);
    recordStep(scope, tally, attempt, tookMs);
  } catch (thrown) {
    countTime(scope, tally, startedAt);
    attempt.error = toHeddleError(thrown);
  }
  return attempt;
}

/** Partial messages go out as the batch they came in; a finished block is shown before the event that says so. */
function takeBatch(scope: SessionScope, tally: TurnTally, attempt: Attempt, batch: readonly ModelEvent[]): void {
  const showsPartials = scope.config.includePartialMessages === true;
  let partials: StreamEventMessage[] = [];
  for (const event of batch) {
    if (event.type === 'ping') continue;
    const finished = takeEvent(attempt.answer, event);
    if (finished) {
      if (partials.length > 0) scope.recorder.emitAll(partials);
      partials = [];
      recordBlock(scope, tally, attempt, finished);
    }
    if (event.type === 'message_start') {
      tally.ttftMs ??= scope.clock.monotonic() - tally.startedAt;
      scope.mcp.begin();
    }
    if (showsPartials) partials.push(toPartial(scope, tally, event, attempt.partialId()));
  }
  if (partials.length > 0) scope.recorder.emitAll(partials);
}

function toPartial(scope: SessionScope, tally: TurnTally, event: ModelEvent, uuid: string): StreamEventMessage {
  const partial: StreamEventMessage = {
    type: 'stream_event',
    event,
    session_id: scope.id,
    parent_tool_use_id: null,
    uuid,
  };
  if (event.type === 'message_start') partial.ttft_ms = Math.round(tally.ttftMs ?? 0);
  return partial;
}

/** UUIDs that count up from a random one: a random one for each delta would cost more than reading the delta. */
function countIds(first: string): () => string {
  const stem = first.slice(0, -8);
  let count = 10_000_000;
  return () => `${stem}${count++}`;
}

function recordBlock(scope: SessionScope, tally: TurnTally, attempt: Attempt, finished: FinishedBlock): void {
  const { message } = attempt.answer;
  if (message === undefined) return;
  attempt.recorded.push(finished);
  if (finished.block.type === 'text') tally.text.last = finished.block.text;
  const { invalidInput } = finished;
  scope.recorder.assistant({
    message: toBlockMessage(message, finished),
    requestId: attempt.requestId,
    ...(invalidInput !== undefined && { invalidInput }),
  });
}

const toBlockMessage = (message: ApiMessage, { block }: FinishedBlock): ApiMessage => ({
  ...message,
  content: [block],
  stop_reason: null,
  stop_sequence: null,
});

/** The answer is whole: it may be acted on. */
function recordStep(scope: SessionScope, tally: TurnTally, attempt: Attempt, durationMs: number): void {
  const { message, stopReason } = attempt.answer;
  tally.stopReason = stopReason;
  const cost = charge(scope, tally, attempt);
  if (message === undefined || cost === undefined) return;
  void scope.recorder.life({
    kind: 'step',
    messageId: message.id,
    model: cost.model,
    stopReason,
    usage: cost.usage,
    microCents: cost.microCents ?? null,
    durationMs: Math.round(durationMs),
  });
}

/** The attempt failed: its blocks no longer count, its cost does. */
function abandon(scope: SessionScope, tally: TurnTally, attempt: Attempt): void {
  const { message } = attempt.answer;
  const cost = charge(scope, tally, attempt);
  if (message === undefined || cost === undefined) return;
  void scope.recorder.life({
    kind: 'aborted',
    messageId: message.id,
    model: cost.model,
    usage: cost.usage,
    microCents: cost.microCents ?? null,
    reason: attempt.error?.code ?? 'interrupted',
  });
}

/** An interrupted answer stays as far as it makes sense: whole blocks, and the text that had arrived. */
function keepPartial(scope: SessionScope, tally: TurnTally, attempt: Attempt): void {
  const text = partialText(attempt.answer);
  const { message } = attempt.answer;
  if (text !== '' && message !== undefined) {
    const finished: FinishedBlock = { block: { type: 'text', text } };
    attempt.recorded.push(finished);
    scope.recorder.assistant({
      message: toBlockMessage(message, finished),
      requestId: attempt.requestId,
      show: { aborted: true },
    });
  }
  const usable = attempt.recorded.some(({ block }) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
  if (!usable) {
    abandon(scope, tally, attempt);
    return;
  }
  attempt.answer.stopReason = null;
  recordStep(scope, tally, attempt, 0);
}

/** Counts what an attempt cost. Undefined when the API had not begun to answer. */
function charge(
  scope: SessionScope,
  tally: TurnTally,
  { answer, request }: Attempt,
): { model: string; usage: Usage; microCents: number | undefined } | undefined {
  const { message, usage } = answer;
  if (message === undefined || usage === undefined) return undefined;
  const { model } = request.body;
  const microCents = scope.catalog.microCentsOf(model, usage);
  scope.spending.add({ messageId: message.id, model, usage, microCents, betas: request.betas });
  tally.usage = addUsage(tally.usage, usage);
  return { model, usage, microCents };
}

/** The first of the fallback models that is not in use and was not given up in this turn. */
function fallbackFor({ config, catalog }: SessionScope, tally: TurnTally): ResolvedModel | undefined {
  const names = config.fallbackModel?.split(',') ?? [];
  const models = names.map((name) => catalog.resolveModel(name));
  return models.find(({ model }) => model !== tally.model.model && !tally.failed.has(model));
}

function switchModel(scope: SessionScope, tally: TurnTally, change: { to: ResolvedModel; trigger: string }): void {
  const { model: from } = tally.model;
  const { model: to } = change.to;
  tally.failed.add(from);
  tally.model = change.to;
  void scope.recorder.life({ kind: 'fallback', model: to });
  scope.recorder.emit({
    type: 'system',
    subtype: 'model_fallback',
    trigger: change.trigger,
    original_model: from,
    fallback_model: to,
    content: `${from} is overloaded; this turn goes on with ${to}.`,
    uuid: scope.clock.uuid(),
    session_id: scope.id,
  });
}

function announceRetry(
  scope: SessionScope,
  tally: TurnTally,
  retry: { call: Attempt; attempt: number; maxRetries: number; delayMs: number },
): void {
  const { error, answer } = retry.call;
  if (error === undefined) return;
  const { assistantError, apiErrorStatus } = explainModelError(error, { model: tally.model.model });
  scope.recorder.emit({
    type: 'system',
    subtype: 'api_retry',
    attempt: retry.attempt,
    max_retries: retry.maxRetries,
    retry_delay_ms: Math.round(retry.delayMs),
    error_status: apiErrorStatus ?? null,
    error: assistantError,
    error_code: error.code,
    error_message: error.message,
    ...(answer.message && { aborted_message_id: answer.message.id }),
    uuid: scope.clock.uuid(),
    session_id: scope.id,
  });
}
