/** What hooks are given, one schema per event. What they answer is in hook-output.ts. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { EXIT_REASONS, SETUP_TRIGGERS } from './names.js';
import { jsonObject, type Lazy, type MemberOf, openName, openUnion } from './open-union.js';
import { PermissionUpdate } from './permission.js';

const base = <E extends string>(event: E) => ({
  hook_event_name: z.literal(event),
  session_id: z.string(),
  transcript_path: z.string(),
  cwd: z.string(),
  prompt_id: z.string().optional(),
  permission_mode: z.string().optional(),
  agent_id: z.string().optional().describe('The subagent in which it happened; absent: the main agent.'),
  agent_type: z.string().optional(),
  effort: z.unknown().optional(),
});

const tool = () => ({
  tool_name: z.string(),
  tool_input: z.unknown(),
  tool_use_id: z.string(),
  mcp_server: z.unknown().optional(),
});

const stopping = () => ({
  stop_hook_active: z.boolean().describe('True when a Stop hook has already kept this turn going.'),
  last_assistant_message: z.string().optional(),
  background_tasks: z.array(z.unknown()).optional(),
  session_crons: z.array(z.unknown()).optional(),
});

export const PreToolUseHookInput = lazy(() =>
  z.object({ ...base('PreToolUse'), ...tool() }).describe('Before a tool call; may allow, deny, ask or rewrite it.'),
);
export type PreToolUseHookInput = Infer<typeof PreToolUseHookInput>;

export const PostToolUseHookInput = lazy(() =>
  z
    .object({
      ...base('PostToolUse'),
      ...tool(),
      tool_response: z.unknown(),
      duration_ms: z.number().optional(),
    })
    .describe('After a tool call that worked.'),
);
export type PostToolUseHookInput = Infer<typeof PostToolUseHookInput>;

export const PostToolUseFailureHookInput = lazy(() =>
  z
    .object({
      ...base('PostToolUseFailure'),
      ...tool(),
      error: z.string(),
      is_interrupt: z.boolean().optional(),
      duration_ms: z.number().optional(),
    })
    .describe('After a tool call that failed.'),
);
export type PostToolUseFailureHookInput = Infer<typeof PostToolUseFailureHookInput>;

export const PostToolBatchHookInput = lazy(() =>
  z
    .object({ ...base('PostToolBatch'), tool_calls: z.array(z.unknown()) })
    .describe('After all tool calls of one answer.'),
);
export type PostToolBatchHookInput = Infer<typeof PostToolBatchHookInput>;

export const PermissionRequestHookInput = lazy(() =>
  z
    .object({
      ...base('PermissionRequest'),
      tool_name: z.string(),
      tool_input: z.unknown(),
      permission_suggestions: z.array(PermissionUpdate()).optional(),
      mcp_server: z.unknown().optional(),
    })
    .describe('When a person would be asked.'),
);
export type PermissionRequestHookInput = Infer<typeof PermissionRequestHookInput>;

export const PermissionDeniedHookInput = lazy(() =>
  z.object({ ...base('PermissionDenied'), ...tool(), reason: z.string() }).describe('After a call was refused.'),
);
export type PermissionDeniedHookInput = Infer<typeof PermissionDeniedHookInput>;

export const NotificationHookInput = lazy(() =>
  z
    .object({
      ...base('Notification'),
      message: z.string(),
      title: z.string().optional(),
      notification_type: z.string().optional(),
    })
    .describe('When the session wants attention.'),
);
export type NotificationHookInput = Infer<typeof NotificationHookInput>;

export const UserPromptSubmitHookInput = lazy(() =>
  z
    .object({
      ...base('UserPromptSubmit'),
      prompt: z.string(),
      source: z.string().optional(),
      session_title: z.string().optional(),
    })
    .describe('Before a prompt goes to the model.'),
);
export type UserPromptSubmitHookInput = Infer<typeof UserPromptSubmitHookInput>;

export const UserPromptExpansionHookInput = lazy(() =>
  z
    .object({
      ...base('UserPromptExpansion'),
      expansion_type: z.string(),
      command_name: z.string(),
      command_args: z.string(),
      command_source: z.string().optional(),
      prompt: z.string(),
    })
    .describe('When a command is turned into a prompt.'),
);
export type UserPromptExpansionHookInput = Infer<typeof UserPromptExpansionHookInput>;

export const SessionStartHookInput = lazy(() =>
  z
    .object({
      ...base('SessionStart'),
      source: openName('startup', 'resume', 'clear', 'compact'),
      model: z.string().optional(),
      session_title: z.string().optional(),
      context_tokens: z.number().optional(),
    })
    .describe('When a session starts or goes on.'),
);
export type SessionStartHookInput = Infer<typeof SessionStartHookInput>;

export const SessionEndHookInput = lazy(() =>
  z.object({ ...base('SessionEnd'), reason: openName(...EXIT_REASONS) }).describe('When a session ends.'),
);
export type SessionEndHookInput = Infer<typeof SessionEndHookInput>;

export const SetupHookInput = lazy(() =>
  z
    .object({ ...base('Setup'), trigger: openName(...SETUP_TRIGGERS) })
    .describe('Before the first turn, to prepare the folder.'),
);
export type SetupHookInput = Infer<typeof SetupHookInput>;

export const StopHookInput = lazy(() =>
  z.object({ ...base('Stop'), ...stopping() }).describe('Before a turn ends; may keep it going.'),
);
export type StopHookInput = Infer<typeof StopHookInput>;

export const StopFailureHookInput = lazy(() =>
  z
    .object({
      ...base('StopFailure'),
      error: z.string(),
      error_details: z.string().optional(),
      last_assistant_message: z.string().optional(),
    })
    .describe('When a turn ended with an error of the model API.'),
);
export type StopFailureHookInput = Infer<typeof StopFailureHookInput>;

export const SubagentStartHookInput = lazy(() =>
  z
    .object({ ...base('SubagentStart'), agent_id: z.string(), agent_type: z.string() })
    .describe('When a subagent starts.'),
);
export type SubagentStartHookInput = Infer<typeof SubagentStartHookInput>;

export const SubagentStopHookInput = lazy(() =>
  z
    .object({
      ...base('SubagentStop'),
      ...stopping(),
      agent_id: z.string(),
      agent_type: z.string().optional(),
      agent_transcript_path: z.string(),
    })
    .describe('Before a subagent ends; may keep it going.'),
);
export type SubagentStopHookInput = Infer<typeof SubagentStopHookInput>;

export const PreCompactHookInput = lazy(() =>
  z
    .object({
      ...base('PreCompact'),
      trigger: z.enum(['manual', 'auto']),
      custom_instructions: z.string().nullable(),
    })
    .describe('Before the conversation is summarised.'),
);
export type PreCompactHookInput = Infer<typeof PreCompactHookInput>;

export const PostCompactHookInput = lazy(() =>
  z
    .object({ ...base('PostCompact'), trigger: z.enum(['manual', 'auto']), compact_summary: z.string() })
    .describe('After the conversation was summarised.'),
);
export type PostCompactHookInput = Infer<typeof PostCompactHookInput>;

const todo = () => ({
  task_id: z.string(),
  task_subject: z.string(),
  task_description: z.string().optional(),
  teammate_name: z.string().optional(),
  team_name: z.string().optional(),
});

export const TaskCreatedHookInput = lazy(() =>
  z.object({ ...base('TaskCreated'), ...todo() }).describe('When a task was added to the list.'),
);
export type TaskCreatedHookInput = Infer<typeof TaskCreatedHookInput>;

export const TaskCompletedHookInput = lazy(() =>
  z.object({ ...base('TaskCompleted'), ...todo() }).describe('When a task was completed.'),
);
export type TaskCompletedHookInput = Infer<typeof TaskCompletedHookInput>;

export const TeammateIdleHookInput = lazy(() =>
  z
    .object({ ...base('TeammateIdle'), teammate_name: z.string(), team_name: z.string() })
    .describe('When a teammate has nothing to do.'),
);
export type TeammateIdleHookInput = Infer<typeof TeammateIdleHookInput>;

export const ConfigChangeHookInput = lazy(() =>
  z
    .object({ ...base('ConfigChange'), source: z.string(), file_path: z.string().optional() })
    .describe('When a settings file changed.'),
);
export type ConfigChangeHookInput = Infer<typeof ConfigChangeHookInput>;

export const InstructionsLoadedHookInput = lazy(() =>
  z
    .object({
      ...base('InstructionsLoaded'),
      file_path: z.string(),
      memory_type: z.string(),
      load_reason: z.string(),
      globs: z.array(z.string()).optional(),
      trigger_file_path: z.string().optional(),
      parent_file_path: z.string().optional(),
    })
    .describe('When a file of instructions was read.'),
);
export type InstructionsLoadedHookInput = Infer<typeof InstructionsLoadedHookInput>;

export const CwdChangedHookInput = lazy(() =>
  z
    .object({ ...base('CwdChanged'), old_cwd: z.string(), new_cwd: z.string() })
    .describe('When the working directory changed.'),
);
export type CwdChangedHookInput = Infer<typeof CwdChangedHookInput>;

export const WorktreeCreateHookInput = lazy(() =>
  z.object({ ...base('WorktreeCreate'), name: z.string() }).describe('When a worktree is needed.'),
);
export type WorktreeCreateHookInput = Infer<typeof WorktreeCreateHookInput>;

export const WorktreeRemoveHookInput = lazy(() =>
  z.object({ ...base('WorktreeRemove'), worktree_path: z.string() }).describe('When a worktree is no longer needed.'),
);
export type WorktreeRemoveHookInput = Infer<typeof WorktreeRemoveHookInput>;

export const DirectoryAddedHookInput = lazy(() =>
  z
    .object({ ...base('DirectoryAdded'), directory: z.string(), source: z.string() })
    .describe('When a folder was added to the workspace.'),
);
export type DirectoryAddedHookInput = Infer<typeof DirectoryAddedHookInput>;

export const FileChangedHookInput = lazy(() =>
  z
    .object({ ...base('FileChanged'), file_path: z.string(), event: z.string() })
    .describe('When a watched file changed.'),
);
export type FileChangedHookInput = Infer<typeof FileChangedHookInput>;

export const ElicitationHookInput = lazy(() =>
  z
    .object({
      ...base('Elicitation'),
      mcp_server_name: z.string(),
      message: z.string(),
      mode: z.string().optional(),
      url: z.string().optional(),
      elicitation_id: z.string().optional(),
      requested_schema: jsonObject().optional(),
    })
    .describe('When an MCP server asks the person something.'),
);
export type ElicitationHookInput = Infer<typeof ElicitationHookInput>;

export const ElicitationResultHookInput = lazy(() =>
  z
    .object({
      ...base('ElicitationResult'),
      mcp_server_name: z.string(),
      elicitation_id: z.string().optional(),
      mode: z.string().optional(),
      action: openName('accept', 'decline', 'cancel'),
      content: jsonObject().optional(),
    })
    .describe('After such a question was answered.'),
);
export type ElicitationResultHookInput = Infer<typeof ElicitationResultHookInput>;

/** Event to schema of its input. */
export const HOOK_INPUTS = {
  PreToolUse: PreToolUseHookInput,
  PostToolUse: PostToolUseHookInput,
  PostToolUseFailure: PostToolUseFailureHookInput,
  PostToolBatch: PostToolBatchHookInput,
  PermissionRequest: PermissionRequestHookInput,
  PermissionDenied: PermissionDeniedHookInput,
  Notification: NotificationHookInput,
  UserPromptSubmit: UserPromptSubmitHookInput,
  UserPromptExpansion: UserPromptExpansionHookInput,
  SessionStart: SessionStartHookInput,
  SessionEnd: SessionEndHookInput,
  Setup: SetupHookInput,
  Stop: StopHookInput,
  StopFailure: StopFailureHookInput,
  SubagentStart: SubagentStartHookInput,
  SubagentStop: SubagentStopHookInput,
  PreCompact: PreCompactHookInput,
  PostCompact: PostCompactHookInput,
  TaskCreated: TaskCreatedHookInput,
  TaskCompleted: TaskCompletedHookInput,
  TeammateIdle: TeammateIdleHookInput,
  ConfigChange: ConfigChangeHookInput,
  InstructionsLoaded: InstructionsLoadedHookInput,
  CwdChanged: CwdChangedHookInput,
  WorktreeCreate: WorktreeCreateHookInput,
  WorktreeRemove: WorktreeRemoveHookInput,
  DirectoryAdded: DirectoryAddedHookInput,
  FileChanged: FileChangedHookInput,
  Elicitation: ElicitationHookInput,
  ElicitationResult: ElicitationResultHookInput,
} as const;

export type HookInput = MemberOf<typeof HOOK_INPUTS>;
export const HookInput: Lazy<HookInput> = lazy(() => openUnion('hook_event_name', HOOK_INPUTS));

export const HookMatcherConfig = lazy(() =>
  z
    .object({
      matcher: z.string().nullable().optional().describe('A pattern for the tool name or source; absent: all.'),
      hookCallbackIds: z.array(z.string()),
      timeout: z.number().nullable().optional().describe('Seconds.'),
      onFailure: openName('allow', 'deny', 'ask').optional(),
    })
    .describe('How a host registers its callbacks for one event.'),
);
export type HookMatcherConfig = Infer<typeof HookMatcherConfig>;
