/** The names under which programs written for SDK 0.2 know our types. Types only: nothing here exists at run time. */
import type {
  AssistantError,
  AssistantMessage,
  AsyncHookOutput,
  AuthStatusMessage,
  CompactBoundaryMessage,
  FilesPersistedMessage,
  HookInput,
  HookOutput,
  HookProgressMessage,
  HookResponseMessage,
  HookSpecificOutput,
  HookStartedMessage,
  InitializeResult,
  InitMessage,
  McpHttpServerConfig,
  McpSdkServerConfig,
  McpSSEServerConfig,
  McpStdioServerConfig,
  Message,
  PermissionDenial,
  PromptSuggestionMessage,
  RateLimitInfo,
  RateLimitMessage,
  ResultError,
  ResultSuccess,
  ResultUsage,
  SandboxSettings,
  StatusMessage,
  StreamEventMessage,
  SyncHookOutput,
  TaskNotificationMessage,
  TaskStartedMessage,
  ToolProgressMessage,
  ToolUseSummaryMessage,
  UserMessage,
} from '../protocol/index.js';

/** What this SDK always gives, beyond what a frame of just any engine must have. */
type Sure<T, K extends keyof T> = T & { [P in K]-?: Exclude<T[P], undefined> };

export type SDKMessage =
  | Exclude<Message, { type: 'result' } | { type: 'system'; subtype: 'init' }>
  | SDKSystemMessage
  | SDKResultMessage;
export type SDKAssistantMessage = AssistantMessage;
export type SDKAssistantMessageError = AssistantError;
export type SDKUserMessage = UserMessage;
export type SDKUserMessageReplay = UserMessage &
  Required<Pick<UserMessage, 'uuid' | 'session_id' | 'parent_tool_use_id'>> & { isReplay: true };
export type SDKResultMessage = SDKResultSuccess | SDKResultError;
export type SDKResultSuccess = Sure<ResultSuccess, 'stop_reason'>;
export type SDKResultError = Sure<ResultError, 'stop_reason'>;
export type SDKSystemMessage = Sure<InitMessage, 'output_style' | 'skills' | 'plugins' | 'agents'>;
/** What an engine says about itself; older ones leave parts out, which are then empty. */
export type SDKInitializeResult = Sure<
  InitializeResult,
  'commands' | 'models' | 'account' | 'output_style' | 'available_output_styles'
>;
export type SDKPartialAssistantMessage = StreamEventMessage;
export type SDKCompactBoundaryMessage = CompactBoundaryMessage;
export type SDKStatusMessage = StatusMessage;
export type SDKStatus = StatusMessage['status'];
export type SDKHookStartedMessage = HookStartedMessage;
export type SDKHookProgressMessage = HookProgressMessage;
export type SDKHookResponseMessage = HookResponseMessage;
export type SDKToolProgressMessage = ToolProgressMessage;
export type SDKToolUseSummaryMessage = ToolUseSummaryMessage;
export type SDKAuthStatusMessage = AuthStatusMessage;
export type SDKTaskNotificationMessage = TaskNotificationMessage;
export type SDKTaskStartedMessage = TaskStartedMessage;
export type SDKFilesPersistedEvent = FilesPersistedMessage;
export type SDKPromptSuggestionMessage = PromptSuggestionMessage;
export type SDKRateLimitEvent = RateLimitMessage;
export type SDKRateLimitInfo = RateLimitInfo;
export type SDKPermissionDenial = PermissionDenial;
export type SdkBeta = 'context-1m-2025-08-07' | (string & {});
export type SdkPluginConfig = { type: 'local'; path: string };
export type NonNullableUsage = ResultUsage;
export type ApiKeySource = InitMessage['apiKeySource'];
export type ConfigScope = 'local' | 'user' | 'project';

export type OutputFormatType = 'json_schema';
export type BaseOutputFormat = { type: OutputFormatType };
export type JsonSchemaOutputFormat = { type: 'json_schema'; schema: Record<string, unknown> };
export type OutputFormat = JsonSchemaOutputFormat;

export type ThinkingAdaptive = { type: 'adaptive' };
export type ThinkingEnabled = { type: 'enabled'; budgetTokens?: number };
export type ThinkingDisabled = { type: 'disabled' };

export type HookJSONOutput = HookOutput;
export type SyncHookJSONOutput = SyncHookOutput;
export type AsyncHookJSONOutput = AsyncHookOutput;
/** What every hook is told. */
export type BaseHookInput = Pick<HookInput, 'session_id' | 'transcript_path' | 'cwd' | 'permission_mode'>;

type SpecificOutput<E extends string> = Extract<HookSpecificOutput, { hookEventName: E }>;
export type PreToolUseHookSpecificOutput = SpecificOutput<'PreToolUse'>;
export type PostToolUseHookSpecificOutput = SpecificOutput<'PostToolUse'>;
export type PostToolUseFailureHookSpecificOutput = SpecificOutput<'PostToolUseFailure'>;
export type NotificationHookSpecificOutput = SpecificOutput<'Notification'>;
export type UserPromptSubmitHookSpecificOutput = SpecificOutput<'UserPromptSubmit'>;
export type SessionStartHookSpecificOutput = SpecificOutput<'SessionStart'>;
export type SetupHookSpecificOutput = SpecificOutput<'Setup'>;
export type SubagentStartHookSpecificOutput = SpecificOutput<'SubagentStart'>;
export type PermissionRequestHookSpecificOutput = SpecificOutput<'PermissionRequest'>;

export type McpServerConfigForProcessTransport =
  | McpStdioServerConfig
  | McpSSEServerConfig
  | McpHttpServerConfig
  | McpSdkServerConfig;
/** A server behind an account of the vendor. It can be named in types; no session has one. */
export type McpClaudeAIProxyServerConfig = { type: 'claudeai-proxy'; url: string; id: string };
export type McpServerStatusConfig = McpServerConfigForProcessTransport | McpClaudeAIProxyServerConfig;
export type AgentMcpServerSpec = string | Record<string, McpServerConfigForProcessTransport>;

export type SandboxFilesystemConfig = NonNullable<SandboxSettings['filesystem']>;
export type SandboxNetworkConfig = NonNullable<SandboxSettings['network']>;
export type SandboxIgnoreViolations = NonNullable<SandboxSettings['ignoreViolations']>;
