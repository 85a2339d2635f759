/** What a model call takes out of a budget: before it the worst case, after it what it was. Pure. */
import type { Usage } from '../../protocol/index.js';
import { inputOf } from '../model/usage-sum.js';

/** A model call before it is made. */
export interface CallEstimate {
  /** No fewer than it will be counted with. */
  inputTokens: number;
  /** What it asks for; a budget may leave less. */
  maxOutputTokens: number;
  /** Whole millionths of a cent; undefined where the model has no price. Must not fall as tokens rise. */
  price(usage: Usage): number | undefined;
  /** Web searches that the API may make for it. */
  searches?: number;
  /** A whole answer to it is a turn of the conversation. */
  isTurn?: boolean;
}

/** How it ended. */
export interface CallEnd {
  /** What the API has counted; absent where it counted nothing. */
  usage?: Usage | undefined;
  /** The answer did not arrive whole, so the count of its output is not the last one. */
  isCut?: boolean;
  /** How much of a cut answer has been seen; where that is not known, all that was asked for counts. */
  seenTokens?: number;
}

/** What is counted, in whole numbers, so that sums agree in any order. */
export interface Amount {
  microCents: number;
  tokens: number;
  turns: number;
}

export const NOTHING: Amount = { microCents: 0, tokens: 0, turns: 0 };

/** The most that the call can cost with an answer of this length; undefined where there is no price. */
export function worstAmount(estimate: CallEstimate, outputTokens: number): Amount | undefined {
  const { inputTokens, isTurn = false } = estimate;
  const microCents = worstPrice(estimate, outputTokens);
  return microCents === undefined
    ? undefined
    : { microCents, tokens: inputTokens + outputTokens, turns: isTurn ? 1 : 0 };
}

/** Writing to the cache is the dearest way to send a token, as a rule. */
function worstPrice({ inputTokens, searches = 0, price }: CallEstimate, output_tokens: number): number | undefined {
  const rest = { output_tokens, ...(searches > 0 && { server_tool_use: { web_search_requests: searches } }) };
  const plain = price({ input_tokens: inputTokens, ...rest });
  const cached = price({ input_tokens: 0, cache_creation_input_tokens: inputTokens, ...rest });
  return plain === undefined || cached === undefined ? undefined : Math.max(plain, cached);
}

/** The longest answer that this much pays for; below 0 where it does not even pay for the question. */
export function longestAnswer(estimate: CallEstimate, microCents: number): number {
  const pays = (tokens: number): boolean => (worstPrice(estimate, tokens) ?? Infinity) <= microCents;
  if (pays(estimate.maxOutputTokens)) return estimate.maxOutputTokens;
  let [enough, tooMuch] = [-1, estimate.maxOutputTokens];
  while (tooMuch - enough > 1) {
    const middle = Math.floor((enough + tooMuch) / 2);
    if (pays(middle)) enough = middle;
    else tooMuch = middle;
  }
  return enough;
}

/** What a call has really used, as far as that is known; at worst what was reserved for it. */
export function actualAmount(
  { price, searches = 0, isTurn = false }: CallEstimate,
  { usage, isCut = false, seenTokens }: CallEnd,
  reserved: { amount: Amount; outputTokens: number },
): Amount {
  if (usage === undefined) return isCut ? { ...reserved.amount, turns: 0 } : NOTHING;
  // What searches had found by then, the API counts at the end.
  if (isCut && searches > 0) return { ...reserved.amount, turns: 0 };
  const seen = Math.min(seenTokens ?? reserved.outputTokens, reserved.outputTokens);
  const output_tokens = isCut ? Math.max(usage.output_tokens, seen) : usage.output_tokens;
  const whole = { ...usage, output_tokens };
  return {
    microCents: price(whole) ?? 0,
    tokens: inputOf(whole) + output_tokens,
    turns: isTurn && !isCut ? 1 : 0,
  };
}
