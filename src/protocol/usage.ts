/** What was used and what it cost. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { openName } from './open-union.js';

const count = () => z.number();
const maybeCount = () => z.number().nullable().optional();

export const CacheCreation = lazy(() =>
  z.object({ ephemeral_5m_input_tokens: count(), ephemeral_1h_input_tokens: count() }),
);
export type CacheCreation = Infer<typeof CacheCreation>;

export const ServerToolUsage = lazy(() =>
  z.object({ web_search_requests: z.number().optional(), web_fetch_requests: z.number().optional() }),
);
export type ServerToolUsage = Infer<typeof ServerToolUsage>;

const details = () => ({
  cache_creation: CacheCreation().nullable().optional(),
  server_tool_use: ServerToolUsage().nullable().optional(),
  service_tier: openName('standard', 'priority', 'batch').nullable().optional(),
  output_tokens_details: z.object({ thinking_tokens: z.number().optional() }).nullable().optional(),
  inference_geo: z.string().nullable().optional(),
  speed: z.string().nullable().optional(),
  iterations: z.array(z.unknown()).nullable().optional(),
});

/** Usage as the API reports it, at the start and at the end of an answer. */
export const Usage = lazy(() =>
  z.object({
    input_tokens: count(),
    output_tokens: count(),
    cache_creation_input_tokens: maybeCount(),
    cache_read_input_tokens: maybeCount(),
    ...details(),
  }),
);
export type Usage = Infer<typeof Usage>;

/** Usage at the end of an answer; counts that are present replace those of the start. */
export const DeltaUsage = lazy(() =>
  z.object({
    input_tokens: maybeCount(),
    output_tokens: count(),
    cache_creation_input_tokens: maybeCount(),
    cache_read_input_tokens: maybeCount(),
    ...details(),
  }),
);
export type DeltaUsage = Infer<typeof DeltaUsage>;

/** The sum over one turn. */
export const ResultUsage = lazy(() =>
  z.object({
    input_tokens: count(),
    output_tokens: count(),
    cache_creation_input_tokens: count(),
    cache_read_input_tokens: count(),
    ...details(),
  }),
);
export type ResultUsage = Infer<typeof ResultUsage>;

/** The sum for one model since the session was opened. */
export const ModelUsage = lazy(() =>
  z.object({
    inputTokens: count(),
    outputTokens: count(),
    cacheReadInputTokens: count(),
    cacheCreationInputTokens: count(),
    webSearchRequests: count(),
    costUSD: count(),
    contextWindow: count(),
    maxOutputTokens: z.number().optional(),
    thinkingTokens: z.number().optional(),
    cacheCreationEphemeral5mInputTokens: z.number().optional(),
    cacheCreationEphemeral1hInputTokens: z.number().optional(),
    canonicalModel: z.string().optional(),
    provider: z.string().optional(),
    costBasis: openName('list', 'unknown').optional().describe('`unknown`: no price for this model, `costUSD` is 0.'),
  }),
);
export type ModelUsage = Infer<typeof ModelUsage>;
