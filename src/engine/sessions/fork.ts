import { type Entry, isChainEntry, isLifeEntry } from './entry.js';

/**
 * The entries of a session as those of another one that begins with the same conversation. What is open in the first
 * stays open there alone: a call that waits for an answer must not run twice.
 */
export function forkEntries(entries: readonly Entry[], sessionId: string): Entry[] {
  return entries.flatMap((entry): Entry[] => {
    if (isChainEntry(entry)) {
      const forkedFrom = { sessionId: entry.sessionId, messageUuid: entry.uuid };
      return [{ ...entry, sessionId, forkedFrom }];
    }
    return staysBehind(entry) ? [] : [{ ...entry, sessionId, forked: true }];
  });
}

/** What is open in a session, and what was kept for it alone. */
export function staysBehind(entry: Entry): boolean {
  if (!isLifeEntry(entry)) return false;
  if (entry.kind === 'call') return entry.state !== 'started';
  return entry.kind === 'task' || entry.kind === 'queue' || entry.kind === 'mark' || entry.kind === 'file';
}
