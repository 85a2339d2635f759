/** What a session can tell about agents, commands, models and the account. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { McpServerConfig } from './mcp.js';
import { AGENT_COLORS, EFFORT_LEVELS } from './names.js';
import { openName } from './open-union.js';
import { PermissionMode } from './permission.js';
import { HookMatcherSettings } from './settings.js';

export const AgentDefinition = lazy(() =>
  z
    .object({
      description: z.string().describe('When to use it; the model chooses by this.'),
      prompt: z.string().describe('Its system prompt.'),
      tools: z
        .array(z.string())
        .optional()
        .describe('The only tools it has, or ways to use them, as `Bash(git diff:*)`; absent: those of its parent.'),
      disallowedTools: z.array(z.string()).optional(),
      model: openName('sonnet', 'opus', 'haiku', 'inherit').optional(),
      mcpServers: z
        .array(z.union([z.string(), z.record(z.string(), McpServerConfig())]))
        .optional()
        .describe('Names of servers of the session, or servers of its own.'),
      skills: z.array(z.string()).optional().describe('Skills that it knows from the start.'),
      hooks: z
        .record(z.string(), z.array(HookMatcherSettings()))
        .optional()
        .describe('Event to matchers, as in settings: what runs is named, and no callback of the caller.'),
      maxTurns: z.number().optional(),
      maxBudgetUsd: z.number().optional().describe('What it may cost, with all agents that it starts.'),
      maxTokens: z.number().optional().describe('What it may use of tokens, with all agents that it starts.'),
      maxSeconds: z.number().optional(),
      permissionMode: PermissionMode().optional(),
      effort: z.union([z.enum(EFFORT_LEVELS), z.number()]).optional(),
      background: z.boolean().optional(),
      initialPrompt: z.string().optional(),
      context: z
        .enum(['isolated', 'forked'])
        .optional()
        .describe('`forked`: it starts with what its parent knows; else with its prompt alone.'),
      isolation: z.enum(['worktree']).optional().describe('It works in a work tree of its own.'),
      color: z.enum(AGENT_COLORS).optional(),
      criticalSystemReminder_EXPERIMENTAL: z.string().optional(),
    })
    .describe('A subagent that the model may start by name.'),
);
export type AgentDefinition = Infer<typeof AgentDefinition>;

export const AgentInfo = lazy(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    model: z.string().optional(),
    color: openName(...AGENT_COLORS)
      .optional()
      .describe('To tell it from others where people see them.'),
  }),
);
export type AgentInfo = Infer<typeof AgentInfo>;

export const SlashCommand = lazy(() =>
  z.object({
    name: z.string().describe('Without the slash.'),
    description: z.string(),
    argumentHint: z.string(),
    aliases: z.array(z.string()).optional(),
    builtin: z.boolean().optional(),
  }),
);
export type SlashCommand = Infer<typeof SlashCommand>;

export const ModelInfo = lazy(() =>
  z.object({
    value: z.string().describe('What `set_model` takes.'),
    displayName: z.string(),
    description: z.string(),
    resolvedModel: z.string().optional(),
    supportsEffort: z.boolean().optional(),
    supportedEffortLevels: z.array(openName(...EFFORT_LEVELS)).optional(),
    supportsAdaptiveThinking: z.boolean().optional(),
    supportsFastMode: z.boolean().optional(),
  }),
);
export type ModelInfo = Infer<typeof ModelInfo>;

export const AccountInfo = lazy(() =>
  z.object({
    email: z.string().optional(),
    organization: z.string().optional(),
    subscriptionType: z.string().optional(),
    tokenSource: z.string().optional(),
    apiKeySource: z.string().optional(),
    apiProvider: z.string().optional(),
  }),
);
export type AccountInfo = Infer<typeof AccountInfo>;
