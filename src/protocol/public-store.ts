/** The shape of store that programs written for the existing SDK bring along: a copy of what is kept, elsewhere. */
export interface PublicSessionKey {
  /** The folder of the project, as it is named in the file system. */
  projectKey: string;
  sessionId: string;
  /** Absent for the log of the session; otherwise which other log, as for a subagent. */
  subpath?: string;
}

/** One line of a log. What is in it beyond these is not the store's concern. */
export interface SessionStoreEntry {
  type: string;
  uuid?: string;
  timestamp?: string;
  [key: string]: unknown;
}

export interface PublicSessionStore {
  /** Adds entries in this order. The same `uuid` may come twice, when the first answer was lost. */
  append(key: PublicSessionKey, entries: SessionStoreEntry[]): Promise<void>;
  /** Null for what was never written. */
  load(key: PublicSessionKey): Promise<SessionStoreEntry[] | null>;
  listSessions?(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  /** Absent where nothing is ever deleted. */
  delete?(key: PublicSessionKey): Promise<void>;
  listSubkeys?(key: { projectKey: string; sessionId: string }): Promise<string[]>;
}

/** When entries are passed on: together after a short while, or each at once. */
export type SessionStoreFlush = 'batched' | 'eager';
