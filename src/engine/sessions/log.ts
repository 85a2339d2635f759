import type { Lease, SessionKey, SessionStore } from '../../protocol/index.js';
import { cutAfter } from './chain.js';
import { type Entry, isChainEntry, isLifeEntry } from './entry.js';
import { lastMarks, type Mark } from './mark.js';
import { toRepeat } from './repeat.js';

export interface LogOptions {
  key: SessionKey;
  store?: SessionStore | undefined;
  /** What happened before. */
  entries?: readonly Entry[];
  /** Those of them that the store does not have yet. */
  unwritten?: readonly Entry[];
  lease?: Lease | undefined;
  /** The marks in force. */
  marks?: readonly Mark[];
}

/** Whoever lists sessions reads only the ends of logs: marks are said again before they are too far from the end. */
const MARK_EVERY_BYTES = 32 * 1024;

/** The append-only log of one session: what is kept, in the order in which it happened. */
export class Log {
  readonly key: SessionKey;
  readonly #store: SessionStore | undefined;
  readonly #lease: Lease | undefined;
  #entries: Entry[];
  readonly #marks: Map<Mark['type'], Mark>;
  #sinceMarks = 0;
  /** Lines that the store is not known to have. */
  readonly #unwritten: string[];
  #hasFailed = false;
  #isSyncDue = false;
  /** One write at a time, or a line that failed would come after those that followed it. */
  #writing: Promise<void> | undefined;
  /** The write after that, with all that has come meanwhile. */
  #next: Promise<void> | undefined;
  #leaf: string | null;
  #leaving: Promise<void> | undefined;

  constructor({ key, store, entries = [], unwritten = [], lease, marks = [] }: LogOptions) {
    this.key = key;
    this.#store = store;
    this.#lease = lease;
    this.#marks = new Map(marks.map((mark) => [mark.type, mark]));
    this.#entries = [...entries];
    this.#unwritten = unwritten.map((entry) => JSON.stringify(entry));
    this.#leaf = this.#entries.findLast(isChainEntry)?.uuid ?? null;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The last entry of the conversation: the parent of the next one. */
  get leaf(): string | null {
    return this.#leaf;
  }

  /** It is more than the memory of this process. */
  get isKept(): boolean {
    return this.#store !== undefined;
  }

  get path(): string | undefined {
    return this.#store?.pathOf?.(this.key);
  }

  /** Writes an entry, then counts it as happened. With `sync` it is on the disk when this returns or resolves. */
  append(entry: Entry, options: { sync?: boolean } = {}): void | Promise<void> {
    if (isLifeEntry(entry) && entry.kind === 'branch') this.#goBack(entry.at);
    this.#entries.push(entry);
    if (isChainEntry(entry)) this.#leaf = entry.uuid;
    if (isLifeEntry(entry) && entry.kind === 'turn' && entry.state === 'started') {
      this.#leaving = this.#leaveArchive(entry.timestamp);
    }
    return this.#write(entry, options);
  }

  /** What came after that entry counts no more; null: nothing that was said does. */
  #goBack(at: string | null): void {
    this.#entries = cutAfter(this.#entries, at);
    this.#leaf = this.#entries.findLast(isChainEntry)?.uuid ?? null;
  }

  mark(mark: Mark): void | Promise<void> {
    this.#marks.set(mark.type, mark);
    return this.#write(mark, {});
  }

  /** Says the marks again when much was written since, with those that others have set meanwhile. */
  async restateMarks(): Promise<void> {
    if (this.#sinceMarks < MARK_EVERY_BYTES || this.#store === undefined) return;
    this.#sinceMarks = 0;
    const glance = await this.#store.glance?.(this.key.sessionId);
    for (const mark of lastMarks(glance?.tail ?? [])) this.#marks.set(mark.type, mark);
    const lines = [...this.#marks.values()].map((mark) => JSON.stringify(mark));
    if (lines.length > 0) await this.#store.append(this.key, lines);
  }

  /** Lets the next writer in. What could not be written is tried once more: nobody else has it. */
  async release(): Promise<void> {
    try {
      if (this.#hasFailed) await this.#flush();
    } catch {
      // Whoever appended it was told.
    }
    await this.#leaving;
    await this.#lease?.release();
  }

  #write(line: object, { sync = false }: { sync?: boolean }): void | Promise<void> {
    const text = JSON.stringify(line);
    this.#unwritten.push(text);
    this.#sinceMarks += text.length;
    this.#isSyncDue ||= sync;
    return this.#flush();
  }

  #flush(): void | Promise<void> {
    if (this.#writing === undefined) return this.#send();
    this.#next ??= this.#writing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#flush();
      });
    return this.#next;
  }

  /**
   * What could not be written goes before the next line, for a log with a hole has calls without results. It may have
   * become much: one line of it shows whether there is room again.
   */
  #send(): void | Promise<void> {
    const isProbe = this.#hasFailed;
    const lines = isProbe ? this.#unwritten.slice(0, 1) : [...this.#unwritten];
    if (lines.length === 0) return;
    const sync = this.#isSyncDue;
    this.#hasFailed = true;
    this.#isSyncDue = false;
    const fail = (error: unknown): never => {
      this.#isSyncDue ||= sync;
      for (const [place, line] of lines.entries()) this.#unwritten[place] = toRepeat(line);
      throw error;
    };
    const succeed = (): void | Promise<void> => {
      this.#hasFailed = false;
      this.#isSyncDue ||= sync && isProbe && this.#unwritten.length > lines.length;
      this.#unwritten.splice(0, lines.length);
      if (isProbe) return this.#send();
    };
    let written: void | Promise<void>;
    try {
      written = this.#store?.append(this.key, lines, { sync });
    } catch (error) {
      return fail(error);
    }
    if (written === undefined) return succeed();
    this.#writing = Promise.resolve(written).then(
      () => {
        this.#writing = undefined;
        return succeed();
      },
      (error: unknown) => {
        this.#writing = undefined;
        return fail(error);
      },
    );
    return this.#writing;
  }

  /** A prompt takes a session out of the archive. Never rejects: where this fails, the prompt itself says so. */
  async #leaveArchive(at: string): Promise<void> {
    const { sessionId, agentId } = this.key;
    if (agentId !== undefined || this.#store?.archive === undefined) return;
    try {
      const summary = await this.#store.summary?.(sessionId);
      if (summary?.archive?.archived) await this.#store.archive(this.key, { archived: false, at });
    } catch {
      // Whoever prompts must not fail because of this.
    }
  }
}
