import type {
  Clock,
  Logger,
  ModelProvider,
  PermissionDenial,
  PermissionMode,
  PermissionUpdate,
  ReadLedger,
  ResultUsage,
  SessionConfig,
  Workspace,
} from '../protocol/index.js';
import type { Manners } from './manners.js';
import type { Catalog, ResolvedModel } from './model/catalog.js';
import type { Questions } from './questions.js';
import type { Recorder } from './recorder.js';
import type { Spending } from './spending.js';
import type { ToolSet } from './tools/registry.js';

/** What may change while a session lives. */
export interface SessionState {
  model: ResolvedModel;
  mode: PermissionMode;
  /** Tokens to think with; null: not at all; undefined: as configured. */
  maxThinkingTokens: number | null | undefined;
  /** Where relative paths start; Bash may move it. */
  cwd: string;
  /** Folders that tools may use without asking, links resolved, the working directory first. */
  roots: string[];
  /** Tools and calls that someone allowed for this session. */
  allowed: string[];
}

/** What a turn, a step and a tool call need of their session. The Session is one of these. */
export interface SessionScope {
  readonly id: string;
  readonly config: SessionConfig;
  readonly state: SessionState;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly provider: ModelProvider;
  readonly catalog: Catalog;
  readonly workspace: Workspace;
  readonly tools: ToolSet;
  readonly recorder: Recorder;
  readonly questions: Questions;
  readonly ledger: ReadLedger;
  readonly spending: Spending;
  readonly manners: Manners;
  /** The environment of child processes. */
  readonly childEnv: Readonly<Record<string, string>>;
  applyPermissions(updates: readonly PermissionUpdate[]): void;
  setPermissionMode(mode: PermissionMode): void;
  /** Keeps text beside the log; gives the path of the file. */
  keep(name: string, text: string): Promise<string>;
}

/** What one turn adds up, from its prompt to its result. */
export interface TurnTally {
  readonly startedAt: number;
  /** Model calls are made with this one: a fallback lasts for the rest of the turn. */
  model: ResolvedModel;
  /** The thinking that was in force at the start; switching it in the middle would break a tool loop. */
  readonly maxThinkingTokens: number | null | undefined;
  usage: ResultUsage;
  apiMs: number;
  /** Rounds in which something went back to the model. */
  rounds: number;
  ttftMs: number | undefined;
  stopReason: string | null;
  lastText: string;
  denials: PermissionDenial[];
}
