import type { Lease, SessionKey, SessionStore } from '../../protocol/index.js';
import { type Entry, isChainEntry } from './entry.js';

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

/** A line that other readers of such files know, and that says nothing about the conversation. */
export interface Mark {
  type: 'custom-title' | 'tag';
  [field: string]: unknown;
}

/** Whoever lists sessions reads only the ends of logs: marks are said again before they are too far from the end. */
const MARK_EVERY_BYTES = 32 * 1024;

/** The append-only log of one session: what is kept, in the order in which it happened. */
export class Log {
  readonly key: SessionKey;
  readonly #store: SessionStore | undefined;
  readonly #lease: Lease | undefined;
  readonly #entries: Entry[];
  readonly #marks: Map<Mark['type'], Mark>;
  #sinceMarks = 0;
  readonly #unwritten: string[];
  #hasFailed = false;
  #leaf: string | null;

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

  get path(): string | undefined {
    return this.#store?.pathOf?.(this.key);
  }

  /** Writes an entry, then counts it as happened. With `sync` it is on the disk when this returns or resolves. */
  append(entry: Entry, options: { sync?: boolean } = {}): void | Promise<void> {
    this.#entries.push(entry);
    if (isChainEntry(entry)) this.#leaf = entry.uuid;
    return this.#write(entry, options);
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

  /** Lets the next writer in. */
  async release(): Promise<void> {
    await this.#lease?.release();
  }

  #write(line: object, options: { sync?: boolean }): void | Promise<void> {
    const text = JSON.stringify(line);
    this.#unwritten.push(text);
    this.#sinceMarks += text.length;
    // What could not be written goes before the next line, for a log with a hole has calls without results. It may have
    // become much: one line of it shows whether there is room again.
    const probed = this.#hasFailed ? this.#flush(1, options) : undefined;
    const written = this.#flush(this.#unwritten.length, options);
    return probed ? Promise.all([probed, written]).then(() => {}) : written;
  }

  #flush(count: number, options: { sync?: boolean }): void | Promise<void> {
    this.#hasFailed = true;
    const written = this.#store?.append(this.key, this.#unwritten.slice(0, count), options);
    this.#hasFailed = false;
    this.#unwritten.splice(0, count);
    return written;
  }
}

/** The title and the tag that were given last. */
export function lastMarks(lines: readonly string[]): Mark[] {
  const marks = (['custom-title', 'tag'] as const).map((type) => {
    const line = lines.findLast((text) => text.includes(`"type":"${type}"`) && toMark(text)?.type === type);
    return line === undefined ? undefined : toMark(line);
  });
  return marks.filter((mark) => mark !== undefined);
}

function toMark(text: string): Mark | undefined {
  try {
    return JSON.parse(text) as Mark;
  } catch {
    return undefined;
  }
}
