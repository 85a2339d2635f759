/** What a session sees of its agents. Types only. */
import type { SessionStore, TaskInput, UserContentBlock } from '../../protocol/index.js';
import type { Account } from '../budget/account.js';
import type { Agent } from '../definitions/definition.js';
import type { ServerBounds } from '../mcp/bounds.js';
import type { AgentIdentity } from './identity.js';

export interface AgentUsage {
  totalTokens: number;
  toolUses: number;
  durationMs: number;
}

/** How an agent ended. */
export interface AgentOutcome extends AgentUsage {
  /** `completed`: the text is its answer. Else it says what went wrong, after what the agent had said. */
  status: 'completed' | 'failed' | 'stopped';
  text: string;
  /** What whoever started it must know beside that: where its work is. */
  note?: string | undefined;
  /** Someone who denied a call of it wants the turn to end: it ends for all who wait for this agent, too. */
  interrupt?: boolean;
}

/** An agent that has all it needs and has not begun. */
export interface ReadyAgent {
  readonly identity: AgentIdentity;
  /** It works while whoever started it goes on. */
  readonly isBackground: boolean;
  /** Lets it work until it is over, or soon after the signal aborts. To be called once. Never rejects. */
  run(signal: AbortSignal): Promise<AgentOutcome>;
  /** What it has said and done until now, bounded. */
  soFar(): string;
  /** Gives up one that will not run after all. Never rejects. */
  drop(): Promise<void>;
}

/** What all agents of a session share, however deep they are. */
export interface AgentTree {
  /** The definitions, the strongest of each name. */
  known: () => ReadonlyMap<string, Agent>;
  /** Where their logs are kept; nowhere when absent. */
  store: SessionStore | undefined;
  /** Those that work or are about to, by id, until they are over. These never reject. */
  readonly working: Map<string, Promise<void>>;
  /** The folders that are open to each of these, as soon as it is ready. */
  readonly roots: Map<string, () => readonly string[]>;
  /** What each has used of its budget, by id: who goes on with one goes on with that. */
  readonly accounts: Map<string, Account>;
}

/** The agents that a session, or an agent of it, may start. */
export interface SessionAgents extends Pick<ServerBounds, 'reaches'> {
  readonly tree: AgentTree;
  readonly list: readonly Agent[];
  /** False: it is too deep already. */
  readonly mayStart: boolean;
  /** Whether those who start agents here have this tool: no agent has more than whoever starts it. */
  readonly permits: (toolName: string) => boolean;
  /** The name of the agent that will really run: rules are about that one. What is not known stays as it is. */
  typeOf(input: Pick<TaskInput, 'resume' | 'subagent_type'>): Promise<string | undefined>;
  /** Makes an agent ready. `input` names it as `typeOf` does. Throws an error for the model when that cannot be done. */
  open(input: TaskInput, options: OpenOptions): Promise<ReadyAgent>;
}

export interface OpenOptions extends AgentErrand {
  toolUseId: string;
  signal: AbortSignal;
}

/** What an agent gets for one task beside its definition: that of a skill that runs in it. */
export interface AgentErrand {
  /** Rules that allow while it works on it. */
  allows?: readonly string[];
  /** Counts more than that of its definition. */
  model?: string | undefined;
  /** What stands before its prompt. */
  before?: readonly UserContentBlock[];
}
