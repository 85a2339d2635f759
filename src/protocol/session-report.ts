/** What a host is told of an open session when it asks: usage, settings, rules, hooks, tasks. */
import { z } from 'zod';
import { AgentInfo, SlashCommand } from './agent.js';
import { type Infer, lazy } from './lazy.js';
import { McpServerStatus } from './mcp.js';
import { jsonObject, openName } from './open-union.js';
import { ModelUsage } from './usage.js';

export const AgentUsage = lazy(() =>
  z.object({
    agentType: z.string().optional().describe('The name of its definition; absent for the main thread.'),
    models: z.record(z.string(), ModelUsage()),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadInputTokens: z.number(),
    cacheCreationInputTokens: z.number(),
    costUSD: z.number(),
    costBasis: openName('list', 'unknown').optional(),
  }),
);
export type AgentUsage = Infer<typeof AgentUsage>;

export const RateLimitWindow = lazy(() =>
  z.object({
    status: openName('allowed', 'allowed_warning', 'rejected').optional(),
    utilization: z.number().nullable().optional().describe('How much of the window is used up; 1 is all of it.'),
    resets_at: z.string().nullable().optional().describe('When the window begins anew, in ISO form.'),
  }),
);
export type RateLimitWindow = Infer<typeof RateLimitWindow>;

/** Fields are optional: engines differ in what they tell. */
export const SessionUsage = lazy(() =>
  z.object({
    session: z.object({
      total_cost_usd: z.number().optional(),
      total_tokens: z.number().optional().describe('Of every kind.'),
      total_duration_ms: z.number().optional().describe('Since the session was opened by this process.'),
      total_api_duration_ms: z
        .number()
        .optional()
        .describe('In model calls, of agents too, since then; calls that run side by side add up.'),
      model_usage: z.record(z.string(), ModelUsage()).optional(),
      agent_usage: z.record(z.string(), AgentUsage()).optional().describe('By the id of the agent, or `main`.'),
    }),
    subscription_type: z.string().nullable().optional().describe('Always null here: there is no vendor login.'),
    rate_limits_available: z.boolean().optional().describe('The model API has said something about rate limits.'),
    rate_limits: z
      .record(z.string(), RateLimitWindow().nullable())
      .nullable()
      .optional()
      .describe('By the window, as the model API told it last.'),
    behaviors: z.unknown().optional().describe('Nothing is known about it here: null.'),
  }),
);
export type SessionUsage = Infer<typeof SessionUsage>;

export const SettingsSource = lazy(() =>
  z.object({
    source: openName('policySettings', 'flagSettings', 'localSettings', 'projectSettings', 'userSettings'),
    settings: jsonObject().describe('As it is written, whether it counts or not; secrets are hidden.'),
    file: z.string().optional().describe('The path of the file, or what stands for it.'),
  }),
);
export type SettingsSource = Infer<typeof SettingsSource>;

export const SettingsReport = lazy(() =>
  z.object({
    effective: jsonObject().describe('What counts of all layers; secrets are hidden.'),
    sources: z.array(SettingsSource()).optional().describe('The weakest first.'),
    applied: z
      .looseObject({
        model: z.string().optional(),
        effort: z.string().nullable().optional(),
        permissionMode: z.string().optional(),
      })
      .optional()
      .describe('What the session works with now.'),
  }),
);
export type SettingsReport = Infer<typeof SettingsReport>;

export const ListedRule = lazy(() =>
  z.object({
    rule: z.string().describe('As in settings; a rule that was written as an object is JSON.'),
    behavior: openName('allow', 'ask', 'deny'),
    source: openName('managed', 'session', 'flag', 'local', 'project', 'user'),
  }),
);
export type ListedRule = Infer<typeof ListedRule>;

export const PermissionRulesState = lazy(() =>
  z.object({
    rules: z.array(ListedRule()).optional().describe('Those that count.'),
    workspaceDirectories: z
      .array(z.string())
      .optional()
      .describe('Folders beside the working directory that are open now.'),
    originalCwd: z.string().optional().describe('Where the session was started.'),
    managedOnly: z.boolean().optional().describe('Only rules of policy may allow something.'),
  }),
);
export type PermissionRulesState = Infer<typeof PermissionRulesState>;

export const ListedHook = lazy(() =>
  z.object({
    event: z.string(),
    matcher: z.string().optional().describe('Absent: everything.'),
    type: openName('callback', 'command', 'prompt', 'http', 'mcp_tool', 'unusable'),
    source: openName('callback', 'managed', 'flag', 'local', 'project', 'user'),
    name: z.string().describe('As messages name it: the command, the address, the tool.'),
    if: z.string().optional().describe('A permission rule that calls must match.'),
    timeout: z.number().describe('Seconds.'),
    onFailure: openName('allow', 'ask', 'deny'),
  }),
);
export type ListedHook = Infer<typeof ListedHook>;

export const CataloguedEvent = lazy(() =>
  z.object({
    event: z.string(),
    description: z.string().describe('When it happens.'),
    matchField: z.string().optional().describe('The field of the input that matchers are about.'),
    gate: z.boolean().optional().describe('Its hooks guard something.'),
    happens: z.boolean().optional().describe('False: nothing causes it yet.'),
  }),
);
export type CataloguedEvent = Infer<typeof CataloguedEvent>;

export const HooksListing = lazy(() =>
  z.object({
    events: z.array(z.string()).optional().describe('Those that have hooks.'),
    hooks: z.array(ListedHook()).optional().describe('In force, in the order in which they are declared.'),
    eventCatalog: z.array(CataloguedEvent()).optional(),
    policy: z
      .object({
        disableAllHooks: z.boolean().optional(),
        managedOnly: z.boolean().optional().describe('Of settings, only hooks of policy count.'),
      })
      .optional(),
  }),
);
export type HooksListing = Infer<typeof HooksListing>;

export const TaskOutputReport = lazy(() =>
  z.object({
    task_id: z.string().optional(),
    task_type: z.string().optional(),
    status: openName('running', 'completed', 'failed', 'stopped').optional(),
    description: z.string().optional(),
    output: z.string().optional().describe('The end of it, where it is long.'),
    output_file: z.string().optional().describe('Has all of it.'),
    exit_code: z.number().optional(),
  }),
);
export type TaskOutputReport = Infer<typeof TaskOutputReport>;

export const McpCallAnswer = lazy(() =>
  z.object({
    content: z.array(jsonObject()).optional(),
    structuredContent: z.unknown().optional(),
    isError: z.boolean().optional().describe('The tool failed, or the call was denied; the content says why.'),
  }),
);
export type McpCallAnswer = Infer<typeof McpCallAnswer>;

export const McpResourceAnswer = lazy(() =>
  z.object({
    contents: z
      .array(
        z.looseObject({
          uri: z.string().optional(),
          mimeType: z.string().optional(),
          text: z.string().optional(),
          blob: z.string().optional().describe('In base64.'),
        }),
      )
      .optional(),
  }),
);
export type McpResourceAnswer = Infer<typeof McpResourceAnswer>;

export const FileSuggestion = lazy(() =>
  z.looseObject({ path: z.string().optional().describe('From the working directory.') }),
);
export type FileSuggestion = Infer<typeof FileSuggestion>;

export const PluginsReport = lazy(() =>
  z.object({
    commands: z.array(SlashCommand()).optional(),
    agents: z.array(AgentInfo()).optional(),
    plugins: z
      .array(z.looseObject({ name: z.string(), path: z.string().optional(), source: z.string().optional() }))
      .optional(),
    mcpServers: z.array(McpServerStatus()).optional(),
    error_count: z.number().optional().describe('Errors in what was read.'),
  }),
);
export type PluginsReport = Infer<typeof PluginsReport>;
