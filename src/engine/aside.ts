/** Model calls beside the conversation: a question about a page, a search. */
import type { ContentBlock, MessagesBody, ModelResponseInfo } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import type { AsideCall } from './aside-call.js';
import { startAnswer, takeEvent } from './assemble.js';
import { endOf, fitBody } from './budget/fit.js';
import { tellRateLimit } from './rate-limit.js';
import type { SessionScope } from './scope.js';

const MAX_ATTEMPTS = 2;

/** Asks the small model. The answer is not part of the conversation; what it cost is counted and logged. */
export async function callAside(scope: SessionScope, call: AsideCall): Promise<ContentBlock[]> {
  const limit = scope.budget.reached({ countTurns: false });
  if (limit) throw new HeddleError('budget_exceeded', limit.text);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptAside(scope, call);
    } catch (thrown) {
      const error = toHeddleError(thrown);
      if (attempt === MAX_ATTEMPTS || !error.retryable || call.signal.aborted) throw error;
    }
  }
}

async function attemptAside(scope: SessionScope, call: AsideCall): Promise<ContentBlock[]> {
  const model = call.model === undefined ? smallModel(scope) : scope.catalog.resolveModel(call.model).model;
  const provider = await scope.providerFor(model);
  const wanted: MessagesBody = {
    model,
    max_tokens: call.maxTokens,
    system: [{ type: 'text', text: call.system }],
    messages: [{ role: 'user', content: [{ type: 'text', text: call.prompt }] }],
    ...(call.tools && { tools: call.tools }),
    stream: true,
  };
  const fitted = fitBody(scope.budget, wanted, { catalog: scope.catalog });
  if ('subtype' in fitted) throw new HeddleError('budget_exceeded', fitted.text);
  const { body, reservation } = fitted;
  const answer = startAnswer();
  const blocks: ContentBlock[] = [];
  const startedAt = scope.clock.monotonic();
  try {
    const onResponse = ({ rateLimit }: ModelResponseInfo): void => tellRateLimit(scope, rateLimit);
    for await (const batch of provider.stream({ body, betas: [] }, { signal: call.signal, onResponse })) {
      for (const event of batch) {
        const finished = event.type === 'ping' ? undefined : takeEvent(answer, event);
        if (finished) blocks.push(finished.block);
      }
    }
  } finally {
    scope.spending.addTime(scope.clock.monotonic() - startedAt);
    reservation.settle(endOf(answer, blocks));
    charge(scope, { purpose: call.purpose, model, answer });
  }
  if (!answer.stopped) throw new HeddleError('model_stream', 'The model stream ended early.', { retryable: true });
  return blocks;
}

function charge(
  scope: SessionScope,
  call: { purpose: string; model: string; answer: ReturnType<typeof startAnswer> },
): void {
  const { purpose, model } = call;
  const { message, usage } = call.answer;
  if (message === undefined || usage === undefined) return;
  const microCents = scope.catalog.microCentsOf(model, usage);
  scope.spending.add({ messageId: message.id, model, usage, microCents });
  const { id: messageId } = message;
  void scope.recorder.life({ kind: 'aside', purpose, messageId, model, usage, microCents: microCents ?? null });
}

/** A small model of the same maker where there is one; otherwise the session's own. */
function smallModel({ config, catalog, state }: SessionScope): string {
  const { ANTHROPIC_SMALL_FAST_MODEL: named, ANTHROPIC_DEFAULT_HAIKU_MODEL: haiku } = config.env;
  const chosen = named || haiku;
  if (chosen) return catalog.resolveModel(chosen).model;
  return catalog.hasPrice(state.model.model) ? catalog.resolveModel('haiku').model : state.model.model;
}
