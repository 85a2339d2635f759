import type { SessionKey, SessionStore } from '../../protocol/index.js';
import { type ChainEntry, type Entry, isChainEntry, isLifeEntry, parseEntry } from './entry.js';

/** The append-only log of one session: what is kept, in the order in which it happened. */
export class Log {
  readonly key: SessionKey;
  readonly #store: SessionStore | undefined;
  readonly #entries: Entry[];
  #leaf: string | null;

  constructor(options: { key: SessionKey; store?: SessionStore | undefined; entries?: readonly Entry[] }) {
    this.key = options.key;
    this.#store = options.store;
    this.#entries = [...(options.entries ?? [])];
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
    return this.#store?.pathOf(this.key);
  }

  /** Writes an entry, then counts it as happened. With `sync` it is on the disk when this returns or resolves. */
  append(entry: Entry, options: { sync?: boolean } = {}): void | Promise<void> {
    this.#entries.push(entry);
    if (isChainEntry(entry)) this.#leaf = entry.uuid;
    return this.#store?.append(this.key, [JSON.stringify(entry)], options);
  }
}

/**
 * The entries that lead to the last leaf, with the life entries among them. Lines of other branches and of other
 * writers stay in the file but are not part of the conversation.
 */
export function readChain(lines: readonly string[]): Entry[] {
  const all = lines.map(parseEntry).filter((entry) => entry !== undefined);
  const links = all.filter((entry): entry is ChainEntry => isChainEntry(entry) && !entry.isSidechain);
  const places = new Map(links.map((entry, place) => [entry.uuid, place]));
  const onChain = new Set<ChainEntry>();
  let place = links.length - 1;
  for (let entry = links[place]; entry !== undefined && !onChain.has(entry); entry = links[place]) {
    onChain.add(entry);
    if (!entry.parentUuid) break;
    // The line of a parent may be damaged: then what stands before is the best guess, and losing all of it the worst.
    place = places.get(entry.parentUuid) ?? place - 1;
  }
  return all.filter((entry) => isLifeEntry(entry) || onChain.has(entry));
}
