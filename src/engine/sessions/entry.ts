import type {
  ApiMessage,
  AssistantMessage,
  PermissionMode,
  PermissionUpdate,
  TodoWriteInput,
  Usage,
  UserContentBlock,
  UserMessage,
} from '../../protocol/index.js';
import { listOf, toWholeLife } from './whole-life.js';

/** The number of our log format; it rises when a reader of the old one would misread the new one. */
export const LOG_FORMAT = 2;

/** What links an entry into the conversation. Readers of such files walk from the last leaf along `parentUuid`. */
export interface ChainFields {
  uuid: string;
  parentUuid: string | null;
  sessionId: string;
  timestamp: string;
  cwd: string;
  version: string;
  userType: 'external';
  isSidechain: boolean;
  /** The subagent whose log it is. */
  agentId?: string;
  /** Ours; other programs append to such files too. */
  writer?: 'heddle';
  gitBranch?: string;
  /** It could not be known whether this was written before. When it was, the first one counts. */
  again?: true;
  /** The entry was copied when its session was forked from this one. */
  forkedFrom?: { sessionId: string; messageUuid: string };
}

/** A prompt, a tool result, or context that the engine put in (`isMeta`). */
export interface UserEntry extends ChainFields {
  type: 'user';
  message: { role: 'user'; content: string | UserContentBlock[] };
  isMeta?: true;
  toolUseResult?: unknown;
  /** The background tasks whose end this tells the model. */
  toldTasks?: string[];
  /** Stands for all that was said before the boundary above it. */
  isCompactSummary?: true;
  /** Other readers show it to people, and do not take it for a prompt. */
  isVisibleInTranscriptOnly?: true;
}

/**
 * The context begins anew after this entry; the log keeps what was before. Other readers of such files stop here, since
 * it has no `parentUuid`; ours go on along `logicalParentUuid`.
 */
export interface BoundaryEntry extends ChainFields {
  type: 'system';
  subtype: 'compact_boundary';
  content: string;
  isMeta: false;
  level: 'info';
  logicalParentUuid: string | null;
  compactMetadata: {
    trigger: 'manual' | 'auto';
    preTokens: number;
    postTokens?: number;
  };
}

/** One content block of an answer. All blocks of one answer share `message.id`. */
export interface AssistantEntry extends ChainFields {
  type: 'assistant';
  message: ApiMessage;
  requestId?: string;
  /** An explanation made by the engine after a failed call; never sent to the model. */
  isApiErrorMessage?: true;
  /** The input of this tool call was not JSON; what arrived of it. */
  invalidInput?: string;
}

interface LifeFields {
  type: 'heddle';
  sessionId: string;
  timestamp: string;
  /** Copied from the session that this one was forked from, where it was paid for. */
  forked?: true;
  /** It could not be known whether this was written before. When it was, the first one counts. */
  again?: true;
}

/** The first line of every run that writes to the log. */
export interface SessionEntry extends LifeFields {
  kind: 'session';
  format: number;
  heddleVersion: string;
  resumed?: true;
}

export interface TurnEntry extends LifeFields {
  kind: 'turn';
  state: 'started' | 'interrupted' | 'ended';
  promptUuid?: string;
  subtype?: string;
  /** The model API refused what this turn sent: the context leaves the turn out, or no later one could work. */
  dropped?: true;
}

/** A whole answer of the model has arrived. Blocks without one belong to a call that was cut off. */
export interface StepEntry extends LifeFields {
  kind: 'step';
  messageId: string;
  model: string;
  stopReason: string | null;
  usage: Usage;
  /** Millionths of a cent; null where the model has no price. */
  microCents: number | null;
  durationMs: number;
}

/** A model call that failed or was cut off: the context skips its blocks, the cost counts it. */
export interface AbortedEntry extends LifeFields {
  kind: 'aborted';
  messageId: string;
  model: string;
  usage: Usage;
  microCents: number | null;
  reason: string;
}

/** The life of a tool call between its block and its result. */
export type CallEntry = LifeFields & {
  kind: 'call';
  toolUseId: string;
} /** `grounds`, `definition`: a mark of what the question rested on, and of the tool of a server that it was about. */ & (
    | { state: 'requested'; questionId: string; explanation?: string; grounds?: string; definition?: string }
    | {
        state: 'answered';
        behavior: 'allow' | 'deny';
        updatedInput?: Record<string, unknown>;
        message?: string;
        grounds?: string;
      }
    | { state: 'started' }
  );

/** A choice that later turns start from. */
export interface SetEntry extends LifeFields {
  kind: 'set';
  model?: string | null;
  mode?: PermissionMode;
  /** The mode to go back to from plan mode. */
  modeBefore?: PermissionMode;
  /** The name of the file of the plan; the folder is not for a log to say. */
  plan?: string;
  /** Whether the model was told that plan mode is on. */
  planTold?: boolean;
  maxThinkingTokens?: number | null;
  /** Where relative paths start. */
  cwd?: string;
}

/** The rest of the turn goes on with another model. */
export interface FallbackEntry extends LifeFields {
  kind: 'fallback';
  model: string;
}

/** The model knows a file with this content. */
export interface NotedEntry extends LifeFields {
  kind: 'noted';
  path: string;
  hash: string;
}

/** The life of a task in the background. One without an end was ended with the process that ran it. */
export type TaskEntry = LifeFields & { kind: 'task'; taskId: string } & (
    | { state: 'started'; toolUseId: string; description: string }
    /** `told`: the model knows, for it asked for the end. */
    | { state: 'ended'; status: string; notice: string; told?: true }
    /** A tool has shown the end to the model. */
    | { state: 'told' }
  );

/** Instructions that the model was told of. */
export interface MemoryEntry extends LifeFields {
  kind: 'memory';
  /** With links resolved. */
  paths: string[];
}

/** A subagent begins: stands at the beginning of its log, and in the log of whoever started it. */
export interface AgentEntry extends LifeFields {
  kind: 'agent';
  agentId: string;
  /** The name of its definition. */
  agentType: string;
  description: string;
  /** The call that started it. */
  toolUseId?: string;
  /** Where it works, when that is a work tree of its own. */
  worktree?: KeptWorktree;
}

export interface KeptWorktree {
  path: string;
  /** The folder in it that stands for the one of whoever started the agent. */
  cwd: string;
  /** The repository that it belongs to, its branch, and the commit that this began with; absent when a hook made it. */
  repository?: string;
  branch?: string;
  base?: string;
}

/** A model call beside the conversation: the context knows nothing of it, the cost counts it. */
export interface AsideEntry extends LifeFields {
  kind: 'aside';
  purpose: string;
  /** Made by this subagent, whose own log has it too. */
  agentId?: string;
  agentType?: string;
  messageId: string;
  model: string;
  usage: Usage;
  microCents: number | null;
}

/** What is to be done, whole, as the tools of that name know it. */
export interface ListEntry extends LifeFields {
  kind: 'list';
  todos?: TodoWriteInput['todos'];
  tasks?: ListedTask[];
}

export interface ListedTask {
  id: string;
  subject: string;
  description: string;
  activeForm?: string;
  status: 'pending' | 'in_progress' | 'completed';
  owner?: string;
  blocks: string[];
  blockedBy: string[];
  metadata?: Record<string, unknown>;
}

/** The conversation goes on from an earlier entry. What came after that stays in the file, and counts for the cost alone. */
export interface BranchEntry extends LifeFields {
  kind: 'branch';
  /** The last entry that counts; null: none does. */
  at: string | null;
}

/** Results of these calls are shown to the model as a short note from here on: one batch, so that the cache breaks once. */
export interface TrimEntry extends LifeFields {
  kind: 'trim';
  toolUseIds: string[];
}

/** Rules and folders that were granted for the session. */
export interface PermissionsEntry extends LifeFields {
  kind: 'permissions';
  updates: PermissionUpdate[];
}

/** A file as it was before a turn changed it first, and as the turn left it. */
export interface FileEntry extends LifeFields {
  kind: 'file';
  promptUuid: string;
  path: string;
  /** The hash of the content; null: there was no file; absent: it could not be kept, and `reason` says why. */
  before?: string | null;
  reason?: string;
  mode?: number;
  /** The hash of the content that the session knows of; null: there is no file. */
  after?: string | null;
  afterMode?: number;
  /** It was put back to how it was before this prompt. */
  rewound?: true;
  /** From here on files are kept. */
  begins?: true;
}

/** What became of a message that had to wait. */
export interface QueueEntry extends LifeFields {
  kind: 'queue';
  state: 'queued' | 'started' | 'dropped';
  promptUuid: string;
}

/** What people say about a session. A prompt takes it out of the archive. */
export interface MarkEntry extends LifeFields {
  kind: 'mark';
  archived: boolean;
}

export type LifeEntry =
  | SessionEntry
  | TurnEntry
  | StepEntry
  | AbortedEntry
  | CallEntry
  | SetEntry
  | FallbackEntry
  | NotedEntry
  | TaskEntry
  | AgentEntry
  | MemoryEntry
  | AsideEntry
  | ListEntry
  | BranchEntry
  | TrimEntry
  | PermissionsEntry
  | FileEntry
  | QueueEntry
  | MarkEntry;

/** A line of another writer, or of a later version: kept, never understood. */
export interface ForeignEntry {
  type: string;
  kind?: undefined;
  [key: string]: unknown;
}

export type ChainEntry = UserEntry | AssistantEntry | BoundaryEntry;
export type Entry = ChainEntry | LifeEntry;

export const isChainEntry = (entry: Entry | ForeignEntry): entry is ChainEntry =>
  entry.type === 'user' || entry.type === 'assistant' || isBoundary(entry);

export const isBoundary = (entry: Entry | ForeignEntry): entry is BoundaryEntry =>
  entry.type === 'system' && 'subtype' in entry && entry.subtype === 'compact_boundary';

export const isLifeEntry = (entry: Entry | ForeignEntry): entry is LifeEntry => entry.type === 'heddle';

/** A line of a log as an entry. Undefined for what is not ours to understand. */
export function parseEntry(line: string): Entry | undefined {
  const value = parseLine(line);
  return value && toEntry(value);
}

/** Whatever a line says, if it says something. */
export function parseLine(line: string): Entry | ForeignEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return typeof value === 'object' && value !== null && 'type' in value ? (value as Entry | ForeignEntry) : undefined;
}

export function toEntry(value: Entry | ForeignEntry): Entry | undefined {
  if (isLifeEntry(value)) return toWholeLife(value as unknown as Record<string, unknown>) as LifeEntry | undefined;
  return isChainEntry(value) ? toChainEntry(value) : undefined;
}

/** Other writers may leave out what we never do; what cannot be part of a conversation is no entry. */
function toChainEntry(entry: ChainEntry): ChainEntry | undefined {
  if (typeof entry.uuid !== 'string') return undefined;
  if (entry.type === 'system') return entry;
  const { message } = entry;
  if (typeof message !== 'object' || message === null) return undefined;
  const content: unknown = message.content;
  if (Array.isArray(content) && !content.every(isBlock)) return undefined;
  if (entry.type === 'user')
    return typeof content === 'string' || Array.isArray(content) ? withoutOddNotes(entry) : undefined;
  if (!Array.isArray(content) && typeof content !== 'string') return undefined;
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : entry.message.content;
  const { usage } = entry.message;
  const counted = typeof usage?.input_tokens === 'number' && typeof entry.message.model === 'string';
  if (blocks === content && counted) return entry;
  return {
    ...entry,
    message: {
      ...entry.message,
      content: blocks,
      ...(!counted && { model: 'unknown', usage: NO_USAGE }),
    },
  };
}

function withoutOddNotes(entry: UserEntry): UserEntry {
  if (entry.toldTasks === undefined || isTexts(entry.toldTasks)) return entry;
  const { toldTasks: _, ...rest } = entry;
  return rest;
}

const isTexts = listOf((value) => typeof value === 'string');

const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 };

/** What cannot be a block would stop every later turn. */
function isBlock(block: unknown): boolean {
  if (typeof block !== 'object' || block === null || !('type' in block)) return false;
  const { type, text, id, tool_use_id } = block as Record<string, unknown>;
  if (type === 'text') return typeof text === 'string';
  if (type === 'tool_use') return typeof id === 'string';
  return type === 'tool_result' ? typeof tool_use_id === 'string' : typeof type === 'string';
}

/** The Message a consumer sees for an entry. */
export function toMessage(entry: UserEntry, extra?: Partial<UserMessage>): UserMessage;
export function toMessage(entry: AssistantEntry, extra?: Partial<AssistantMessage>): AssistantMessage;
export function toMessage(entry: UserEntry | AssistantEntry, extra: object = {}): UserMessage | AssistantMessage {
  const shared = {
    parent_tool_use_id: null,
    session_id: entry.sessionId,
    uuid: entry.uuid,
    timestamp: entry.timestamp,
  };
  if (entry.type === 'assistant') {
    const requestId = entry.requestId === undefined ? {} : { request_id: entry.requestId };
    return {
      type: 'assistant',
      message: entry.message,
      ...shared,
      ...requestId,
      ...extra,
    };
  }
  const result = entry.toolUseResult === undefined ? {} : { tool_use_result: entry.toolUseResult };
  return {
    type: 'user',
    message: entry.message,
    ...shared,
    ...result,
    ...extra,
  };
}

/** The content of a message as blocks, whichever way it was written. */
export const toBlocks = (content: string | readonly UserContentBlock[]): UserContentBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : [...content];
