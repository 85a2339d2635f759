/** The one model call that sums up a conversation. */
import type { MessageParam, ModelRequest, TextBlock } from '../../protocol/index.js';
import { HeddleError, toHeddleError } from '../../protocol/plain.js';
import { startAnswer, takeEvent } from '../assemble.js';
import { endOf } from '../budget/fit.js';
import type { Limit } from '../budget/limit.js';
import { decideRetry } from '../model/retry.js';
import { type PaidRequest, requestWith } from '../request.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { countTime } from '../tally.js';
import { wait } from '../wait.js';
import { LAST_STAGE, shrink } from './shrink.js';
import { askForSummary, BE_SHORT, readSummary } from './texts.js';

const MAX_RETRIES = 2;

export interface SummaryCall {
  /** What is to be summed up. */
  messages: readonly MessageParam[];
  instructions: readonly string[];
  /** It is known not to fit as it is. */
  overflowed: boolean;
  tally: TurnTally;
  signal: AbortSignal;
}

export interface Summary {
  text: string;
  /** Messages that it does not cover, because all of them were too long. */
  leftOut: number;
  /** Long texts were read in part. */
  cut: boolean;
}

/** Throws a HeddleError when no summary will come. A budget that does not pay for it is a value. */
export async function summarize(scope: SessionScope, call: SummaryCall): Promise<Summary | Limit> {
  const { messages, tally, signal } = call;
  let stage = call.overflowed ? 1 : 0;
  let gap: Gap | undefined;
  for (let attempt = 1; ; ) {
    const { messages: shown, leftOut, cut } = shrink(messages, stage);
    // With the tools and the thinking of every other call: the API would not find its cache otherwise.
    const ask = askForSummary([...call.instructions, ...(gap === 'cut' ? [BE_SHORT] : [])]);
    const paid = requestWith(scope, tally, { messages: withAsk(shown, ask), isTurn: false });
    if ('subtype' in paid) return paid;
    try {
      const { text, stopReason } = await attemptCall(scope, { paid, tally, signal });
      const summary = readSummary(text);
      const found = gapIn({ text, summary, stopReason });
      if (found === undefined) return { text: summary, leftOut, cut };
      // It is asked for twice.
      if (gap !== undefined) throw new HeddleError('model_stream', GAPS[found]);
      gap = found;
    } catch (thrown) {
      const error = toHeddleError(thrown);
      if (signal.aborted) throw error;
      if (TOO_LONG.has(error.code) && stage < LAST_STAGE) {
        stage += 1;
        continue;
      }
      const decision = decideRetry(error, {
        attempt,
        maxRetries: MAX_RETRIES,
        overloads: 0,
        random: scope.clock.random(),
        hasFallback: false,
      });
      if (decision.do !== 'retry' || (await wait(scope.clock, decision.delayMs, signal)) === 'aborted') throw error;
      attempt += 1;
    }
  }
}

/** Why an answer is no summary. */
type Gap = 'none' | 'cut';

const GAPS: Readonly<Record<Gap, string>> = {
  none: 'The model gave no summary.',
  cut: 'The summary did not fit into one answer of the model.',
};

/** Answers that end so are not whole, and what stands in them without the end of a summary is none. */
const UNFINISHED: Readonly<Record<string, Gap>> = { max_tokens: 'cut', tool_use: 'none', pause_turn: 'none' };

function gapIn(answer: { text: string; summary: string; stopReason: string | null }): Gap | undefined {
  const { text, summary, stopReason } = answer;
  const isClosed = text.includes('</summary>');
  const unfinished = isClosed || stopReason === null ? undefined : UNFINISHED[stopReason];
  return unfinished ?? (summary === '' ? 'none' : undefined);
}

const TOO_LONG: ReadonlySet<string> = new Set(['model_prompt_too_long', 'model_request_too_large']);

function withAsk(messages: readonly MessageParam[], ask: string): MessageParam[] {
  const block: TextBlock = { type: 'text', text: ask };
  const last = messages.at(-1);
  if (last?.role !== 'user' || typeof last.content === 'string') {
    return [...messages, { role: 'user', content: [block] }];
  }
  return [...messages.slice(0, -1), { ...last, content: [...last.content, block] }];
}

/** The texts of one answer, and why it ended. What it cost is counted and logged, whatever becomes of it. */
async function attemptCall(
  scope: SessionScope,
  { paid, tally, signal }: { paid: PaidRequest; tally: TurnTally; signal: AbortSignal },
): Promise<{ text: string; stopReason: string | null }> {
  const { request, reservation } = paid;
  const startedAt = scope.clock.monotonic();
  const answer = startAnswer();
  let text = '';
  try {
    const provider = await scope.providerFor(request.body.model);
    for await (const batch of provider.stream(request, { signal })) {
      for (const event of batch) {
        const finished = event.type === 'ping' ? undefined : takeEvent(answer, event);
        if (finished?.block.type === 'text') text += finished.block.text;
      }
    }
  } finally {
    countTime(scope, tally, startedAt);
    reservation.settle(endOf(answer, [{ type: 'text', text }]));
    charge(scope, request, answer);
  }
  if (!answer.stopped) throw new HeddleError('model_stream', 'The model stream ended early.', { retryable: true });
  if (answer.stopReason === 'model_context_window_exceeded') {
    throw new HeddleError('model_prompt_too_long', 'The conversation left no room for a summary.');
  }
  if (answer.stopReason === 'refusal') {
    throw new HeddleError('request_failed', 'The model refused to sum up the conversation.');
  }
  return { text, stopReason: answer.stopReason };
}

function charge(
  { catalog, spending, recorder }: SessionScope,
  { body: { model }, betas }: ModelRequest,
  { message, usage }: ReturnType<typeof startAnswer>,
): void {
  if (message === undefined || usage === undefined) return;
  const { id: messageId } = message;
  const microCents = catalog.microCentsOf(model, usage);
  spending.add({ messageId, model, usage, microCents, betas });
  void recorder.life({ kind: 'aside', purpose: 'compact', messageId, model, usage, microCents: microCents ?? null });
}
