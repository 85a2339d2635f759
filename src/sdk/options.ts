import type {
  Clock,
  EffortLevel,
  Logger,
  ModelProvider,
  PermissionMode,
  PermissionResult,
  PermissionUpdate,
  SessionConfig,
  SessionStore,
  SystemPromptConfig,
  ThinkingConfig,
  Tool,
  Workspace,
} from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { type Ambient, configDirOf, definedOf } from './ambient.js';

export interface CanUseToolOptions {
  /** Aborts when the answer is no longer wanted. */
  signal: AbortSignal;
  suggestions?: PermissionUpdate[];
  blockedPath?: string;
  decisionReason?: string;
  toolUseID: string;
  agentID?: string;
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

/** Parts that only an engine in this process can be given. */
export interface HeddleParts {
  provider?: ModelProvider;
  store?: SessionStore;
  workspace?: Workspace;
  tools?: readonly Tool[];
  clock?: Clock;
  logger?: Logger;
}

export interface Options {
  abortController?: AbortController;
  cwd?: string;
  /** Replaces the environment. */
  env?: Record<string, string | undefined>;
  model?: string;
  fallbackModel?: string;
  maxThinkingTokens?: number;
  thinking?: ThinkingConfig;
  effort?: EffortLevel;
  betas?: string[];
  continue?: boolean;
  resume?: string;
  sessionId?: string;
  persistSession?: boolean;
  tools?: string[] | { type: 'preset'; preset: 'claude_code' };
  allowedTools?: string[];
  disallowedTools?: string[];
  additionalDirectories?: string[];
  permissionMode?: PermissionMode;
  allowDangerouslySkipPermissions?: boolean;
  canUseTool?: CanUseTool;
  systemPrompt?: SystemPromptConfig;
  includePartialMessages?: boolean;
  maxTurns?: number;
  maxBudgetUsd?: number;
  stderr?: (data: string) => void;
  heddle?: HeddleParts;
}

/** Options that go into the configuration under their own name. */
const PLAIN = [
  'model',
  'fallbackModel',
  'maxThinkingTokens',
  'thinking',
  'effort',
  'betas',
  'continue',
  'resume',
  'sessionId',
  'persistSession',
  'tools',
  'allowedTools',
  'disallowedTools',
  'additionalDirectories',
  'permissionMode',
  'allowDangerouslySkipPermissions',
  'includePartialMessages',
  'maxTurns',
  'maxBudgetUsd',
] as const satisfies readonly (keyof Options & keyof SessionConfig)[];

const OTHERS = ['abortController', 'cwd', 'env', 'canUseTool', 'systemPrompt', 'stderr', 'heddle'] as const;

const KNOWN = new Set<string>([...PLAIN, ...OTHERS]);

/** The part of the options that is plain data. An option that cannot act is an error, never ignored. */
export function toSessionConfig(options: Options, ambient: Ambient): SessionConfig {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !KNOWN.has(name)) {
      throw new HeddleError('not_supported', `The option ${name} is not supported in this version.`, {
        hint: `Leave it out. Supported: ${[...KNOWN].toSorted().join(', ')}.`,
      });
    }
  }
  const env = options.env === undefined ? ambient.env : definedOf(options.env);
  const config: SessionConfig = {
    cwd: options.cwd ?? ambient.cwd,
    env,
    envIsExact: options.env !== undefined,
    configDir: configDirOf(env),
    systemPrompt: options.systemPrompt ?? '',
    ...(options.canUseTool && { permissionPromptTool: 'stdio' }),
  };
  for (const name of PLAIN) if (options[name] !== undefined) Object.assign(config, { [name]: options[name] });
  return config;
}
