import type {
  ApiMessage,
  AssistantMessage,
  PermissionMode,
  TodoWriteInput,
  Usage,
  UserContentBlock,
  UserMessage,
} from '../../protocol/index.js';

/** The number of our log format; it rises when a reader of the old one would misread the new one. */
export const LOG_FORMAT = 1;

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
  /** Ours; other programs append to such files too. */
  writer?: 'heddle';
}

/** A prompt, a tool result, or context that the engine put in (`isMeta`). */
export interface UserEntry extends ChainFields {
  type: 'user';
  message: { role: 'user'; content: string | UserContentBlock[] };
  isMeta?: true;
  toolUseResult?: unknown;
  /** The background tasks whose end this tells the model. */
  toldTasks?: string[];
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
export type CallEntry = LifeFields & { kind: 'call'; toolUseId: string } & (
    | { state: 'requested'; questionId: string; explanation?: string }
    | { state: 'answered'; behavior: 'allow' | 'deny'; updatedInput?: Record<string, unknown>; message?: string }
    | { state: 'started' }
  );

/** A choice that later turns start from. */
export interface SetEntry extends LifeFields {
  kind: 'set';
  model?: string | null;
  mode?: PermissionMode;
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

/** A model call beside the conversation: the context knows nothing of it, the cost counts it. */
export interface AsideEntry extends LifeFields {
  kind: 'aside';
  purpose: string;
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
  | AsideEntry
  | ListEntry;

/** A line of another writer, or of a later version: kept, never understood. */
export interface ForeignEntry {
  type: string;
  kind?: undefined;
  [key: string]: unknown;
}

export type ChainEntry = UserEntry | AssistantEntry;
export type Entry = ChainEntry | LifeEntry;

export const isChainEntry = (entry: Entry | ForeignEntry): entry is ChainEntry =>
  entry.type === 'user' || entry.type === 'assistant';

export const isLifeEntry = (entry: Entry | ForeignEntry): entry is LifeEntry => entry.type === 'heddle';

/** A line of a log as an entry. Undefined for what is not ours to understand. */
export function parseEntry(line: string): Entry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  const entry = value as Entry | ForeignEntry;
  if (isLifeEntry(entry)) return isWholeLife(entry) ? entry : undefined;
  return isChainEntry(entry) ? toChainEntry(entry) : undefined;
}

/** Entries that are counted with must have their counts. */
function isWholeLife(entry: LifeEntry): boolean {
  if (entry.kind !== 'step' && entry.kind !== 'aborted' && entry.kind !== 'aside')
    return typeof entry.kind === 'string';
  return typeof entry.messageId === 'string' && typeof entry.usage?.input_tokens === 'number';
}

/** Other writers may leave out what we never do; what cannot be part of a conversation is no entry. */
function toChainEntry(entry: ChainEntry): ChainEntry | undefined {
  const { message } = entry;
  if (typeof entry.uuid !== 'string' || typeof message !== 'object' || message === null) return undefined;
  const content: unknown = message.content;
  if (entry.type === 'user') return typeof content === 'string' || Array.isArray(content) ? entry : undefined;
  if (Array.isArray(content)) return entry;
  if (typeof content !== 'string') return undefined;
  return { ...entry, message: { ...entry.message, content: [{ type: 'text', text: content }] } };
}

/** The Message a consumer sees for an entry. */
export function toMessage(entry: UserEntry, extra?: Partial<UserMessage>): UserMessage;
export function toMessage(entry: AssistantEntry, extra?: Partial<AssistantMessage>): AssistantMessage;
export function toMessage(entry: ChainEntry, extra: object = {}): UserMessage | AssistantMessage {
  const shared = {
    parent_tool_use_id: null,
    session_id: entry.sessionId,
    uuid: entry.uuid,
    timestamp: entry.timestamp,
  };
  if (entry.type === 'assistant') {
    const requestId = entry.requestId === undefined ? {} : { request_id: entry.requestId };
    return { type: 'assistant', message: entry.message, ...shared, ...requestId, ...extra };
  }
  const result = entry.toolUseResult === undefined ? {} : { tool_use_result: entry.toolUseResult };
  return { type: 'user', message: entry.message, ...shared, ...result, ...extra };
}

/** The content of a message as blocks, whichever way it was written. */
export const toBlocks = (content: string | readonly UserContentBlock[]): UserContentBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : [...content];
