/** Closed lists of names that are needed without building a schema. */

export const PERMISSION_MODES = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'delegate', 'dontAsk'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** The thirteen events of the first protocol come first; later ones follow. */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'Notification',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'PreCompact',
  'PermissionRequest',
  'Setup',
  'PostToolBatch',
  'PermissionDenied',
  'PostCompact',
  'UserPromptExpansion',
  'TaskCreated',
  'TaskCompleted',
  'ConfigChange',
  'InstructionsLoaded',
  'CwdChanged',
  'StopFailure',
  'TeammateIdle',
  'WorktreeCreate',
  'WorktreeRemove',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** What a session was started for, beside answering: the `trigger` of Setup hooks, and the flag that says so. */
export const SETUP_TRIGGERS = ['init', 'maintenance'] as const;
export type SetupTrigger = (typeof SETUP_TRIGGERS)[number];

export const EXIT_REASONS = ['clear', 'logout', 'prompt_input_exit', 'other', 'bypass_permissions_disabled'] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];

/** Old and new names of the same tool; rules, filters and calls accept both. */
export const TOOL_ALIASES: Readonly<Record<string, string>> = {
  FileRead: 'Read',
  FileWrite: 'Write',
  FileEdit: 'Edit',
  Agent: 'Task',
  BashOutput: 'TaskOutput',
  KillShell: 'TaskStop',
  KillBash: 'TaskStop',
  ListMcpResources: 'ListMcpResourcesTool',
  ReadMcpResource: 'ReadMcpResourceTool',
};

export const canonicalToolName = (name: string): string =>
  Object.hasOwn(TOOL_ALIASES, name) ? (TOOL_ALIASES[name] ?? name) : name;

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Sessions are files: nothing but a UUID may name one. */
export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/** How a variable of the environment says yes. */
export const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';

/** Given in turn to agents that name none. */
export const AGENT_COLORS = ['red', 'blue', 'green', 'yellow', 'purple', 'orange', 'pink', 'cyan'] as const;
export type AgentColor = (typeof AGENT_COLORS)[number];

export const EFFORT_LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type EffortLevel = (typeof EFFORT_LEVELS)[number];

export const SETTING_SOURCES = ['user', 'project', 'local'] as const;
export type SettingSource = (typeof SETTING_SOURCES)[number];
