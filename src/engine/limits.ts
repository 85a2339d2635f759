import type { MessagesBody } from '../protocol/index.js';
import { compactThreshold } from './compaction/size.js';
import type { Catalog } from './model/catalog.js';
import type { SessionScope, TurnTally } from './scope.js';

/** A condition that ended a turn early. */
export interface Limit {
  subtype: 'error_max_turns' | 'error_max_budget_usd';
  text: string;
  terminalReason: string;
}

/** Bytes of JSON per token, low enough not to underrate a prompt. */
const BYTES_PER_TOKEN = 3;
/** Writing to the cache is the dearest way to send a token. */
const CACHE_WRITE_FACTOR = 1.25;

/** An answer shorter than this is not worth a call. */
const LEAST_ANSWER_TOKENS = 16;

/** Zero means no limit. */
export function turnLimit({ config }: SessionScope, tally: TurnTally): Limit | undefined {
  const { maxTurns } = config;
  if (!maxTurns || tally.rounds < maxTurns) return undefined;
  return {
    subtype: 'error_max_turns',
    text: `Reached maximum number of turns (${maxTurns})`,
    terminalReason: 'max_turns',
  };
}

/** The size from which the context is made smaller by itself; undefined when that is switched off. */
export function compactAt({ config, catalog, guard }: SessionScope, { model }: TurnTally): number | undefined {
  return compactThreshold({
    window: catalog.contextWindow(model.model, [...(config.betas ?? []), ...model.betas]),
    maxOutput: catalog.maxOutputTokens(model.model),
    env: config.env,
    enabled: guard.settings.value.autoCompactEnabled,
  });
}

export function budgetLimit({ config, spending }: SessionScope): Limit | undefined {
  const { maxBudgetUsd } = config;
  return maxBudgetUsd !== undefined && spending.sinceOpenUsd >= maxBudgetUsd ? overBudget(maxBudgetUsd) : undefined;
}

/** The body with `max_tokens` cut down to what the budget still pays for, or the limit if that is too little. */
export function fitBudget(scope: SessionScope, body: MessagesBody): MessagesBody | Limit {
  const { maxBudgetUsd } = scope.config;
  if (maxBudgetUsd === undefined) return body;
  const left = maxBudgetUsd - scope.spending.sinceOpenUsd;
  const perToken = pricePerToken(scope.catalog, body.model);
  if (perToken === undefined) return body;
  const inputUsd =
    Math.ceil(Buffer.byteLength(JSON.stringify(body)) / BYTES_PER_TOKEN) * perToken.input * CACHE_WRITE_FACTOR;
  const affordable = perToken.output === 0 ? Infinity : Math.floor((left - inputUsd) / perToken.output);
  if (affordable < LEAST_ANSWER_TOKENS) return overBudget(maxBudgetUsd);
  return affordable >= body.max_tokens ? body : { ...body, max_tokens: affordable };
}

function pricePerToken(catalog: Catalog, model: string): { input: number; output: number } | undefined {
  const input = catalog.costOf(model, { input_tokens: 1_000, output_tokens: 0 });
  const output = catalog.costOf(model, { input_tokens: 0, output_tokens: 1_000 });
  return input === undefined || output === undefined ? undefined : { input: input / 1_000, output: output / 1_000 };
}

const overBudget = (usd: number): Limit => ({
  subtype: 'error_max_budget_usd',
  text: `Reached maximum budget ($${usd})`,
  terminalReason: 'budget_exhausted',
});
