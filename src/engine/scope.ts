import type {
  Clock,
  Logger,
  ModelProvider,
  PermissionDenial,
  PermissionMode,
  ReadLedger,
  ResultUsage,
  SessionConfig,
  Workspace,
} from '../protocol/index.js';
import type { CallAside } from './aside-call.js';
import type { Checkpoints } from './checkpoints/checkpoints.js';
import type { Guard } from './guard.js';
import type { SessionHooks } from './hooks/session-hooks.js';
import type { Manners } from './manners.js';
import type { McpServers } from './mcp/servers.js';
import type { Catalog, ResolvedModel } from './model/catalog.js';
import type { Questions } from './questions.js';
import type { Recorder } from './recorder.js';
import type { Sandbox } from './sandbox/sandbox.js';
import type { Keeper } from './sessions/kept-output.js';
import type { Spending } from './spending.js';
import type { Tasks } from './tasks.js';
import type { ToolSet } from './tools/registry.js';

/** What may change while a session lives. */
export interface SessionState {
  model: ResolvedModel;
  /** Where the key for that model came from. */
  keySource: string;
  mode: PermissionMode;
  /** Tokens to think with; 0: not at all; null or undefined: as configured. */
  maxThinkingTokens: number | null | undefined;
  /** Where relative paths start; Bash may move it. */
  cwd: string;
  /** Folders that tools may use without asking, links resolved, the working directory first. */
  roots: string[];
  /** Fixed for a turn: a change would throw the prompt cache away. */
  tools: ToolSet;
}

/** What a turn, a step and a tool call need of their session. */
export interface SessionScope {
  readonly id: string;
  readonly config: SessionConfig;
  readonly state: SessionState;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalog: Catalog;
  readonly workspace: Workspace;
  readonly recorder: Recorder;
  readonly questions: Questions;
  readonly mcp: McpServers;
  readonly ledger: ReadLedger;
  readonly spending: Spending;
  readonly manners: Manners;
  /** The environment of child processes. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** Who answers for a model. Throws `no_provider`. */
  readonly providerFor: (model: string) => Promise<ModelProvider>;
  /** Keeps what is too long to show. */
  readonly kept: Keeper;
  readonly tasks: Tasks;
  readonly hooks: SessionHooks;
  /** Settings, rules and trust. */
  readonly guard: Guard;
  /** Where commands run, if settings ask for one. */
  readonly sandbox: Sandbox | undefined;
  /** Keeps what files were before the session changed them, where that is wanted. */
  readonly checkpoints: Checkpoints | undefined;
  /** Asks a model beside the conversation. */
  readonly callAside: CallAside;
}

/** What one turn adds up, from its prompt to its result. */
export interface TurnTally {
  readonly startedAt: number;
  /** Model calls are made with this one: a fallback lasts for the rest of the turn. */
  model: ResolvedModel;
  /** Models that were given up in this turn. */
  readonly failed: Set<string>;
  /** The thinking that was in force at the start; switching it in the middle would break a tool loop. */
  readonly maxThinkingTokens: number | null | undefined;
  usage: ResultUsage;
  apiMs: number;
  /** Rounds in which something went back to the model. */
  rounds: number;
  ttftMs: number | undefined;
  stopReason: string | null;
  /** The text of the last answer; parts of one that was cut at the output limit are joined. */
  text: { joined: string; last: string };
  denials: PermissionDenial[];
  /** How often hooks have kept this turn from ending. */
  stopsBlocked: number;
}
