export * from './core.js';
export { exitCodeOf, type Manners } from './manners.js';
export type { McpCallResult } from './mcp/connection.js';
export { type ApiProviderOptions, createApiProvider } from './model/api.js';
export type { CassetteSink } from './model/cassette.js';
export { type Catalog, type CatalogTable, createCatalog, type ModelFacts, type Price } from './model/catalog.js';
export { DEFAULT_MASKS, folderMask, type Mask, maskText } from './model/mask.js';
export { createRecorder, type RecorderOptions } from './model/recording.js';
export { createReplay, type Replay, type ReplayOptions } from './model/replay.js';
export {
  createStepIds,
  pauseIndex,
  readStep,
  type ScriptAnswer,
  type ScriptStep,
  stepEvents,
} from './model/script-step.js';
export { createScriptedModel, type ScriptedModel, type ScriptedModelOptions } from './model/scripted.js';
export { type Action, nextAction } from './next-action.js';
export { judgeCase } from './permissions/judge-case.js';
export type { CaseVerdict, PermissionCase } from './permissions/check.js';
export type { Ask, Question } from './questions.js';
export { examineSandbox, type SandboxExamination } from './sandbox/examine.js';
export type { Attachment, Session } from './session.js';
export { createMemoryStore } from './stores/memory-store.js';
export { type PatienceOptions, withPatience } from './stores/patience.js';
export { createPostgresStore, type PostgresClient, type PostgresStore } from './stores/postgres-store.js';
export { createSqliteStore, type SqliteStore } from './stores/sqlite-store.js';
export type {
  AnsweredApproval,
  ApprovalAnswer,
  ExportedSession,
  ExportFormat,
  ExportOptions,
  ForkOptions,
  ImportOptions,
  ListOptions,
  MessagesOptions,
  PendingApproval,
  SearchOptions,
  SearchResult,
  SessionInfo,
  SessionMessage,
  SessionParts,
} from './session-functions/functions.js';
export type { EditOptions, EditOutcome } from './settings/edit.js';
export { findProjectRoot, type SettingsFiles, settingsFiles, type SettingsPlaces } from './settings/files.js';
export {
  listRules,
  type LoadedSettings,
  type LoadOptions,
  loadSettings,
} from './settings/load.js';
export { describeProblem, refuseBrokenSettings, type SettingsProblem } from './settings/problem.js';
export { describeInert, type InertKey } from './settings/project-keys.js';
export { findRuleFault } from './settings/rule-text.js';
export { applyRuleUpdates, editOptionsFor, removeRule } from './settings/rule-updates.js';
export { createTrust, type Trust } from './settings/trust.js';
export { FOLLOWED_VERSION, HEDDLE_VERSION } from './version.js';
export { makeFolders } from './workspace/folders.js';
