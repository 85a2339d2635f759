/** Sums of usage. Pure. */
import type { DeltaUsage, ResultUsage, Usage } from '../../protocol/index.js';

export const emptyUsage = (): ResultUsage => ({
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
});

/** The sum of two usages. Facts that cannot be summed (tier, place, speed) are those of the later one. */
export function addUsage(sum: Usage, more: Usage): ResultUsage {
  const { iterations: _first, ...earlier } = sum;
  const { iterations: _second, ...later } = present(more);
  const total: ResultUsage = {
    ...earlier,
    ...later,
    input_tokens: sum.input_tokens + more.input_tokens,
    output_tokens: sum.output_tokens + more.output_tokens,
    cache_creation_input_tokens: (sum.cache_creation_input_tokens ?? 0) + (more.cache_creation_input_tokens ?? 0),
    cache_read_input_tokens: (sum.cache_read_input_tokens ?? 0) + (more.cache_read_input_tokens ?? 0),
  };
  if (sum.cache_creation || more.cache_creation) {
    const [first, second] = [writesOf(sum), writesOf(more)];
    total.cache_creation = {
      ephemeral_5m_input_tokens: first.fiveMinutes + second.fiveMinutes,
      ephemeral_1h_input_tokens: first.oneHour + second.oneHour,
    };
  }
  if (sum.server_tool_use || more.server_tool_use) {
    total.server_tool_use = {
      web_search_requests: searchesOf(sum) + searchesOf(more),
      web_fetch_requests:
        (sum.server_tool_use?.web_fetch_requests ?? 0) + (more.server_tool_use?.web_fetch_requests ?? 0),
    };
  }
  if (sum.output_tokens_details || more.output_tokens_details) {
    const thinking = [sum, more].map((usage) => usage.output_tokens_details?.thinking_tokens ?? 0);
    total.output_tokens_details = { thinking_tokens: (thinking[0] ?? 0) + (thinking[1] ?? 0) };
  }
  return total;
}

/** The usage of one answer at its end: counts of `message_delta` are totals and replace those of `message_start`. */
export const mergeMessageDelta = (start: Usage, delta: DeltaUsage): Usage => ({
  ...start,
  ...present({ ...delta, input_tokens: delta.input_tokens ?? start.input_tokens }),
});

/** Tokens written to the cache, by how long they stay. Where the API does not say, five minutes. */
export function writesOf(usage: Usage): { fiveMinutes: number; oneHour: number } {
  const { cache_creation: parts, cache_creation_input_tokens: total } = usage;
  if (!parts) return { fiveMinutes: total ?? 0, oneHour: 0 };
  return { fiveMinutes: parts.ephemeral_5m_input_tokens, oneHour: parts.ephemeral_1h_input_tokens };
}

export const searchesOf = (usage: Usage): number => usage.server_tool_use?.web_search_requests ?? 0;

/** All that was read: fresh, from the cache, and written to it. */
export const inputOf = (usage: Partial<Usage>): number =>
  (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);

/** Without the fields that say nothing: they must not replace what is known. */
function present<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null && field !== undefined)) as T;
}
