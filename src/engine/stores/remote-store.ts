import type {
  SessionKey,
  SessionStore,
  PublicSessionKey,
  PublicSessionStore,
  SessionStoreEntry,
} from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { realPathOf } from '../settings/files.js';
import { projectSlug } from './file-store.js';

/** Any store that a caller may bring along, as one of ours. */
export function toSessionStore(given: SessionStore | PublicSessionStore, options: { cwd: string }): SessionStore {
  refuseNoRemote(given);
  return 'lease' in given ? given : createRemoteStore(given, options);
}

/** Every store has these two. */
export function refuseNoRemote(given: unknown): void {
  const { append, load } = (given ?? {}) as Record<string, unknown>;
  if (typeof append === 'function' && typeof load === 'function') return;
  throw new HeddleError('invalid_config', 'sessionStore is not a store: it has no append() or no load().', {
    hint: 'Give an object with the methods append(key, entries) and load(key).',
  });
}

const AGENT_PATH = /^subagents\/agent-(.+)$/;

/**
 * The sessions of a store of the public shape, without a local copy. Such a store knows them by folder, so only those of
 * one folder are seen, and it knows no leases.
 */
export function createRemoteStore(remote: PublicSessionStore, options: { cwd: string }): SessionStore {
  const cwd = realPathOf(options.cwd);
  return {
    append: (key, lines) => attempt('append', () => remote.append(toRemoteKey(key), lines.map(toEntry))),
    async load(sessionId, { agentId } = {}) {
      const key: SessionKey = { sessionId, cwd, ...(agentId !== undefined && { agentId }) };
      const entries = await attempt('load', () => remote.load(toRemoteKey(key)));
      return entries ? { key, lines: entries.map((entry) => JSON.stringify(entry)) } : undefined;
    },
    async list(wanted = {}) {
      if (!remote.listSessions) throw missing('listSessions');
      const folder = wanted.cwd ?? cwd;
      const listed = await attempt('listSessions', async () => remote.listSessions?.(projectSlug(folder)));
      return (listed ?? [])
        .map(({ sessionId, mtime }) => ({ sessionId, cwd: folder, lastModified: mtime }))
        .toSorted((a, b) => b.lastModified - a.lastModified);
    },
    async delete(sessionId) {
      await attempt('delete', async () => remote.delete?.(toRemoteKey({ sessionId, cwd })));
    },
    lease: () => ({ release() {} }),
    async agents(sessionId) {
      if (!remote.listSubkeys) throw missing('listSubkeys');
      const project = { projectKey: projectSlug(cwd), sessionId };
      const subkeys = (await attempt('listSubkeys', async () => remote.listSubkeys?.(project))) ?? [];
      return subkeys.flatMap((subpath) => AGENT_PATH.exec(subpath)?.[1] ?? []);
    },
  };
}

const toRemoteKey = ({ sessionId, cwd, agentId }: SessionKey): PublicSessionKey => ({
  projectKey: projectSlug(cwd),
  sessionId,
  ...(agentId !== undefined && { subpath: `subagents/agent-${agentId}` }),
});

const toEntry = (line: string): SessionStoreEntry => JSON.parse(line) as SessionStoreEntry;

async function attempt<T>(operation: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof HeddleError) throw cause;
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new HeddleError('store_failed', `The sessionStore failed at "${operation}": ${text}`, {
      hint: 'Check the store that the program passes.',
      cause,
      data: { operation },
    });
  }
}

const missing = (method: string): HeddleError =>
  new HeddleError('not_supported', `The sessionStore has no ${method}(), which this needs.`, {
    hint: `Give the store a ${method} method.`,
  });
