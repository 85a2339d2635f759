// What programs written for SDK 0.2 read from its types, and what they build for them. Nothing here runs.
import type * as SDK from '@anthropic-ai/claude-agent-sdk';
import type { BashInput, FileEditInput, GrepInput, ToolInputSchemas } from '@anthropic-ai/claude-agent-sdk/sdk-tools';

/** Compiles only for a list of `true`. */
export type Holds<_ extends true[]> = void;
type Reads<T, As> = [T] extends [As] ? true : false;
type Takes<T, Value> = [Value] extends [T] ? true : false;

interface Common {
  uuid: string;
  session_id: string;
}
interface Ended extends Common {
  type: 'result';
  duration_ms: number;
  duration_api_ms: number;
  is_error: boolean;
  num_turns: number;
  total_cost_usd: number;
  usage: {
    input_tokens: number;
    output_tokens: number;
    cache_creation_input_tokens: number;
    cache_read_input_tokens: number;
  };
  modelUsage: Record<string, { inputTokens: number; outputTokens: number; costUSD: number; contextWindow: number }>;
  permission_denials: { tool_name: string; tool_use_id: string; tool_input: Record<string, unknown> }[];
}
interface OfHook extends Common {
  type: 'system';
  hook_id: string;
  hook_name: string;
  hook_event: string;
}

export type MessagesRead = Holds<
  [
    Reads<SDK.SDKAssistantMessage, Common & { type: 'assistant'; parent_tool_use_id: string | null }>,
    Reads<
      SDK.SDKAssistantMessage['message'],
      { id: string; model: string; stop_reason: string | null; content: unknown[] }
    >,
    Reads<SDK.SDKAssistantMessage['error'], string | undefined>,
    Reads<SDK.SDKUserMessage['message'], { role: 'user'; content: string | { type: string }[] }>,
    Reads<SDK.SDKUserMessageReplay, Common & { type: 'user'; isReplay: true; parent_tool_use_id: string | null }>,
    Reads<SDK.SDKPartialAssistantMessage, Common & { type: 'stream_event'; event: { type: string } }>,
    Reads<SDK.SDKResultMessage, Ended>,
    Reads<SDK.SDKResultSuccess, Ended & { subtype: 'success'; result: string; structured_output?: unknown }>,
    Reads<SDK.SDKResultError, Ended & { errors: string[]; subtype: `error_${string}` }>,
    Reads<
      SDK.SDKSystemMessage,
      Common & {
        subtype: 'init';
        cwd: string;
        model: string;
        tools: string[];
        slash_commands: string[];
        apiKeySource: string;
        claude_code_version: string;
        permissionMode: SDK.PermissionMode;
        mcp_servers: { name: string; status: string }[];
        agents?: string[];
        betas?: string[];
      }
    >,
    Reads<SDK.SDKCompactBoundaryMessage['compact_metadata'], { trigger: 'manual' | 'auto'; pre_tokens: number }>,
    Reads<SDK.SDKStatusMessage, Common & { subtype: 'status'; status: string | null }>,
    Reads<SDK.SDKHookStartedMessage, OfHook & { subtype: 'hook_started' }>,
    Reads<SDK.SDKHookProgressMessage, OfHook & { stdout: string; stderr: string; output: string }>,
    Reads<SDK.SDKHookResponseMessage, OfHook & { outcome: string; exit_code?: number; stdout: string }>,
    Reads<
      SDK.SDKToolProgressMessage,
      Common & { tool_use_id: string; tool_name: string; elapsed_time_seconds: number }
    >,
    Reads<SDK.SDKToolUseSummaryMessage, Common & { type: 'tool_use_summary'; summary: string }>,
    Reads<SDK.SDKAuthStatusMessage, Common & { isAuthenticating: boolean; output: string[]; error?: string }>,
    Reads<SDK.SDKTaskStartedMessage, Common & { subtype: 'task_started'; task_id: string; description: string }>,
    Reads<
      SDK.SDKTaskNotificationMessage,
      Common & { task_id: string; status: string; output_file: string; summary: string }
    >,
    Reads<SDK.SDKFilesPersistedEvent['files'], { filename: string; file_id: string }[]>,
    Reads<SDK.SDKMessage['type'], string>,
  ]
>;

export type AnswersRead = Holds<
  [
    Reads<SDK.AccountInfo, { email?: string; organization?: string; subscriptionType?: string; apiKeySource?: string }>,
    Reads<SDK.SlashCommand, { name: string; description: string; argumentHint: string }>,
    Reads<SDK.ModelInfo, { value: string; displayName: string; description: string; supportsEffort?: boolean }>,
    Reads<SDK.McpSetServersResult, { added: string[]; removed: string[]; errors: Record<string, string> }>,
    Reads<SDK.RewindFilesResult, { canRewind: boolean; error?: string; filesChanged?: string[]; insertions?: number }>,
    Reads<SDK.McpServerStatus, { name: string; status: string; serverInfo?: { name: string; version: string } }>,
    Reads<SDK.ModelUsage, { webSearchRequests: number; costUSD: number; contextWindow: number }>,
    Reads<SDK.NonNullableUsage, { input_tokens: number; cache_read_input_tokens: number }>,
    Reads<ReturnType<SDK.Query['close']>, void>,
    Reads<Awaited<ReturnType<SDK.Query['supportedModels']>>, SDK.ModelInfo[]>,
    Reads<Awaited<ReturnType<SDK.Query['mcpServerStatus']>>, SDK.McpServerStatus[]>,
    Reads<Awaited<ReturnType<SDK.Query['next']>>, IteratorResult<SDK.SDKMessage, void>>,
  ]
>;

/** A server of the public MCP packages: its transport has more than ours asks for. */
interface ForeignTransport {
  start(): Promise<void>;
  send(message: { jsonrpc: '2.0'; method: string }, options?: { relatedRequestId?: string }): Promise<void>;
  close(): Promise<void>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends { jsonrpc: '2.0' }>(message: T, extra?: { sessionId?: string }) => void;
  sessionId?: string;
}
declare class ForeignServer {
  connect(transport: ForeignTransport): Promise<void>;
  close(): Promise<void>;
}
interface TextContent {
  type: 'text';
  text: string;
}

type AgentModel = 'sonnet' | 'opus' | 'haiku' | 'inherit';
type Stdio = { command: string; args?: string[]; env?: Record<string, string> };

export type InputsAreTaken = Holds<
  [
    Takes<
      SDK.SDKUserMessage,
      { type: 'user'; message: { role: 'user'; content: string }; parent_tool_use_id: null; session_id: string }
    >,
    Takes<
      SDK.SDKUserMessage['message']['content'],
      (
        | TextContent
        | { type: 'image'; source: { type: 'base64'; media_type: 'image/png'; data: string } }
        | { type: 'tool_result'; tool_use_id: string; content: string; is_error?: boolean }
      )[]
    >,
    Takes<
      SDK.AgentDefinition,
      { description: string; prompt: string; tools?: string[]; model?: AgentModel; maxTurns?: number }
    >,
    Takes<SDK.AgentDefinition['mcpServers'], SDK.AgentMcpServerSpec[]>,
    Takes<
      SDK.PermissionResult,
      { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: SDK.PermissionUpdate[] }
    >,
    Takes<SDK.PermissionResult, { behavior: 'deny'; message: string; interrupt?: boolean }>,
    Takes<
      SDK.PermissionUpdate,
      | { type: 'addRules'; rules: SDK.PermissionRuleValue[]; behavior: SDK.PermissionBehavior; destination: 'session' }
      | { type: 'setMode'; mode: 'acceptEdits'; destination: 'userSettings' }
      | { type: 'addDirectories'; directories: string[]; destination: 'localSettings' }
    >,
    Takes<SDK.McpServerConfig, Stdio>,
    Takes<SDK.McpServerConfig, { type: 'sse' | 'http'; url: string; headers?: Record<string, string> }>,
    Takes<SDK.McpServerConfig, { type: 'sdk'; name: string; instance: ForeignServer }>,
    Takes<SDK.McpServerStatusConfig, { type: 'claudeai-proxy'; url: string; id: string }>,
    Takes<Awaited<ReturnType<SDK.SdkMcpToolDefinition['handler']>>, { content: TextContent[]; isError?: boolean }>,
    Takes<SDK.OutputFormat, { type: 'json_schema'; schema: { type: string } }>,
    Takes<SDK.ThinkingConfig, SDK.ThinkingAdaptive | SDK.ThinkingEnabled | SDK.ThinkingDisabled>,
    Takes<SDK.SandboxSettings, { enabled: true; network: { allowLocalBinding: true; allowUnixSockets: string[] } }>,
    Takes<SDK.SandboxNetworkConfig, { allowedDomains: string[] }>,
    Takes<SDK.SandboxFilesystemConfig, { allowWrite: string[] }>,
    Takes<SDK.Options['plugins'], SDK.SdkPluginConfig[]>,
    Takes<SDK.Options['betas'], SDK.SdkBeta[]>,
    Takes<SDK.Options['tools'], string[] | { type: 'preset'; preset: 'claude_code' }>,
    Takes<SDK.Options['env'], NodeJS.ProcessEnv>,
    Takes<SDK.Options['extraArgs'], Record<string, string | null>>,
    Takes<SDK.Options['executable'], 'bun' | 'deno' | 'node'>,
    Takes<SDK.Options['spawnClaudeCodeProcess'], (options: SDK.SpawnOptions) => SDK.SpawnedProcess>,
    Takes<SDK.SDKSessionOptions, { model: string; executable?: 'node' | 'bun'; hooks?: SDK.Options['hooks'] }>,
  ]
>;

/** Every option of 0.2 by name. */
export type OptionNames = Holds<
  [
    Reads<
      | 'abortController'
      | 'additionalDirectories'
      | 'agent'
      | 'agents'
      | 'allowDangerouslySkipPermissions'
      | 'allowedTools'
      | 'betas'
      | 'canUseTool'
      | 'continue'
      | 'cwd'
      | 'debug'
      | 'debugFile'
      | 'disallowedTools'
      | 'effort'
      | 'enableFileCheckpointing'
      | 'env'
      | 'executable'
      | 'executableArgs'
      | 'extraArgs'
      | 'fallbackModel'
      | 'forkSession'
      | 'hooks'
      | 'includePartialMessages'
      | 'maxBudgetUsd'
      | 'maxThinkingTokens'
      | 'maxTurns'
      | 'mcpServers'
      | 'model'
      | 'outputFormat'
      | 'pathToClaudeCodeExecutable'
      | 'permissionMode'
      | 'permissionPromptToolName'
      | 'persistSession'
      | 'plugins'
      | 'promptSuggestions'
      | 'resume'
      | 'resumeSessionAt'
      | 'sandbox'
      | 'sessionId'
      | 'settingSources'
      | 'spawnClaudeCodeProcess'
      | 'stderr'
      | 'strictMcpConfig'
      | 'systemPrompt'
      | 'thinking'
      | 'tools',
      keyof SDK.Options
    >,
  ]
>;

export type ToolInputsRead = Holds<
  [
    Reads<BashInput, { command: string; timeout?: number; description?: string; run_in_background?: boolean }>,
    Reads<FileEditInput, { file_path: string; old_string: string; new_string: string }>,
    Reads<GrepInput, { pattern: string; path?: string; glob?: string }>,
    Takes<ToolInputSchemas, BashInput | GrepInput>,
  ]
>;

// An option that does not exist is an error of the compiler, not only of the run.
// @ts-expect-error
export const wrong: SDK.Options = { colour: 'blue' };
