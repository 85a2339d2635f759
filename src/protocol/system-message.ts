/** Messages of type `system`: what happens around the conversation. */
import { z } from 'zod';
import { SlashCommand } from './agent.js';
import { type Infer, lazy } from './lazy.js';
import { McpConnectionState } from './mcp.js';
import { AGENT_COLORS, PERMISSION_MODES } from './names.js';
import { foreignName, type Lazy, type MemberOf, openName, openUnion } from './open-union.js';

const system = <S extends string>(subtype: S) => ({
  type: z.literal('system'),
  subtype: z.literal(subtype),
  uuid: z.string(),
  session_id: z.string(),
});

export const InitMessage = lazy(() =>
  z
    .object({
      ...system('init'),
      cwd: z.string(),
      model: z.string(),
      tools: z.array(z.string()),
      mcp_servers: z.array(z.object({ name: z.string(), status: McpConnectionState(), source: z.string().optional() })),
      permissionMode: foreignName(...PERMISSION_MODES),
      slash_commands: z.array(z.string()),
      apiKeySource: openName('ANTHROPIC_API_KEY', 'none', 'config', 'user', 'project', 'org', 'temporary'),
      claude_code_version: z.string().describe('The version whose manners are followed.'),
      heddle_version: z.string().optional(),
      output_style: z.string().optional(),
      agents: z.array(z.string()).optional(),
      skills: z.array(z.string()).optional(),
      plugins: z.array(z.object({ name: z.string(), path: z.string(), source: z.string().optional() })).optional(),
      betas: z.array(z.string()).optional(),
      capabilities: z.array(z.string()).optional(),
      additional_directories: z.array(z.string()).optional(),
      original_cwd: z.string().optional(),
      memory_paths: z.record(z.string(), z.string()).optional(),
      fast_mode_state: z.string().optional(),
      user_message_uuids: z.array(z.string()).optional(),
    })
    .describe('Opens every turn: what the session is made of.'),
);
export type InitMessage = Infer<typeof InitMessage>;

export const StatusMessage = lazy(() =>
  z
    .object({
      ...system('status'),
      status: openName('compacting', 'requesting').nullable(),
      permissionMode: foreignName(...PERMISSION_MODES).optional(),
      compact_result: z.unknown().optional(),
      compact_output_chars: z.number().optional(),
      reason: z.string().optional().describe('Why it does that.'),
    })
    .describe('The session does something that takes a while, or stopped doing it (`null`), or its mode changed.'),
);
export type StatusMessage = Infer<typeof StatusMessage>;

export const ApiRetryMessage = lazy(() =>
  z
    .object({
      ...system('api_retry'),
      attempt: z.number(),
      max_retries: z.number(),
      retry_delay_ms: z.number(),
      error_status: z.number().nullable(),
      error: openName('rate_limit', 'server_error', 'authentication_failed', 'invalid_request', 'unknown'),
      error_code: z.string().optional().describe('The code of the HeddleError.'),
      error_message: z.string().optional(),
      aborted_message_id: z.string().optional().describe('The partial answer that no longer counts.'),
    })
    .describe('A model call failed and is tried again.'),
);
export type ApiRetryMessage = Infer<typeof ApiRetryMessage>;

export const ModelFallbackMessage = lazy(() =>
  z
    .object({
      ...system('model_fallback'),
      trigger: openName('overloaded'),
      original_model: z.string(),
      fallback_model: z.string(),
      content: z.string(),
    })
    .describe('The model was overloaded too often; another one takes over.'),
);
export type ModelFallbackMessage = Infer<typeof ModelFallbackMessage>;

export const PermissionDeniedMessage = lazy(() =>
  z
    .object({
      ...system('permission_denied'),
      tool_name: z.string(),
      tool_use_id: z.string(),
      message: z.string(),
      decision_reason: z.string().optional(),
      decision_reason_type: z.string().optional(),
      decision_reason_code: z.string().optional(),
      agent_id: z.string().optional(),
    })
    .describe('A call was refused without anybody being asked.'),
);
export type PermissionDeniedMessage = Infer<typeof PermissionDeniedMessage>;

export const SessionStateChangedMessage = lazy(() =>
  z
    .object({
      ...system('session_state_changed'),
      state: openName('idle', 'running', 'requires_action'),
      sdk_host_only: z.boolean().optional().describe('For the host, not for its consumer.'),
    })
    .describe('The session began to work, waits for an answer, or is idle.'),
);
export type SessionStateChangedMessage = Infer<typeof SessionStateChangedMessage>;

export const CompactBoundaryMessage = lazy(() =>
  z
    .object({
      ...system('compact_boundary'),
      compact_metadata: z.object({
        trigger: z.enum(['manual', 'auto']),
        pre_tokens: z.number(),
        post_tokens: z.number().optional(),
        duration_ms: z.number().optional(),
      }),
      logical_parent_uuid: z.string().nullable().optional(),
    })
    .describe('The conversation before this point was replaced by a summary.'),
);
export type CompactBoundaryMessage = Infer<typeof CompactBoundaryMessage>;

const hook = () => ({ hook_id: z.string(), hook_name: z.string(), hook_event: z.string() });

export const HookStartedMessage = lazy(() =>
  z.object({ ...system('hook_started'), ...hook() }).describe('A hook started to run.'),
);
export type HookStartedMessage = Infer<typeof HookStartedMessage>;

export const HookProgressMessage = lazy(() =>
  z
    .object({ ...system('hook_progress'), ...hook(), stdout: z.string(), stderr: z.string(), output: z.string() })
    .describe('What a hook has printed so far.'),
);
export type HookProgressMessage = Infer<typeof HookProgressMessage>;

export const HookResponseMessage = lazy(() =>
  z
    .object({
      ...system('hook_response'),
      ...hook(),
      output: z.string(),
      stdout: z.string(),
      stderr: z.string(),
      exit_code: z.number().optional(),
      outcome: openName('success', 'error', 'cancelled'),
    })
    .describe('A hook ended.'),
);
export type HookResponseMessage = Infer<typeof HookResponseMessage>;

export const FilesPersistedMessage = lazy(() =>
  z
    .object({
      ...system('files_persisted'),
      files: z.array(z.object({ filename: z.string(), file_id: z.string() })),
      failed: z.array(z.object({ filename: z.string(), error: z.string() })),
      processed_at: z.string(),
    })
    .describe('Files of the session were saved.'),
);
export type FilesPersistedMessage = Infer<typeof FilesPersistedMessage>;

export const TaskUsage = lazy(() =>
  z.object({ total_tokens: z.number(), tool_uses: z.number(), duration_ms: z.number() }),
);
export type TaskUsage = Infer<typeof TaskUsage>;

const task = () => ({
  task_id: z.string(),
  run_id: z.string().optional(),
  tool_use_id: z.string().optional(),
});

export const TaskStartedMessage = lazy(() =>
  z
    .object({
      ...system('task_started'),
      ...task(),
      description: z.string(),
      task_type: openName('local_agent', 'local_bash').optional(),
      subagent_type: z.string().optional(),
      color: openName(...AGENT_COLORS)
        .optional()
        .describe('That of the agent.'),
      is_backgrounded: z.boolean().optional(),
      spawn_depth: z.number().optional(),
      prompt: z.string().optional(),
    })
    .describe('A subagent or a shell command started to run on its own.'),
);
export type TaskStartedMessage = Infer<typeof TaskStartedMessage>;

export const TaskProgressMessage = lazy(() =>
  z
    .object({
      ...system('task_progress'),
      ...task(),
      description: z.string(),
      usage: TaskUsage(),
      subagent_type: z.string().optional(),
      last_tool_name: z.string().optional(),
    })
    .describe('How far a task is.'),
);
export type TaskProgressMessage = Infer<typeof TaskProgressMessage>;

const taskStatus = () => openName('pending', 'running', 'completed', 'failed', 'stopped', 'killed');

export const TaskUpdatedMessage = lazy(() =>
  z
    .object({
      ...system('task_updated'),
      ...task(),
      patch: z.object({
        status: taskStatus().optional(),
        end_time: z.number().optional(),
        description: z.string().optional(),
        is_backgrounded: z.boolean().optional(),
        error: z.string().optional(),
      }),
    })
    .describe('Something about a task changed.'),
);
export type TaskUpdatedMessage = Infer<typeof TaskUpdatedMessage>;

export const TaskNotificationMessage = lazy(() =>
  z
    .object({
      ...system('task_notification'),
      ...task(),
      status: openName('completed', 'failed', 'stopped'),
      output_file: z.string(),
      summary: z.string(),
      usage: TaskUsage().optional(),
    })
    .describe('A task ended.'),
);
export type TaskNotificationMessage = Infer<typeof TaskNotificationMessage>;

export const BackgroundTask = lazy(() =>
  z.object({
    task_id: z.string(),
    task_type: z.string().optional(),
    description: z.string().optional(),
    status: taskStatus().optional(),
    tool_use_id: z.string().optional(),
  }),
);
export type BackgroundTask = Infer<typeof BackgroundTask>;

export const BackgroundTasksChangedMessage = lazy(() =>
  z
    .object({ ...system('background_tasks_changed'), tasks: z.array(BackgroundTask()) })
    .describe('The tasks that run now.'),
);
export type BackgroundTasksChangedMessage = Infer<typeof BackgroundTasksChangedMessage>;

export const CommandsChangedMessage = lazy(() =>
  z
    .object({ ...system('commands_changed'), commands: z.array(SlashCommand()) })
    .describe('The slash commands that exist now.'),
);
export type CommandsChangedMessage = Infer<typeof CommandsChangedMessage>;

export const InformationalMessage = lazy(() =>
  z
    .object({
      ...system('informational'),
      content: z.string(),
      level: openName('notice', 'info', 'warning', 'error'),
      tag: z.string().optional(),
      prevent_continuation: z.boolean().optional(),
      prompt_submit_outcome: z.string().optional(),
      isMeta: z.boolean().optional(),
      timestamp: z.string().optional(),
    })
    .describe('Something the person should read; not part of the conversation.'),
);
export type InformationalMessage = Infer<typeof InformationalMessage>;

export const NotificationMessage = lazy(() =>
  z
    .object({
      ...system('notification'),
      key: z.string(),
      text: z.string(),
      priority: openName('low', 'medium', 'high', 'immediate'),
    })
    .describe('A short text for the status line.'),
);
export type NotificationMessage = Infer<typeof NotificationMessage>;

export const ThinkingTokensMessage = lazy(() =>
  z
    .object({ ...system('thinking_tokens'), estimated_tokens: z.number(), estimated_tokens_delta: z.number() })
    .describe('How much has been thought so far.'),
);
export type ThinkingTokensMessage = Infer<typeof ThinkingTokensMessage>;

export const SessionTitleChangedMessage = lazy(() =>
  z.object({ ...system('session_title_changed'), title: z.string() }).describe('The session got a title.'),
);
export type SessionTitleChangedMessage = Infer<typeof SessionTitleChangedMessage>;

export const SessionWritesLostMessage = lazy(() =>
  z
    .object({
      ...system('session_writes_lost'),
      lost: z.number().optional().describe('Entries lost so far.'),
      error: z.string(),
    })
    .describe('Entries of the log could not be kept: the session goes on, but a resume will not find them.'),
);
export type SessionWritesLostMessage = Infer<typeof SessionWritesLostMessage>;

/** Subtype to schema. */
export const MirrorErrorMessage = lazy(() =>
  z
    .object({
      ...system('mirror_error'),
      error: z.string(),
      key: z.object({ projectKey: z.string(), sessionId: z.string(), subpath: z.string().optional() }),
    })
    .describe('Entries did not reach the store that gets a copy of the session; they are kept here.'),
);
export type MirrorErrorMessage = Infer<typeof MirrorErrorMessage>;

export const SYSTEM_MESSAGES = {
  init: InitMessage,
  status: StatusMessage,
  api_retry: ApiRetryMessage,
  model_fallback: ModelFallbackMessage,
  permission_denied: PermissionDeniedMessage,
  session_state_changed: SessionStateChangedMessage,
  session_title_changed: SessionTitleChangedMessage,
  mirror_error: MirrorErrorMessage,
  session_writes_lost: SessionWritesLostMessage,
  compact_boundary: CompactBoundaryMessage,
  hook_started: HookStartedMessage,
  hook_progress: HookProgressMessage,
  hook_response: HookResponseMessage,
  files_persisted: FilesPersistedMessage,
  task_started: TaskStartedMessage,
  task_progress: TaskProgressMessage,
  task_updated: TaskUpdatedMessage,
  task_notification: TaskNotificationMessage,
  background_tasks_changed: BackgroundTasksChangedMessage,
  commands_changed: CommandsChangedMessage,
  informational: InformationalMessage,
  notification: NotificationMessage,
  thinking_tokens: ThinkingTokensMessage,
} as const;

export type SystemMessage = MemberOf<typeof SYSTEM_MESSAGES>;
export const SystemMessage: Lazy<SystemMessage> = lazy(() => openUnion('subtype', SYSTEM_MESSAGES));
