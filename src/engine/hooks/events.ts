/** When each event happens, what its matchers are about, and what an answer can do. docs/hooks.md shows this table. */
import type { HookEvent } from '../../protocol/plain.js';

/**
 * What a gate guards, and so what a hook that fails there does: a `call` is asked about, a `prompt` is held back, the
 * end of a turn (`stop`) is put off once.
 */
export type Gate = 'call' | 'prompt' | 'stop';

export interface HookTrigger {
  when: string;
  /** What has to be there before anything causes the event; absent: it is there. */
  later?: 'instruction files' | 'teams';
  /** The field of the input that matchers are compared with; matchers of other events are ignored. */
  matchField?: string;
  gate: Gate | false;
  /** What `decision: "block"` and exit code 2 do; absent: nothing, they are only reported. */
  block?: string;
  /** Nothing is there that `continue: false` could end, or it is too late for it. */
  cannotStop?: true;
  /** What else an answer can do, by the names of its fields. */
  answers: readonly string[];
  /** The fields of the input that are filled, beside the common ones; `?` marks those that may be missing. */
  fields: readonly string[];
}

const CALL = ['tool_name', 'tool_input', 'tool_use_id'] as const;
const STOPPING = ['stop_hook_active', 'last_assistant_message?', 'background_tasks?'] as const;
const TASK = ['task_id', 'task_subject', 'task_description?'] as const;

export const HOOK_TRIGGERS: Readonly<Record<HookEvent, HookTrigger>> = {
  PreToolUse: {
    when: 'Before a tool call, when its input has been parsed and nothing has been decided about it.',
    matchField: 'tool_name',
    gate: 'call',
    block: 'the call is denied',
    answers: ['permissionDecision', 'permissionDecisionReason', 'updatedInput', 'additionalContext'],
    fields: CALL,
  },
  PostToolUse: {
    when: 'After a tool call that worked, before its result goes to the model.',
    matchField: 'tool_name',
    gate: false,
    block: 'the model is told the reason beside the result',
    answers: ['additionalContext', 'updatedToolOutput', 'updatedMCPToolOutput'],
    fields: [...CALL, 'tool_response', 'duration_ms?'],
  },
  PostToolUseFailure: {
    when: 'After a tool call that failed or was interrupted, before its result goes to the model.',
    matchField: 'tool_name',
    gate: false,
    block: 'the model is told the reason beside the result',
    answers: ['additionalContext'],
    fields: [...CALL, 'error', 'is_interrupt?', 'duration_ms?'],
  },
  Notification: {
    when: 'When the session wants the attention of a person, such as for an open question.',
    matchField: 'notification_type',
    gate: false,
    cannotStop: true,
    answers: ['additionalContext'],
    fields: ['message', 'notification_type?'],
  },
  UserPromptSubmit: {
    when: 'Before a prompt of the user goes to the model.',
    gate: 'prompt',
    block: 'the prompt does not go to the model, and the turn ends with the reason',
    answers: ['additionalContext', 'sessionTitle', 'suppressOriginalPrompt'],
    fields: ['prompt'],
  },
  SessionStart: {
    when: 'When a session starts, is resumed or cleared, or goes on after its conversation was summarised.',
    matchField: 'source',
    gate: false,
    answers: ['additionalContext', 'initialUserMessage', 'sessionTitle', 'watchPaths', 'reloadSkills'],
    fields: ['source', 'model?'],
  },
  SessionEnd: {
    when: 'When a session is closed.',
    matchField: 'reason',
    gate: false,
    cannotStop: true,
    answers: [],
    fields: ['reason'],
  },
  Stop: {
    when: 'When the model has finished its answer, before the turn ends.',
    gate: 'stop',
    block: 'the turn goes on with the reason as a message to the model',
    answers: ['additionalContext'],
    fields: STOPPING,
  },
  SubagentStart: {
    when: 'When a subagent starts, before its first model call.',
    matchField: 'agent_type',
    gate: false,
    cannotStop: true,
    answers: ['additionalContext'],
    fields: ['agent_id', 'agent_type'],
  },
  SubagentStop: {
    when: 'When a subagent has finished its answer, before it ends.',
    matchField: 'agent_type',
    gate: 'stop',
    block: 'the subagent goes on with the reason as a message to it',
    answers: ['additionalContext'],
    fields: [...STOPPING, 'agent_id', 'agent_type?', 'agent_transcript_path'],
  },
  PreCompact: {
    when: 'Before the conversation is summarised.',
    matchField: 'trigger',
    gate: false,
    block: 'the conversation is not summarised now',
    answers: ['additionalContext'],
    fields: ['trigger', 'custom_instructions'],
  },
  PermissionRequest: {
    when: 'When a person would be asked about a tool call, before the question is put.',
    matchField: 'tool_name',
    gate: 'call',
    block: 'the call is denied',
    answers: ['decision'],
    fields: ['tool_name', 'tool_input', 'permission_suggestions?'],
  },
  Setup: {
    when: 'Before the first turn of a session that was started to prepare or maintain its folder: `--init`, `--maintenance`.',
    matchField: 'trigger',
    gate: false,
    answers: ['additionalContext'],
    fields: ['trigger'],
  },
  PostToolBatch: {
    when: 'After all tool calls of one answer, before the next model call.',
    gate: false,
    block: 'the model is told the reason beside the results',
    answers: ['additionalContext'],
    fields: ['tool_calls'],
  },
  PermissionDenied: {
    when: 'After a tool call was denied by a rule, a mode, a hook, or because nobody could be asked.',
    matchField: 'tool_name',
    gate: false,
    cannotStop: true,
    answers: ['retry'],
    fields: [...CALL, 'reason'],
  },
  PostCompact: {
    when: 'After the conversation was summarised.',
    matchField: 'trigger',
    gate: false,
    cannotStop: true,
    answers: [],
    fields: ['trigger', 'compact_summary'],
  },
  UserPromptExpansion: {
    when: 'When a slash command has been turned into a prompt, before that goes to the model.',
    matchField: 'command_name',
    gate: 'prompt',
    block: 'the prompt does not go to the model, and the turn ends with the reason',
    answers: ['additionalContext', 'suppressOriginalPrompt'],
    fields: ['expansion_type', 'command_name', 'command_args', 'command_source?', 'prompt'],
  },
  TaskCreated: {
    when: 'When a task is added to the list of tasks.',
    gate: false,
    block: 'the task is not added, and the model is told the reason',
    cannotStop: true,
    answers: [],
    fields: TASK,
  },
  TaskCompleted: {
    when: 'When a task of the list is marked as completed.',
    gate: false,
    block: 'the task stays open, and the model is told the reason',
    cannotStop: true,
    answers: [],
    fields: TASK,
  },
  ConfigChange: {
    when: 'When a settings file has changed, before the change is taken over.',
    matchField: 'source',
    gate: false,
    block: 'the change is not taken over in this session, unless it is one of managed settings',
    cannotStop: true,
    answers: [],
    fields: ['source', 'file_path?'],
  },
  InstructionsLoaded: {
    when: 'When a file of instructions has been read into the conversation.',
    matchField: 'load_reason',
    gate: false,
    cannotStop: true,
    answers: [],
    fields: ['file_path', 'memory_type', 'load_reason', 'trigger_file_path?', 'parent_file_path?'],
  },
  CwdChanged: {
    when: 'When a command has moved the working directory of the session.',
    gate: false,
    cannotStop: true,
    answers: ['watchPaths'],
    fields: ['old_cwd', 'new_cwd'],
  },
  StopFailure: {
    when: 'When a turn has ended because the model API failed; in the place of Stop.',
    matchField: 'error',
    gate: false,
    cannotStop: true,
    answers: [],
    fields: ['error', 'error_details?', 'last_assistant_message?'],
  },
  TeammateIdle: {
    when: 'When a teammate is about to have nothing to do.',
    later: 'teams',
    gate: false,
    block: 'the teammate goes on with the reason as a message to it',
    cannotStop: true,
    answers: [],
    fields: ['teammate_name', 'team_name'],
  },
  WorktreeCreate: {
    when: 'When a worktree is needed; the hook makes it and answers where it is.',
    gate: false,
    cannotStop: true,
    answers: ['worktreePath'],
    fields: ['name'],
  },
  WorktreeRemove: {
    when: 'When a worktree is no longer needed.',
    gate: false,
    cannotStop: true,
    answers: [],
    fields: ['worktree_path'],
  },
};

/** Their hooks are shown to the consumer whether it asked for hook messages or not. */
export const ALWAYS_SHOWN: ReadonlySet<HookEvent> = new Set<HookEvent>(['SessionStart', 'Setup']);

/** What a command prints there is context for the model even when it is plain text. */
export const TEXT_IS_CONTEXT: ReadonlySet<HookEvent> = new Set<HookEvent>([
  'UserPromptSubmit',
  'SessionStart',
  'PreCompact',
]);

/** Fields that count in `hookSpecificOutput` alone. */
export const OWN_FIELDS = [
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
  'additionalContext',
  'updatedToolOutput',
  'updatedMCPToolOutput',
  'suppressOriginalPrompt',
  'behavior',
  'updatedPermissions',
  'retry',
] as const;

/** Those of them that decide about what a gate guards. */
export const DECIDING_FIELDS: readonly string[] = [
  'permissionDecision',
  'updatedInput',
  'suppressOriginalPrompt',
  'behavior',
  'updatedPermissions',
];

/** Fields of answers that nothing takes up yet. Whoever gives one is told so. */
export const ANSWERS_LATER = ['initialUserMessage', 'reloadSkills', 'sessionTitle', 'watchPaths'] as const;
