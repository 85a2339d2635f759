import type { SessionKey, SessionStore } from '../../protocol/index.js';

interface Kept {
  key: SessionKey;
  lines: string[];
  lastModified: number;
}

/** Sessions that live as long as the process. */
export function createMemoryStore(options: { now?: () => number } = {}): SessionStore {
  const now = options.now ?? Date.now;
  const sessions = new Map<string, Kept>();
  return {
    append(key, lines) {
      const kept = sessions.get(key.sessionId) ?? { key, lines: [], lastModified: 0 };
      kept.lines.push(...lines);
      kept.lastModified = now();
      sessions.set(key.sessionId, kept);
    },
    async load(sessionId) {
      const kept = sessions.get(sessionId);
      return kept && { key: kept.key, lines: [...kept.lines] };
    },
    async list({ cwd } = {}) {
      return [...sessions.values()]
        .filter((kept) => cwd === undefined || kept.key.cwd === cwd)
        .map((kept) => ({ ...kept.key, lastModified: kept.lastModified }))
        .toSorted((a, b) => b.lastModified - a.lastModified);
    },
    async delete(sessionId) {
      sessions.delete(sessionId);
    },
    release() {},
    pathOf: () => undefined,
  };
}
