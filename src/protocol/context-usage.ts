/** What fills the context window, as `get_context_usage` tells it. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { openName } from './open-union.js';

export const ContextCategory = lazy(() =>
  z.object({
    id: z.string().optional(),
    name: z.string(),
    tokens: z.number(),
    color: z.string().optional(),
    kind: openName('used', 'deferred', 'free', 'buffer').optional(),
    isDeferred: z.boolean().optional().describe('It is loaded on demand, and not in the context now.'),
  }),
);
export type ContextCategory = Infer<typeof ContextCategory>;

export const ContextGridSquare = lazy(() =>
  z.object({
    color: z.string(),
    isFilled: z.boolean(),
    categoryName: z.string(),
    tokens: z.number(),
    percentage: z.number(),
    squareFullness: z.number().describe('From 0 to 1.'),
  }),
);
export type ContextGridSquare = Infer<typeof ContextGridSquare>;

/** Everything beyond the first four is optional: engines differ in what they tell. */
export const ContextUsage = lazy(() =>
  z.object({
    categories: z.array(ContextCategory()),
    totalTokens: z.number().describe('What the next model call sends, as far as it is known.'),
    maxTokens: z.number().describe('The window of the model.'),
    percentage: z.number(),
    rawMaxTokens: z.number().optional(),
    gridRows: z.array(z.array(ContextGridSquare())).optional(),
    model: z.string().optional(),
    memoryFiles: z.array(z.object({ path: z.string(), type: z.string(), tokens: z.number() })).optional(),
    mcpTools: z
      .array(
        z.object({ name: z.string(), serverName: z.string(), tokens: z.number(), isLoaded: z.boolean().optional() }),
      )
      .optional(),
    systemTools: z.array(z.object({ name: z.string(), tokens: z.number() })).optional(),
    agents: z.array(z.object({ agentType: z.string(), source: z.string(), tokens: z.number() })).optional(),
    skills: z
      .object({
        totalSkills: z.number(),
        includedSkills: z.number(),
        tokens: z.number(),
        skillFrontmatter: z.array(z.object({ name: z.string(), source: z.string(), tokens: z.number() })).optional(),
      })
      .optional(),
    autoCompactThreshold: z.number().optional(),
    isAutoCompactEnabled: z.boolean().optional(),
  }),
);
export type ContextUsage = Infer<typeof ContextUsage>;
