import type { PublicSessionKey, PublicSessionStore, SessionStoreEntry } from '../protocol/index.js';

interface KeptEntries {
  key: PublicSessionKey;
  entries: SessionStoreEntry[];
  uuids: Set<string>;
  mtime: number;
}

/** Such a store in memory: for tests, and to look at what a real one would be given. */
export class InMemorySessionStore implements PublicSessionStore {
  readonly #logs = new Map<string, KeptEntries>();
  #lastTime = 0;

  async append(key: PublicSessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const name = nameOf(key);
    const kept = this.#logs.get(name) ?? { key: { ...key }, entries: [], uuids: new Set(), mtime: 0 };
    for (const entry of entries) {
      if (entry.uuid !== undefined && kept.uuids.has(entry.uuid)) continue;
      if (entry.uuid !== undefined) kept.uuids.add(entry.uuid);
      kept.entries.push(structuredClone(entry));
    }
    // Two appends within a millisecond still have an order.
    this.#lastTime = Math.max(Date.now(), this.#lastTime + 1);
    kept.mtime = this.#lastTime;
    this.#logs.set(name, kept);
  }

  async load(key: PublicSessionKey): Promise<SessionStoreEntry[] | null> {
    const kept = this.#logs.get(nameOf(key));
    return kept ? structuredClone(kept.entries) : null;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    return [...this.#logs.values()]
      .filter(({ key }) => key.projectKey === projectKey && key.subpath === undefined)
      .map(({ key, mtime }) => ({ sessionId: key.sessionId, mtime }));
  }

  /** Without `subpath` everything of the session. */
  async delete(key: PublicSessionKey): Promise<void> {
    for (const [name, kept] of this.#logs) {
      if (isOf(kept.key, key) && (key.subpath === undefined || key.subpath === kept.key.subpath))
        this.#logs.delete(name);
    }
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    return [...this.#logs.values()].filter((kept) => isOf(kept.key, key)).flatMap((kept) => kept.key.subpath ?? []);
  }

  /** For tests: what is kept under a key. */
  getEntries(key: PublicSessionKey): SessionStoreEntry[] {
    return this.#logs.get(nameOf(key))?.entries ?? [];
  }

  /** For tests: how many sessions there are. */
  get size(): number {
    return [...this.#logs.values()].filter(({ key }) => key.subpath === undefined).length;
  }

  clear(): void {
    this.#logs.clear();
  }
}

const nameOf = ({ projectKey, sessionId, subpath }: PublicSessionKey): string =>
  JSON.stringify([projectKey, sessionId, subpath]);

const isOf = (kept: PublicSessionKey, key: { projectKey: string; sessionId: string }): boolean =>
  kept.projectKey === key.projectKey && kept.sessionId === key.sessionId;
