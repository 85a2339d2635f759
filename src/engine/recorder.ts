import type {
  ApiMessage,
  AssistantMessage,
  Clock,
  CompactBoundaryMessage,
  Logger,
  Message,
  UserContentBlock,
  UserMessage,
} from '../protocol/index.js';
import type { Outbox } from './outbox.js';
import {
  type AssistantEntry,
  type BoundaryEntry,
  type ChainFields,
  isChainEntry,
  type Entry,
  type LifeEntry,
  toMessage,
  type UserEntry,
} from './sessions/entry.js';
import type { Log } from './sessions/log.js';
import type { Mark } from './sessions/mark.js';
import { FOLLOWED_VERSION } from './version.js';

export type LifeFields<E> = E extends LifeEntry ? Omit<E, 'type' | 'sessionId' | 'timestamp'> : never;

export interface UserRecord {
  content: string | UserContentBlock[];
  uuid?: string;
  isMeta?: true;
  toolUseResult?: unknown;
  toldTasks?: string[];
  isCompactSummary?: true;
  isVisibleInTranscriptOnly?: true;
  /** Fields that only the Message has; `false` when nobody is shown this entry. */
  show: Partial<UserMessage> | false;
  sync?: boolean;
}

export interface BoundaryRecord {
  trigger: 'manual' | 'auto';
  preTokens: number;
  postTokens: number;
  durationMs: number;
}

export interface AssistantRecord {
  message: ApiMessage;
  requestId?: string | undefined;
  isApiErrorMessage?: true;
  invalidInput?: string;
  show?: Partial<AssistantMessage>;
}

/** Appends an entry, then emits its Message: what a consumer has seen, a resume finds. */
export class Recorder {
  readonly log: Log;
  readonly outbox: Outbox;
  /** The branch of the project, for those who look for a session by it. */
  branch: string | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #preface: readonly LifeFields<LifeEntry>[];
  #lost = false;
  readonly #agentId: string | undefined;
  /** When the last entry of the conversation was written. */
  #lastTime: number;

  /** The preface is written before the first entry: a session in which nothing happens leaves no file. */
  constructor(parts: {
    log: Log;
    outbox: Outbox;
    clock: Clock;
    logger: Logger;
    preface: readonly LifeFields<LifeEntry>[];
    /** The log is that of a subagent. */
    agentId?: string;
  }) {
    this.log = parts.log;
    this.outbox = parts.outbox;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#preface = parts.preface;
    this.#agentId = parts.agentId;
    this.#lastTime = Date.parse(parts.log.entries.findLast(isChainEntry)?.timestamp ?? '') || 0;
  }

  /** Something could not be written: a resume would not find it. */
  get losesWrites(): boolean {
    return this.#lost;
  }

  /** Writes the preface, if it is not there yet. */
  begin(): void {
    const preface = this.#preface;
    this.#preface = [];
    for (const fields of preface) void this.life(fields);
  }

  user(record: UserRecord): UserEntry {
    const entry: UserEntry = {
      ...this.#chain(record.uuid),
      type: 'user',
      message: { role: 'user', content: record.content },
    };
    if (record.isMeta) entry.isMeta = true;
    if (record.toolUseResult !== undefined) entry.toolUseResult = record.toolUseResult;
    if (record.toldTasks !== undefined) entry.toldTasks = record.toldTasks;
    if (record.isCompactSummary) entry.isCompactSummary = true;
    if (record.isVisibleInTranscriptOnly) entry.isVisibleInTranscriptOnly = true;
    const written = this.#append(entry, record.sync);
    if (record.show !== false) this.outbox.emitDurable(toMessage(entry, record.show), written);
    return entry;
  }

  assistant(record: AssistantRecord): AssistantEntry {
    const entry: AssistantEntry = { ...this.#chain(), type: 'assistant', message: record.message };
    if (record.requestId !== undefined) entry.requestId = record.requestId;
    if (record.isApiErrorMessage) entry.isApiErrorMessage = true;
    if (record.invalidInput !== undefined) entry.invalidInput = record.invalidInput;
    const written = this.#append(entry);
    this.outbox.emitDurable(toMessage(entry, record.show), written);
    return entry;
  }

  /** The context begins anew; the entry that sums up what was before must follow at once. */
  boundary(record: BoundaryRecord): BoundaryEntry {
    const { trigger, preTokens, postTokens, durationMs } = record;
    const entry: BoundaryEntry = {
      ...this.#chain(),
      parentUuid: null,
      logicalParentUuid: this.log.leaf,
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      isMeta: false,
      level: 'info',
      compactMetadata: { trigger, preTokens, postTokens },
    };
    const written = this.#append(entry);
    const message: CompactBoundaryMessage = {
      type: 'system',
      subtype: 'compact_boundary',
      compact_metadata: { trigger, pre_tokens: preTokens, post_tokens: postTokens, duration_ms: durationMs },
      logical_parent_uuid: entry.logicalParentUuid,
      uuid: entry.uuid,
      session_id: entry.sessionId,
    };
    this.outbox.emitDurable(message, written);
    return entry;
  }

  /** Records a fact about the session that is no Message. Await it before a side effect that must not happen twice. */
  life(fields: LifeFields<LifeEntry>, options: { sync?: boolean } = {}): void | Promise<void> {
    const timestamp = new Date(this.#clock.now()).toISOString();
    return this.#append({ type: 'heddle', sessionId: this.log.key.sessionId, timestamp, ...fields }, options.sync);
  }

  /** Says something about the session that is no part of it. */
  mark(mark: Mark): void {
    this.begin();
    void this.#guard(() => this.log.mark(mark));
  }

  /** Says again what is said about the session, where whoever lists sessions would not find it any more. */
  async restateMarks(): Promise<void> {
    await this.#guard(() => this.log.restateMarks());
  }

  /** Shows a Message that is not kept. */
  emit(message: Message): void {
    this.outbox.emit(message);
  }

  /** Shows several Messages that are not kept. */
  emitAll(messages: readonly Message[]): void {
    this.outbox.emitAll(messages);
  }

  #chain(uuid?: string): ChainFields {
    return {
      uuid: uuid ?? this.#clock.uuid(),
      parentUuid: this.log.leaf,
      sessionId: this.log.key.sessionId,
      timestamp: this.#nextTime(),
      cwd: this.log.key.cwd,
      version: FOLLOWED_VERSION,
      userType: 'external',
      isSidechain: this.#agentId !== undefined,
      ...(this.#agentId !== undefined && { agentId: this.#agentId }),
      writer: 'heddle',
      ...(this.branch !== undefined && { gitBranch: this.branch }),
    };
  }

  /** Other readers of such files take the entry with the latest time for the end of the conversation: no two have the same. */
  #nextTime(): string {
    this.#lastTime = Math.max(this.#clock.now(), this.#lastTime + 1);
    return new Date(this.#lastTime).toISOString();
  }

  #append(entry: Entry, sync = false): void | Promise<void> {
    this.begin();
    return this.#guard(() => this.log.append(entry, { sync }));
  }

  /** A log that cannot be written must not end the turn; the consumer is told once that it no longer survives a crash. */
  #guard(write: () => void | Promise<void>): void | Promise<void> {
    try {
      return write()?.catch((error: unknown) => this.#reportLost(error));
    } catch (error) {
      this.#reportLost(error);
    }
  }

  #reportLost(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#logger('error', 'the session log could not be written', { error: text });
    if (this.#lost) return;
    this.#lost = true;
    this.emit({
      type: 'system',
      subtype: 'session_writes_lost',
      error: text,
      uuid: this.#clock.uuid(),
      session_id: this.log.key.sessionId,
    });
  }
}
