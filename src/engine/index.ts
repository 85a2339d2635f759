export * from './core.js';
export { childEnvironment } from './child-env.js';
export { exitCodeOf, type Manners } from './manners.js';
export type { McpCallResult } from './mcp/connection.js';
export type { DefinitionProblem } from './definitions/definition.js';
export { logIn, type LoginOptions, logOut } from './mcp/auth/log-in.js';
export { sessionAuthFor, type SessionAuthOptions } from './mcp/auth/session-auth.js';
export { type AuthStore, createAuthStore } from './mcp/auth/store.js';
export { connectRemote } from './mcp/remote/connect.js';
export { describeOffer } from './mcp/offer.js';
export { showConfig } from './mcp/secrets.js';
export { hasAddress, kindOf } from './mcp/server-kind.js';
export { openToolSession } from './mcp/serve/open.js';
export { createToolServer, RPC_ERRORS, type ToolServer } from './mcp/serve/tool-server.js';
export { createMcpApprovals, hashEntry, type McpApprovals } from './mcp/sources/approvals.js';
export { readFlag as readMcpFlag } from './mcp/sources/documents.js';
export { editServer, listServerPlaces, type ServerPlace } from './mcp/sources/edit-servers.js';
export { findAddressFault, readEntry, type ServerConfig } from './mcp/sources/entry.js';
export { variablesOf } from './mcp/sources/expand.js';
export {
  MCP_SCOPES,
  isEngineOwn,
  type McpScope,
  type ResolvedServer,
  type ResolvedServers,
  resolveMcpServers,
} from './mcp/sources/resolve.js';
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
export { createLocalWorkspace } from './workspace/local.js';
export type { Examination, ExaminedPlugin } from './plugins/examine.js';
export { findBroughtServers } from './agents/brought-servers.js';
export { loadPluginFunctions, type PluginFunctions } from './plugins/open.js';
