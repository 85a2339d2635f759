/** The package root. Everything public is listed here by name. */
export type {
  AccountInfo,
  AgentDefinition,
  AgentInfo,
  AssistantMessage,
  ConfigChangeHookInput,
  HookInput,
  HookOutput,
  McpHttpServerConfig,
  McpSdkServerConfig,
  McpServerStatus,
  McpSetServersResult,
  McpSSEServerConfig,
  McpStdioServerConfig,
  Message,
  ModelInfo,
  ModelUsage,
  NotificationHookInput,
  PermissionBehavior,
  PermissionRequestHookInput,
  PermissionResult,
  PermissionRuleValue,
  PermissionUpdate,
  PermissionUpdateDestination,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
  PreCompactHookInput,
  PreToolUseHookInput,
  ResultMessage,
  RewindFilesResult,
  SandboxSettings,
  SessionEndHookInput,
  SessionStartHookInput,
  SetupHookInput,
  SlashCommand,
  StopHookInput,
  StreamEventMessage,
  SubagentStartHookInput,
  SubagentStopHookInput,
  SystemMessage,
  TaskCompletedHookInput,
  TeammateIdleHookInput,
  ThinkingConfig,
  Tool,
  ToolAccess,
  ToolContext,
  ToolOutput,
  UserMessage,
  UserPromptSubmitHookInput,
  WorktreeCreateHookInput,
  WorktreeRemoveHookInput,
} from '../protocol/index.js';
export {
  AbortError,
  type ErrorCode,
  EXIT_REASONS,
  type ExitReason,
  HeddleError,
  HOOK_EVENTS,
  type HookEvent,
  type PermissionMode,
  type SettingSource,
} from '../protocol/plain.js';
export type { SpawnedProcess, SpawnOptions, Transport } from '../wire/index.js';
export type { HookCallback, HookCallbackMatcher } from './hook-bridge.js';
export type * from './names.js';
export type { CanUseTool, CanUseToolOptions, Carrier, HeddleOptions, McpServerConfig, Options } from './options.js';
export { query } from './query.js';
export type { Query } from './query-handle.js';
export {
  type SDKSession,
  type SDKSessionOptions,
  unstable_v2_createSession,
  unstable_v2_prompt,
  unstable_v2_resumeSession,
} from './session.js';
export { startup, type WarmQuery } from './startup.js';
export { createSdkMcpServer, tool } from './tool.js';
export type {
  AnyToolDefinition,
  AnyZodRawShape,
  CallToolContent,
  CallToolResult,
  InferShape,
  McpSdkServerConfigWithInstance,
  SdkMcpToolDefinition,
  ToolAnnotations,
} from './tool-definition.js';
export { type ResolvedSettings, resolveSettings } from './settings.js';
