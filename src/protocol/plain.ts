/** The part of the protocol that needs no schema library. Whoever runs before the first frame imports values from here. */
export { checkConfig, isUsable } from './check-config.js';
export { systemClock } from './clock.js';
export {
  AbortError,
  ERROR_CODES,
  HeddleError,
  toHeddleError,
  type ErrorCode,
  type HeddleErrorFacts,
} from './error.js';
export {
  canonicalToolName,
  AGENT_COLORS,
  type AgentColor,
  EFFORT_LEVELS,
  EXIT_REASONS,
  HOOK_EVENTS,
  isOn,
  isSessionId,
  PERMISSION_MODES,
  SETTING_SOURCES,
  SETUP_TRIGGERS,
  TOOL_ALIASES,
  type EffortLevel,
  type ExitReason,
  type HookEvent,
  type PermissionMode,
  type SettingSource,
  type SetupTrigger,
} from './names.js';
export { describeInputIssues, inputError, type InputIssue, PROBLEM_TEXTS } from './problem-text.js';
export { TOOL_SCHEMAS } from './tool-schemas.generated.js';
export { parseArgv, toArgv, type ParsedArgv } from './argv.js';
export {
  FLAG_GROUPS,
  FLAGS,
  INPUT_FORMATS,
  OUTPUT_FORMATS,
  type CliOptions,
  type FlagGroup,
  type FlagKind,
  type FlagRow,
  type InputFormat,
  type OutputFormat,
} from './flags.js';
export { isControlCancelRequest, isControlFrame, isControlRequest, isControlResponse, isKeepAlive } from './frame.js';
export { UNSEEN } from './unseen.js';
