import type {
  ApiMessage,
  AssistantMessage,
  Clock,
  Logger,
  Message,
  UserContentBlock,
  UserMessage,
} from '../protocol/index.js';
import type { Outbox } from './outbox.js';
import { type AssistantEntry, type ChainFields, type LifeEntry, toMessage, type UserEntry } from './sessions/entry.js';
import type { Log } from './sessions/log.js';
import { FOLLOWED_VERSION } from './version.js';

export type LifeFields<E> = E extends LifeEntry ? Omit<E, 'type' | 'sessionId' | 'timestamp'> : never;

export interface UserRecord {
  content: string | UserContentBlock[];
  uuid?: string;
  isMeta?: true;
  toolUseResult?: unknown;
  toldTasks?: string[];
  /** Fields that only the Message has; `false` when nobody is shown this entry. */
  show: Partial<UserMessage> | false;
  sync?: boolean;
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
  readonly #clock: Clock;
  readonly #logger: Logger;
  #preface: readonly LifeFields<LifeEntry>[];
  #lost = false;

  /** The preface is written before the first entry: a session in which nothing happens leaves no file. */
  constructor(parts: {
    log: Log;
    outbox: Outbox;
    clock: Clock;
    logger: Logger;
    preface: readonly LifeFields<LifeEntry>[];
  }) {
    this.log = parts.log;
    this.outbox = parts.outbox;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#preface = parts.preface;
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

  /** Records a fact about the session that is no Message. Await it before a side effect that must not happen twice. */
  life(fields: LifeFields<LifeEntry>, options: { sync?: boolean } = {}): void | Promise<void> {
    const timestamp = new Date(this.#clock.now()).toISOString();
    return this.#append({ type: 'heddle', sessionId: this.log.key.sessionId, timestamp, ...fields }, options.sync);
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
      timestamp: new Date(this.#clock.now()).toISOString(),
      cwd: this.log.key.cwd,
      version: FOLLOWED_VERSION,
      userType: 'external',
      isSidechain: false,
      writer: 'heddle',
    };
  }

  /** A log that cannot be written must not end the turn; the consumer is told once that it no longer survives a crash. */
  #append(entry: UserEntry | AssistantEntry | LifeEntry, sync = false): void | Promise<void> {
    this.begin();
    try {
      return this.log.append(entry, { sync })?.catch((error: unknown) => this.#reportLost(error));
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
