import type {
  Clock,
  Logger,
  ModelProvider,
  PermissionDenial,
  PermissionMode,
  RateLimitInfo,
  ResultUsage,
  SessionConfig,
  Workspace,
  Tool,
} from '../protocol/index.js';
import type { AgentIdentity } from './agents/identity.js';
import type { SessionAgents } from './agents/session-agents.js';
import type { CallAside } from './aside-call.js';
import type { Budget } from './budget/budget.js';
import type { Checkpoints } from './checkpoints/checkpoints.js';
import type { Commands } from './commands/commands.js';
import type { SessionDefinitions } from './definitions/open.js';
import type { Agent, OutputStyle } from './definitions/definition.js';
import type { Guard } from './guard.js';
import type { SessionHooks } from './hooks/session-hooks.js';
import type { Manners } from './manners.js';
import type { McpServers } from './mcp/servers.js';
import type { SessionMemory } from './memory/session-memory.js';
import type { ToolApprovals } from './mcp/tool-approvals.js';
import type { Catalog, ResolvedModel } from './model/catalog.js';
import type { Form, Questions } from './questions.js';
import type { Recorder } from './recorder.js';
import type { Sandbox } from './sandbox/sandbox.js';
import type { Keeper } from './sessions/kept-output.js';
import type { Spending } from './spending.js';
import type { Tasks } from './tasks.js';
import type { SessionLedger } from './tools/ledger.js';
import type { ToolParts } from './tools/parts.js';
import type { ToolSet } from './tools/registry.js';

/** What may change while a session lives. */
export interface SessionState {
  model: ResolvedModel;
  /** Where the key for that model came from. */
  keySource: string;
  mode: PermissionMode;
  /** What would be asked is denied, in whatever mode. */
  readonly asksNobody?: boolean;
  /** The mode to go back to from plan mode; absent: the default one. */
  modeBefore?: PermissionMode | undefined;
  /** Where the plan is kept, once there was a reason to have one. */
  planFile?: string;
  /** The plan of another session that this one begins from. */
  planSource?: string;
  /** The model was told that plan mode is on, and not yet that it is off. */
  planTold?: boolean;
  /** Tokens to think with; 0: not at all; null or undefined: as configured. */
  maxThinkingTokens: number | null | undefined;
  /** Where relative paths start; Bash may move it. */
  cwd: string;
  /** Folders that tools may use without asking, links resolved, the working directory first. */
  roots: string[];
  /** Fixed for a turn: a change would throw the prompt cache away. */
  tools: ToolSet;
  /** Rules that allow until the turn is over: those of the command or the skills that were called in it. */
  turnRules?: readonly string[] | undefined;
  /** What the model API last said of the rate limit, as it was told. */
  rateLimit?: RateLimitInfo;
  /** Aborts when the turn that runs now is to end. */
  turn?: AbortSignal | undefined;
}

/** What a turn, a step and a tool call need of their session. */
export interface SessionScope {
  readonly id: string;
  readonly config: SessionConfig;
  readonly state: SessionState;
  readonly clock: Clock;
  /** When this process opened it, in monotonic time. */
  readonly openedAt?: number;
  readonly logger: Logger;
  readonly catalog: Catalog;
  readonly workspace: Workspace;
  readonly recorder: Recorder;
  readonly questions: Questions;
  /** What MCP servers want to know of the person. */
  readonly forms: Questions<Form>;
  readonly commands: Commands;
  /** What files, plugins and the caller define. */
  readonly definitions: SessionDefinitions;
  readonly mcp: McpServers;
  /** Reads the plugins anew, with all that they bring. Throws when what is configured beside them cannot be read. */
  readonly reloadPlugins?: () => Promise<void>;
  readonly memory: SessionMemory;
  /** What the model is told before the first prompt, when the main thread is an agent. */
  readonly opening?: readonly string[];
  /** Lists of tools that name uses of some, of this agent and of those that started it: calls keep to all of them. */
  readonly within?: readonly { agent: string; tools: readonly string[] }[];
  /** What the main thread runs as, when it is an agent. */
  readonly mainAgent?: Pick<Agent, 'name' | 'tools' | 'skills' | 'origin'>;
  /** How answers are to sound, when not as usual. */
  readonly style?: OutputStyle;
  /** What tools of servers were when they were allowed. */
  readonly toolApprovals: () => Promise<ToolApprovals>;
  readonly ledger: SessionLedger;
  readonly spending: Spending;
  /** What this session may use, with all agents that it starts. */
  readonly budget: Budget;
  /** Answers of an agent that count as turns of now: it had given them before. */
  readonly turnsTaken?: number;
  readonly manners: Manners;
  /** The environment of child processes. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** Who answers for a model. Throws `no_provider`. */
  readonly providerFor: (model: string) => Promise<ModelProvider>;
  /** Keeps what is too long to show. */
  readonly kept: Keeper;
  readonly tasks: Tasks;
  /** Whose session it is, when it is that of a subagent. */
  readonly agent?: AgentIdentity;
  /** That of the main thread, when it is that of a subagent. */
  readonly main?: SessionScope;
  readonly agents: SessionAgents;
  /** Calls that were denied since the last result. One list for the session and all of its agents. */
  readonly denials: PermissionDenial[];
  /** The tools of a session or agent, with what is its own. */
  readonly makeTools: (own: Pick<ToolParts, 'lists' | 'callAside' | 'agents' | 'skills'>) => Tool[];
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
  /** What this turn may use; a part of the budget of its session. */
  readonly budget: Budget;
  usage: ResultUsage;
  apiMs: number;
  /** Rounds in which something went back to the model. */
  rounds: number;
  ttftMs: number | undefined;
  stopReason: string | null;
  /** The text of the last answer; parts of one that was cut at the output limit are joined. */
  text: { joined: string; last: string };
  /** How often hooks have kept this turn from ending. */
  stopsBlocked: number;
}
