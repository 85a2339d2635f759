import type {
  AgentDefinition,
  Clock,
  EffortLevel,
  Logger,
  McpHttpServerConfig,
  McpSSEServerConfig,
  McpStdioServerConfig,
  ModelProvider,
  PermissionMode,
  PermissionResult,
  PermissionUpdate,
  SandboxSettings,
  SessionConfig,
  PublicSessionStore,
  SessionStore,
  SessionStoreFlush,
  Settings,
  SettingSource,
  SystemPromptConfig,
  ThinkingConfig,
  Tool,
  Workspace,
} from '../protocol/index.js';
import { checkConfig, HeddleError, isOn, parseArgv, type SetupTrigger } from '../protocol/plain.js';
import type { SpawnedProcess, SpawnOptions, Transport } from '../wire/index.js';
import { type Ambient, configDirOf, definedOf } from './ambient.js';
import type { Hooks } from './hook-bridge.js';
import type { OutputSchema } from './tool-schema.js';
import type { AnyToolDefinition, McpSdkServerConfigWithInstance, McpServerSource } from './tool-definition.js';

export interface CanUseToolOptions {
  /** Aborts when the answer is no longer wanted. */
  signal: AbortSignal;
  suggestions?: PermissionUpdate[];
  blockedPath?: string;
  decisionReason?: string;
  toolUseID: string;
  /** The agent that wants it, and the call that started that agent; absent for the main thread. */
  agentID?: string;
  parentToolUseID?: string;
}

/**
 * Asked before a call that no rule decides. May throw: the call is then denied. `input` is a copy: only an
 * `updatedInput` that is returned changes what runs.
 */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  options: CanUseToolOptions,
) => Promise<PermissionResult>;

/** What an MCP server wants to know: a form with a JSON Schema of flat fields, or a page to visit. */
export interface ElicitationRequest {
  serverName: string;
  message: string;
  mode?: 'form' | 'url';
  url?: string;
  elicitationId?: string;
  requestedSchema?: Record<string, unknown>;
}

export interface ElicitationResult {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}

export type OnElicitation = (
  request: ElicitationRequest,
  options: { signal: AbortSignal },
) => Promise<ElicitationResult>;

export type McpServerConfig =
  | McpStdioServerConfig
  | McpSSEServerConfig
  | McpHttpServerConfig
  | McpSdkServerConfigWithInstance<McpServerSource>;

/** Where the engine runs, when it is not in this process. */
export type Carrier =
  | 'in-process'
  /** The CLI of this package, or the one that `pathToClaudeCodeExecutable` names. */
  | 'subprocess'
  | { url: string; token?: string }
  | { transport: Transport };

/** What other systems of this kind do not have. Provider, store, workspace and tools need an engine in this process. */
export interface HeddleOptions {
  carrier?: Carrier;
  provider?: ModelProvider;
  store?: SessionStore;
  workspace?: Workspace;
  /** Tools of the app itself, as plain objects or made with `tool()`; they need no MCP server. */
  tools?: readonly (Tool | AnyToolDefinition)[];
  clock?: Clock;
  logger?: Logger;
  /** Whether all settings of the project count. Absent: when someone has said `heddle trust` there. */
  trusted?: boolean;
  /** Setup hooks run before the first turn, with this as their trigger. */
  setup?: SetupTrigger;
}

export interface Options {
  abortController?: AbortController;
  additionalDirectories?: string[];
  agent?: string;
  agents?: Record<string, AgentDefinition>;
  allowDangerouslySkipPermissions?: boolean;
  allowedTools?: string[];
  betas?: string[];
  canUseTool?: CanUseTool;
  /** Answers what MCP servers want to know of the person; without it they are told that nobody wants to. */
  onElicitation?: OnElicitation;
  continue?: boolean;
  cwd?: string;
  debug?: boolean;
  debugFile?: string;
  disallowedTools?: string[];
  effort?: EffortLevel;
  enableFileCheckpointing?: boolean;
  /** Replaces the environment. */
  env?: Record<string, string | undefined>;
  executable?: 'bun' | 'deno' | 'node';
  executableArgs?: string[];
  /** Further flags: `{ 'max-turns': '3', 'replay-user-messages': null }`. */
  extraArgs?: Record<string, string | null>;
  fallbackModel?: string;
  forkSession?: boolean;
  /** Also give what agents say, beside what they do. */
  forwardSubagentText?: boolean;
  hooks?: Hooks;
  /** Also give `system/hook_started`, `hook_progress` and `hook_response` for hooks of settings. */
  includeHookEvents?: boolean;
  includePartialMessages?: boolean;
  /** How long each call of `sessionStore` may take; a minute when absent. */
  loadTimeoutMs?: number;
  /** Of the query and all agents that it starts, like the other budgets. */
  maxBudgetUsd?: number;
  /** Seconds that the query may take. */
  maxSeconds?: number;
  /** Answers of models that the query may use, those of its agents included; `maxTurns` counts its own, for each prompt. */
  maxTotalTurns?: number;
  /** Tokens that the query may use. */
  taskBudget?: number | { total: number };
  maxThinkingTokens?: number;
  maxTurns?: number;
  mcpServers?: Record<string, McpServerConfig>;
  model?: string;
  /** The answer must match this JSON Schema, or zod schema; it is `structured_output` of the result. */
  outputFormat?: { type: 'json_schema'; schema: OutputSchema };
  pathToClaudeCodeExecutable?: string;
  permissionMode?: PermissionMode;
  permissionPromptToolName?: string;
  persistSession?: boolean;
  plugins?: { type: 'local'; path: string }[];
  promptSuggestions?: boolean;
  resume?: string;
  resumeSessionAt?: string;
  sandbox?: SandboxSettings;
  sessionId?: string;
  /** Where sessions are kept: a store of ours, or one of the public shape, which gets a copy. Needs an engine in this process. */
  sessionStore?: SessionStore | PublicSessionStore;
  /** When such a copy is passed on: after a short while (`batched`), or each entry at once. */
  sessionStoreFlush?: SessionStoreFlush;
  settingSources?: SettingSource[];
  /** Settings beside those of files: an object, JSON, or the path of a file. */
  settings?: string | Settings;
  /** The skills that the model may call by itself, or `all`; they are not asked about then, as with `allowedTools: ['Skill']`. */
  skills?: string[] | 'all';
  spawnClaudeCodeProcess?: (options: SpawnOptions) => SpawnedProcess;
  stderr?: (data: string) => void;
  strictMcpConfig?: boolean;
  systemPrompt?: SystemPromptConfig;
  thinking?: ThinkingConfig;
  tools?: string[] | { type: 'preset'; preset: 'claude_code' };
  heddle?: HeddleOptions;
}

type PlainOption = keyof Options & keyof SessionConfig;

/** How each option travels: under its own name in the configuration, or by other ways (`false`). */
const OPTIONS: { [K in keyof Required<Options>]: K extends PlainOption ? boolean : false } = {
  abortController: false,
  additionalDirectories: true,
  agent: true,
  agents: true,
  allowDangerouslySkipPermissions: true,
  allowedTools: true,
  betas: true,
  canUseTool: false,
  onElicitation: false,
  continue: true,
  cwd: false,
  debug: true,
  debugFile: true,
  disallowedTools: true,
  effort: true,
  enableFileCheckpointing: true,
  env: false,
  executable: false,
  executableArgs: false,
  extraArgs: false,
  fallbackModel: true,
  forkSession: true,
  forwardSubagentText: true,
  hooks: false,
  includeHookEvents: true,
  includePartialMessages: true,
  loadTimeoutMs: false,
  maxBudgetUsd: true,
  maxSeconds: true,
  maxTotalTurns: true,
  taskBudget: false,
  maxThinkingTokens: true,
  maxTurns: true,
  mcpServers: false,
  model: true,
  outputFormat: false,
  pathToClaudeCodeExecutable: false,
  permissionMode: true,
  permissionPromptToolName: false,
  persistSession: true,
  plugins: false,
  promptSuggestions: false,
  resume: true,
  resumeSessionAt: true,
  sandbox: true,
  sessionId: true,
  sessionStore: false,
  sessionStoreFlush: false,
  settingSources: true,
  settings: false,
  skills: true,
  spawnClaudeCodeProcess: false,
  stderr: false,
  strictMcpConfig: true,
  systemPrompt: false,
  thinking: true,
  tools: true,
  heddle: false,
};

/** The part of the options that is plain data. Throws `invalid_config` for what nobody knows or what excludes itself. */
export function toSessionConfig(options: Options, ambient: Ambient): SessionConfig {
  checkOptions(options);
  const env = options.env === undefined ? ambient.env : definedOf(options.env);
  const { mcpServers = {}, plugins = [], permissionPromptToolName, taskBudget } = options;
  const external = Object.entries(mcpServers).filter(([, server]) => server.type !== 'sdk');
  const { settings, heddle: { trusted, setup } = {} } = options;
  const config: SessionConfig = {
    cwd: options.cwd ?? ambient.cwd,
    env,
    envIsExact: options.env !== undefined,
    configDir: configDirOf(env),
    ...systemPromptOf(options.systemPrompt),
    settingSources: [],
    ...(settings !== undefined && { settings: typeof settings === 'string' ? settings : JSON.stringify(settings) }),
    ...(trusted !== undefined && { trusted }),
    ...(setup !== undefined && { setup }),
    ...(options.canUseTool && { permissionPromptTool: 'stdio' }),
    ...(permissionPromptToolName && { permissionPromptTool: permissionPromptToolName }),
    ...(external.length > 0 && { mcpConfig: [JSON.stringify({ mcpServers: Object.fromEntries(external) })] }),
    ...(plugins.length > 0 && { pluginDirs: plugins.map(({ path }) => path) }),
    ...(taskBudget !== undefined && { taskBudget: typeof taskBudget === 'number' ? taskBudget : taskBudget.total }),
    ...(env.CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING === 'true' && { enableFileCheckpointing: true }),
    ...(/^\d+$/.test(env.CLAUDE_CODE_MAX_RETRIES ?? '') && { maxRetries: Number(env.CLAUDE_CODE_MAX_RETRIES) }),
  };
  for (const [name, isPlain] of Object.entries(OPTIONS)) {
    const value = options[name as keyof Options];
    if (isPlain && value !== undefined) Object.assign(config, { [name]: value });
  }
  checkConfig(config);
  if (config.skills !== undefined && config.skills.length > 0) {
    config.allowedTools = [...new Set([...(config.allowedTools ?? []), 'Skill'])];
  }
  // A workspace of one's own is not this machine.
  if (options.heddle?.workspace === undefined) refuseRoot(config, ambient);
  return config;
}

/** Whoever may do anything must say once more that nothing can be broken. */
export function refuseRoot(
  { permissionMode, allowDangerouslySkipPermissions, env }: SessionConfig,
  { isRoot }: Ambient,
): void {
  const bypasses = permissionMode === 'bypassPermissions' || allowDangerouslySkipPermissions === true;
  if (!bypasses || !isRoot || isOn(env.IS_SANDBOX)) return;
  throw invalid(
    'bypassPermissions is refused for root.',
    'Set IS_SANDBOX=1 in env where nothing can be broken, or run as another user.',
  );
}

/**
 * What is added to a preset travels by itself, as `initialize` has it. Saying nothing means no prompt, beside which a style
 * counts; who gives an empty one wants nothing else.
 */
function systemPromptOf(prompt?: SystemPromptConfig): Pick<SessionConfig, 'systemPrompt' | 'appendSystemPrompt'> {
  if (prompt === undefined) return { systemPrompt: '' };
  if (prompt === '') return { systemPrompt: [''] };
  if (typeof prompt === 'string' || Array.isArray(prompt) || prompt.append === undefined)
    return { systemPrompt: prompt };
  const { append, ...preset } = prompt;
  if (typeof append !== 'string')
    throw invalid('systemPrompt.append must be a string.', 'Correct it, or leave it out.');
  return { systemPrompt: preset, appendSystemPrompt: append };
}

const CALLBACKS = [
  'canUseTool',
  'onElicitation',
  'stderr',
  'spawnClaudeCodeProcess',
] as const satisfies readonly (keyof Options)[];

function checkOptions(options: Options): void {
  if (typeof options !== 'object' || options === null) throw invalid('The options must be an object.', 'See Options.');
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(OPTIONS, name)) {
      throw invalid(`There is no option ${name}.`, `Known options: ${Object.keys(OPTIONS).join(', ')}.`);
    }
  }
  for (const name of CALLBACKS) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== 'function')
      throw invalid(`${name} must be a function.`, 'Give a function.');
  }
  const { abortController } = options;
  if (abortController !== undefined && !(abortController.signal instanceof AbortSignal)) {
    throw invalid('abortController must be an AbortController.', 'Give new AbortController().');
  }
  if (options.canUseTool && options.permissionPromptToolName) {
    throw invalid('canUseTool and permissionPromptToolName exclude each other.', 'Choose one.');
  }
  if (options.permissionMode === 'bypassPermissions' && options.allowDangerouslySkipPermissions !== true) {
    throw invalid('bypassPermissions needs allowDangerouslySkipPermissions.', 'Set it to true if you mean it.');
  }
  if (options.continue && options.resume) throw invalid('continue and resume exclude each other.', 'Choose one.');
  if (options.promptSuggestions) {
    throw new HeddleError('not_supported', 'This version does not suggest prompts.', {
      hint: 'Leave promptSuggestions out.',
    });
  }
}

/** `extraArgs` for an engine in this process. What they say about the command line program itself has no meaning here. */
export const extraConfig = (extraArgs: Options['extraArgs']): Partial<SessionConfig> =>
  parseArgv(toFlags(extraArgs)).config;

/** `extraArgs` as flags. */
export const toFlags = (extraArgs: Options['extraArgs'] = {}): string[] =>
  Object.entries(extraArgs).map(([name, value]) => (value === null ? `--${name}` : `--${name}=${value}`));

const invalid = (message: string, hint: string): HeddleError => new HeddleError('invalid_config', message, { hint });
