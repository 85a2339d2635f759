/** The larger shapes that control requests and their answers are made of. */
import { z } from 'zod';
import { AccountInfo, AgentDefinition, AgentInfo, ModelInfo, SlashCommand } from './agent.js';
import { HookInput, HookMatcherConfig } from './hook.js';
import { type Infer, lazy } from './lazy.js';
import { McpServerManifest } from './mcp.js';
import { jsonObject, openName } from './open-union.js';
import { PermissionUpdate } from './permission.js';

export const NoParams = lazy(() => z.object({}));
export type NoParams = Infer<typeof NoParams>;

/** Older engines answer some requests without a body. */
export const NoResult = lazy(() => z.object({}).nullable().optional());
export type NoResult = Infer<typeof NoResult>;

/** Not looked into. */
export const AnyObject = lazy(() => jsonObject());
export type AnyObject = Infer<typeof AnyObject>;

export const McpServerName = lazy(() => z.object({ serverName: z.string() }));
export type McpServerName = Infer<typeof McpServerName>;

export const InitializeParams = lazy(() =>
  z.object({
    hooks: z
      .record(z.string(), z.array(HookMatcherConfig()))
      .nullable()
      .optional()
      .describe('Event to matchers; callbacks are named by id.'),
    sdkMcpServers: z.array(z.string()).optional().describe('Names of MCP servers that live with the host.'),
    sdkMcpServerManifests: z.record(z.string(), McpServerManifest()).optional(),
    jsonSchema: jsonObject().optional().describe('The result must match it.'),
    systemPrompt: z.union([z.string(), z.array(z.string())]).optional(),
    appendSystemPrompt: z.string().optional(),
    excludeDynamicSections: z.boolean().optional(),
    agents: z.record(z.string(), AgentDefinition()).optional(),
    title: z.string().optional(),
    skills: z.union([z.array(z.string()), z.literal('all')]).optional(),
    plugins: z.array(z.unknown()).optional(),
    promptSuggestions: z.boolean().optional(),
    agentProgressSummaries: z.boolean().optional(),
    forwardSubagentText: z.boolean().optional(),
    perTaskStopAffordance: z.boolean().optional(),
    planModeInstructions: z.string().optional(),
    toolAliases: z.record(z.string(), z.string()).optional(),
    supportedDialogKinds: z.array(z.string()).optional(),
    config: jsonObject().optional().describe('A SessionConfig, where no command line carries it.'),
  }),
);
export type InitializeParams = Infer<typeof InitializeParams>;

/** Everything is optional: an engine may answer with an empty object. */
export const InitializeResult = lazy(() =>
  z.object({
    commands: z.array(SlashCommand()).optional(),
    agents: z.array(AgentInfo()).optional(),
    models: z.array(ModelInfo()).optional(),
    account: AccountInfo().optional(),
    output_style: z.string().optional(),
    available_output_styles: z.array(z.string()).optional(),
    pid: z.number().optional(),
    claude_code_version: z.string().optional(),
    heddle_version: z.string().optional(),
    current_permission_mode: z.string().optional(),
    hooks_applied: z.unknown().optional(),
    hook_on_failure_supported: z.boolean().optional(),
    session_state: z.string().optional(),
    session_id: z.string().optional(),
    capabilities: z.array(z.string()).optional(),
    fast_mode_state: z.string().optional(),
  }),
);
export type InitializeResult = Infer<typeof InitializeResult>;

export const CanUseToolParams = lazy(() =>
  z.object({
    tool_name: z.string(),
    input: jsonObject(),
    tool_use_id: z.string(),
    permission_suggestions: z.array(PermissionUpdate()).optional(),
    blocked_path: z.string().nullable().optional(),
    decision_reason: z.string().nullable().optional(),
    explanation: z
      .string()
      .optional()
      .describe('The decision in words: rule, layer, and what a command was taken to run.'),
    decision_reason_type: z.string().optional(),
    decision_reason_rule_source: z.string().optional(),
    decision_reason_hook_event: z.string().optional(),
    decision_reason_hook_source: z.string().optional(),
    display_name: z.string().optional(),
    title: z.string().optional(),
    description: z.string().nullable().optional(),
    requires_user_interaction: z.boolean().optional(),
    server_policy_ask_only: z.boolean().optional(),
    agent_id: z.string().nullable().optional(),
    parent_tool_use_id: z.string().nullable().optional(),
    cwd: z.string().optional(),
  }),
);
export type CanUseToolParams = Infer<typeof CanUseToolParams>;

export const HookCallbackParams = lazy(() =>
  z.object({ callback_id: z.string(), input: HookInput(), tool_use_id: z.string().nullable().optional() }),
);
export type HookCallbackParams = Infer<typeof HookCallbackParams>;

export const RewindFilesResult = lazy(() =>
  z.object({
    canRewind: z.boolean(),
    error: z.string().optional(),
    filesChanged: z.array(z.string()).optional(),
    insertions: z.number().optional(),
    deletions: z.number().optional(),
    skippedLinks: z.number().optional(),
    notRestored: z
      .array(z.object({ path: z.string(), reason: z.string() }))
      .optional()
      .describe('Files that differ and are left as they are, and why.'),
  }),
);
export type RewindFilesResult = Infer<typeof RewindFilesResult>;

export const ElicitationParams = lazy(() =>
  z.object({
    mcp_server_name: z.string(),
    message: z.string(),
    mode: openName('form', 'url').optional(),
    url: z.string().optional(),
    elicitation_id: z.string().optional(),
    requested_schema: jsonObject().optional(),
  }),
);
export type ElicitationParams = Infer<typeof ElicitationParams>;
