import {
  checkSessionId,
  type DirOption,
  glanceAtNamed,
  sessionNotFound,
  type SessionParts,
  storedId,
} from './named.js';

/** Removes a session with all that is kept for it. Throws `session_locked` while someone writes it. */
export async function deleteSession(parts: SessionParts, named: string, options: DirOption = {}): Promise<void> {
  const sessionId = await storedId(parts, named).catch(() => named);
  checkSessionId(sessionId);
  if (!(await exists(parts, sessionId, options))) throw sessionNotFound(sessionId, options.dir);
  await parts.store.delete(sessionId);
  if (parts.indexFile === undefined) return;
  const { forgetSession } = await import('./search-index.js');
  await forgetSession(parts.indexFile, sessionId);
}

/** A log that cannot be read can still be removed. */
async function exists(parts: SessionParts, sessionId: string, options: DirOption): Promise<boolean> {
  try {
    return (await glanceAtNamed(parts, sessionId, options)) !== undefined;
  } catch (thrown) {
    if (options.dir !== undefined) throw thrown;
    return (await parts.store.list()).some((one) => one.sessionId === sessionId);
  }
}
