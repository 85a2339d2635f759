import type { ContentBlockParam, MessageParam, MessagesBody, ModelRequest, TextBlock } from '../protocol/index.js';
import { toContext } from './context.js';
import type { Reservation } from './budget/budget.js';
import { fitBody } from './budget/fit.js';
import type { Limit } from './budget/limit.js';
import { DEFAULT_MAX_TOKENS } from './model/catalog.js';
import { systemPrompt } from './prompt.js';
import type { SessionScope, TurnTally } from './scope.js';

const CACHE = { type: 'ephemeral' } as const;
const EFFORT_BETA = 'effort-2025-11-24';
const MOST_THINKING_TOKENS = 31_999;
/** The API refuses a smaller budget. */
const LEAST_THINKING_TOKENS = 1_024;
const DEFAULT_THINKING_TOKENS = 10_000;

/** A request that is paid for. Whoever makes the call settles the reservation, however the call ends. */
export interface PaidRequest {
  request: ModelRequest;
  reservation: Reservation;
}

/** The next model call. It follows from the configuration and the log, byte for byte. */
export const buildRequest = (scope: SessionScope, tally: TurnTally): PaidRequest | Limit =>
  requestWith(scope, tally, { messages: toContext(scope.recorder.log.entries), isTurn: true });

/** The same with other messages: what they have in common is read from the cache. */
export function requestWith(
  scope: SessionScope,
  tally: TurnTally,
  { messages, isTurn }: { messages: MessageParam[]; isTurn: boolean },
): PaidRequest | Limit {
  const { catalog, config } = scope;
  const { tools } = scope.state;
  const { model } = tally.model;
  const body: MessagesBody = {
    model,
    max_tokens: Math.min(catalog.maxOutputTokens(model), DEFAULT_MAX_TOKENS),
    system: toSystem(systemPrompt(config, scope.style)),
    messages: markCache(messages),
    ...(tools.params.length > 0 && { tools: [...tools.params] }),
    ...(config.effort && { output_config: { effort: config.effort } }),
    stream: true,
  };
  const fitted = fitBody(tally.budget, body, { catalog, isTurn });
  if ('subtype' in fitted) return fitted;
  const betas = new Set([...(config.betas ?? []), ...tally.model.betas]);
  if (config.effort) betas.add(EFFORT_BETA);
  const request = { body: withThinking(fitted.body, scope, tally), betas: [...betas] };
  return { request, reservation: fitted.reservation };
}

/** The end of the system prompt ends the part that never changes; tools come before it and are cached with it. */
function toSystem(texts: readonly string[]): TextBlock[] {
  return texts.map((text, index) => ({
    type: 'text',
    text,
    ...(index === texts.length - 1 && { cache_control: CACHE }),
  }));
}

/** Marks the last two user messages: the one this call writes, and the one the call before it wrote. */
function markCache(messages: MessageParam[]): MessageParam[] {
  let marks = 2;
  for (let index = messages.length - 1; index >= 0 && marks > 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== 'user' || typeof message.content === 'string') continue;
    const last = message.content.at(-1);
    if (last === undefined) continue;
    messages[index] = {
      ...message,
      content: [...message.content.slice(0, -1), { ...last, cache_control: CACHE } as ContentBlockParam],
    };
    marks -= 1;
  }
  return messages;
}

function withThinking(body: MessagesBody, { config }: SessionScope, tally: TurnTally): MessagesBody {
  const chosen = tally.maxThinkingTokens;
  if (chosen === undefined && config.thinking?.type === 'adaptive') return { ...body, thinking: { type: 'adaptive' } };
  const wanted = Math.min(
    chosen ?? configuredThinking(config.thinking) ?? 0,
    MOST_THINKING_TOKENS,
    body.max_tokens - 1,
  );
  return wanted < LEAST_THINKING_TOKENS ? body : { ...body, thinking: { type: 'enabled', budget_tokens: wanted } };
}

const configuredThinking = (thinking: SessionScope['config']['thinking']): number | undefined =>
  thinking?.type === 'enabled' ? (thinking.budgetTokens ?? DEFAULT_THINKING_TOKENS) : undefined;
