/** A session's settings as plain JSON: argv for a child on stdio, an object in-process. */
import type { HookMatcherConfig } from './hook.js';
import type { EffortLevel, PermissionMode, SettingSource, SetupTrigger } from './names.js';

export type ThinkingConfig = { type: 'adaptive' } | { type: 'enabled'; budgetTokens?: number } | { type: 'disabled' };

export type SystemPromptConfig =
  | string
  | string[]
  | { type: 'preset'; preset: 'claude_code' | 'heddle'; append?: string; excludeDynamicSections?: boolean };

export interface SessionConfig {
  cwd: string;
  /** The environment of the session: where keys are looked up, and the base of what children see. */
  env: Record<string, string>;
  /** True when the caller gave `env` itself: children then see exactly that. */
  envIsExact?: boolean;
  /** Children see only what every program needs, and the variables named here. Servers set it; see `child-env.ts`. */
  childEnv?: string[];
  /** Folder of sessions and settings. */
  configDir: string;

  model?: string;
  fallbackModel?: string;
  maxThinkingTokens?: number | null;
  thinking?: ThinkingConfig;
  effort?: EffortLevel;
  betas?: string[];
  /** A shell command that prints the key of the model API. */
  apiKeyHelper?: string;

  continue?: boolean;
  resume?: string;
  resumeSessionAt?: string;
  forkSession?: boolean;
  sessionId?: string;
  persistSession?: boolean;

  tools?: string[] | { type: 'preset'; preset: 'claude_code' | 'heddle' };
  allowedTools?: string[];
  disallowedTools?: string[];
  additionalDirectories?: string[];
  permissionMode?: PermissionMode;
  allowDangerouslySkipPermissions?: boolean;
  /** `stdio` when the host answers `can_use_tool`; otherwise the name of an MCP tool. */
  permissionPromptTool?: string;
  /**
   * What an answer to a question may write to settings files: whatever it says (`any`, when absent), only what was
   * suggested to it, or nothing. Servers start with `none`: whoever answers there sits elsewhere.
   */
  settingsWrites?: 'any' | 'suggested' | 'none';

  systemPrompt?: SystemPromptConfig;
  appendSystemPrompt?: string;
  includePartialMessages?: boolean;
  replayUserMessages?: boolean;
  includeHookEvents?: boolean;
  /** Setup hooks run before the first turn, with this as their trigger. */
  setup?: SetupTrigger;

  maxTurns?: number;
  maxBudgetUsd?: number;
  /** Of the session and its agents. */
  maxSeconds?: number;
  /** How long a question about a call may stay unanswered before the call is denied; for ever when absent. */
  maxQuestionSeconds?: number;
  /** Answers of the model, in the session and its agents. */
  maxTotalTurns?: number;
  /** How often a failed model call is tried again (10 when absent). */
  maxRetries?: number;

  /** Settings beside those of files: JSON, or the path of a file. */
  settings?: string;
  settingSources?: SettingSource[];
  /** Someone vouches for the project, so that all of its settings count. Absent: what the record of trust says. */
  trusted?: boolean;
  /** Where policy of administrators is; the folders of the platform when absent. */
  managedDir?: string;
  /** `none`: nobody is asked; what would be asked is denied. */
  permissionPrompts?: 'none';

  /** True, or the topics to log. */
  debug?: boolean | string;
  debugFile?: string;

  // Carried now, taken up as the capabilities arrive.
  title?: string;
  resumeDropsTurn?: string;
  agent?: string;
  agents?: Record<string, unknown>;
  /** Each one JSON, or the path of a file of JSON. */
  mcpConfig?: string[];
  strictMcpConfig?: boolean;
  jsonSchema?: Record<string, unknown>;
  pluginDirs?: string[];
  managedSettings?: string;
  projectConfigRoot?: string;
  taskBudget?: number;
  disableSlashCommands?: boolean;
  /** The skills that the model may call by itself; `all`, as when absent, limits nothing. */
  skills?: string[] | 'all';
  forwardSubagentText?: boolean;
  /** Instead of our words on how to plan, in plan mode. */
  planModeInstructions?: string;
  enableFileCheckpointing?: boolean;
  /** Hook callbacks of the host, by event. */
  hooks?: Record<string, HookMatcherConfig[]>;
  sandbox?: Record<string, unknown>;

  /** Which client speaks to us: decides the few manners in which versions differ. */
  client?: { entrypoint: string; version?: string };
}
