import type {
  Clock,
  LoadedSession,
  SessionKey,
  SessionStore,
  PublicSessionKey,
  PublicSessionStore,
  SessionStoreEntry,
  SessionStoreFlush,
} from '../../protocol/index.js';
import { HeddleError, systemClock } from '../../protocol/plain.js';
import { realPathOf } from '../settings/files.js';
import { projectSlug } from './file-store.js';
import { refuseNoRemote } from './remote-store.js';
import { createTurns } from './turns.js';

export interface MirrorOptions {
  /** Where everything is written first. */
  local: SessionStore;
  remote: PublicSessionStore;
  /** The folder whose sessions are looked for in the remote store, which knows them by folder. */
  cwd: string;
  /** Called when entries were given up. The local store has them. */
  onError: (error: HeddleError, key: PublicSessionKey) => void;
  flush?: SessionStoreFlush;
  clock?: Clock;
  /** How long each call of the remote store may take. */
  timeoutMs?: number;
}

export interface MirrorStore extends SessionStore {
  /** Passes on what waits, and resolves when the remote store has it or it was given up. Never rejects. */
  flush(): Promise<void>;
}

const IDLE_MS = 100;
const MAX_WAITING_LINES = 500;
const MAX_WAITING_CHARS = 1024 * 1024;
const RETRY_MS = [200, 800];
/** How long a session that ends waits for its copy: less than anybody waits for its end. */
const MAX_FLUSH_MS = 50_000;

/** One log on its way to the remote store. */
interface Mirrored {
  key: PublicSessionKey;
  waiting: string[];
  chars: number;
  cancelTimer?: () => void;
  /** Batches go one after another. */
  batches: string[][];
  /** When all of them are sent or given up. */
  sent: Promise<void>;
  isSending: boolean;
  /** Nobody waits any more, and everybody was told. */
  isAbandoned: boolean;
}

/** Writes locally and passes a copy on to a store of the public shape, from which sessions are also resumed. */
export function createMirrorStore(options: MirrorOptions): MirrorStore {
  const { local, remote, onError, flush = 'batched', clock = systemClock, timeoutMs = 60_000 } = options;
  refuseNoRemote(remote);
  const cwd = realPathOf(options.cwd);
  const mirrored = new Map<string, Mirrored>();
  const takeTurn = createTurns();
  /** Of the session that was loaded last: what the remote store has and the local one has not. */
  let missing: { sessionId: string; agentId: string | undefined; lines: string[] } | undefined;

  const bounded = <T>(operation: string, act: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const cancel = clock.after(timeoutMs, () => reject(new LateError(operation, timeoutMs)));
      Promise.resolve()
        .then(act)
        .then(resolve, (cause: unknown) => reject(remoteError(operation, cause)))
        .finally(cancel);
    });

  /** False when the remote store is silent. */
  const send = async (log: Mirrored, entries: SessionStoreEntry[]): Promise<boolean> => {
    for (let failures = 0; ; failures += 1) {
      try {
        await bounded('append', () => remote.append(log.key, entries));
        return true;
      } catch (error) {
        const wait = RETRY_MS[failures];
        // What took too long may still arrive, and would then be there twice.
        if (log.isAbandoned || error instanceof LateError || wait === undefined) {
          if (!log.isAbandoned) report(error as HeddleError, log.key);
          return !(error instanceof LateError);
        }
        await new Promise<void>((resolve) => clock.after(wait, resolve));
      }
    }
  };

  const report = (error: HeddleError, key: PublicSessionKey): void => {
    try {
      onError(error, key);
    } catch {
      // Whoever is told must not stop what comes after.
    }
  };

  const pass = (log: Mirrored): void => {
    log.cancelTimer?.();
    delete log.cancelTimer;
    if (log.waiting.length === 0) return;
    log.batches.push(log.waiting);
    log.waiting = [];
    log.chars = 0;
    if (!log.isSending) log.sent = drain(log);
  };

  const drain = async (log: Mirrored): Promise<void> => {
    log.isSending = true;
    for (let lines = log.batches.shift(); lines !== undefined; lines = log.batches.shift()) {
      const entries = lines.flatMap(toEntry);
      // Each of those that wait would be waited for as long as this one was.
      if (entries.length > 0 && !(await send(log, entries))) log.batches.length = 0;
    }
    log.isSending = false;
  };

  const mirror = (key: SessionKey, lines: readonly string[]): void => {
    const remoteKey = toRemoteKey(key);
    const name = JSON.stringify(remoteKey);
    const log = mirrored.get(name) ?? newMirrored(remoteKey);
    mirrored.set(name, log);
    for (const line of lines) {
      log.waiting.push(line);
      log.chars += line.length;
    }
    if (flush === 'eager' || log.waiting.length > MAX_WAITING_LINES || log.chars > MAX_WAITING_CHARS) return pass(log);
    log.cancelTimer?.();
    log.cancelTimer = clock.after(IDLE_MS, () => pass(log));
  };

  const passAll = async (isMeant: (key: PublicSessionKey) => boolean): Promise<void> => {
    const meant = [...mirrored].filter(([, { key }]) => isMeant(key));
    for (const [, log] of meant) pass(log);
    const ms = Math.min(timeoutMs, MAX_FLUSH_MS);
    await new Promise<void>((resolve) => {
      // What is late at the same moment says so by itself.
      const cancel = clock.after(ms, () => setImmediate(resolve));
      void Promise.all(meant.map(([, { sent }]) => sent)).then(() => {
        cancel();
        resolve();
      });
    });
    for (const [name, log] of meant) {
      if (log.waiting.length === 0) mirrored.delete(name);
      if (log.isSending) abandon(log, ms);
    }
  };

  const abandon = (log: Mirrored, ms: number): void => {
    log.isAbandoned = true;
    log.batches.length = 0;
    report(new LateError('append', ms), log.key);
  };

  const loadRemote = async (sessionId: string, agentId?: string): Promise<string[] | undefined> => {
    const entries = await bounded('load', () => remote.load(toRemoteKey({ sessionId, cwd, agentId })));
    if (!entries || entries.length === 0) return undefined;
    const lines: string[] = [];
    for (const entry of entries) {
      await takeTurn();
      lines.push(JSON.stringify(entry));
    }
    return lines;
  };

  /** Lines of `there` that are not `here`. */
  const linesOnlyIn = async (there: readonly string[], here: readonly string[]): Promise<string[]> => {
    const known = new Set<string>();
    const only: string[] = [];
    for (const line of here) {
      await takeTurn();
      known.add(identityOf(line));
    }
    for (const line of there) {
      await takeTurn();
      if (!known.has(identityOf(line))) only.push(line);
    }
    return only;
  };

  return {
    append(key, lines, appendOptions) {
      const isDue = missing?.sessionId === key.sessionId && missing.agentId === key.agentId;
      const before = isDue ? (missing?.lines ?? []) : [];
      const written = local.append(key, [...before, ...lines], appendOptions);
      if (isDue) missing = undefined;
      if (written === undefined) return mirror(key, lines);
      return written.then(() => mirror(key, lines));
    },

    async load(sessionId, { agentId } = {}): Promise<LoadedSession | undefined> {
      const there = await loadRemote(sessionId, agentId);
      if (there === undefined) return local.load(sessionId, { agentId });
      // A local log that cannot be read is no loss here.
      const here = await local.load(sessionId, { agentId }).catch(() => undefined);
      const lines = here ? await linesOnlyIn(there, here.lines) : there;
      // All of it is here, and perhaps more that never got there.
      if (here && lines.length === 0) return here;
      missing = { sessionId, agentId, lines };
      return { key: { sessionId, cwd, ...(agentId !== undefined && { agentId }) }, lines: there };
    },

    async list(listOptions = {}) {
      const here = await local.list(listOptions);
      const folder = listOptions.cwd ?? cwd;
      const listed = (await bounded('list', async () => remote.listSessions?.(projectSlug(folder)))) ?? [];
      const known = new Set(here.map(({ sessionId }) => sessionId));
      const there = listed.filter(({ sessionId }) => !known.has(sessionId));
      return [
        ...here,
        ...there.map(({ sessionId, mtime }) => ({ sessionId, cwd: folder, lastModified: mtime })),
      ].toSorted((a, b) => b.lastModified - a.lastModified);
    },

    async delete(sessionId) {
      const key = (await local.load(sessionId))?.key ?? { sessionId, cwd };
      await local.delete(sessionId);
      await passAll((of) => of.sessionId === sessionId);
      await bounded('delete', async () => remote.delete?.(toRemoteKey({ sessionId, cwd: key.cwd })));
    },

    async lease(key) {
      const lease = await local.lease(key);
      return {
        async release() {
          await passAll(({ sessionId }) => sessionId === key.sessionId);
          await lease.release();
        },
      };
    },

    async agents(sessionId) {
      const here = (await local.agents?.(sessionId)) ?? [];
      const listed = await bounded('agents', async () =>
        remote.listSubkeys?.({ projectKey: projectSlug(cwd), sessionId }),
      );
      const there = (listed ?? []).flatMap((subpath) => AGENT_PATH.exec(subpath)?.[1] ?? []);
      return [...new Set([...here, ...there])];
    },

    ...(local.summary && { summary: local.summary.bind(local) }),
    ...(local.archive && { archive: local.archive.bind(local) }),
    ...(local.pathOf && { pathOf: local.pathOf.bind(local) }),
    flush: () => passAll(() => true),
  };
}

const newMirrored = (key: PublicSessionKey): Mirrored => ({
  key,
  waiting: [],
  chars: 0,
  batches: [],
  sent: Promise.resolve(),
  isSending: false,
  isAbandoned: false,
});

const AGENT_PATH = /^subagents\/agent-(.+)$/;

const toRemoteKey = ({ sessionId, cwd, agentId }: SessionKey): PublicSessionKey => ({
  projectKey: projectSlug(cwd),
  sessionId,
  ...(agentId !== undefined && { subpath: `subagents/agent-${agentId}` }),
});

/** What was torn, or is no entry, is of no use elsewhere. */
function toEntry(line: string): SessionStoreEntry[] {
  try {
    const entry = JSON.parse(line) as SessionStoreEntry | null;
    return typeof entry?.type === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}

/** Most entries have an id. Others are the same when they say the same; a database may have changed the order of keys. */
function identityOf(line: string): string {
  const [entry] = toEntry(line);
  return entry === undefined ? line : (entry.uuid ?? JSON.stringify(sortKeys(entry)));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, sortKeys(inner)]));
}

class LateError extends HeddleError {
  constructor(operation: string, ms: number) {
    super('store_failed', `The sessionStore did not answer "${operation}" within ${ms / 1000} s.`, {
      retryable: true,
      hint: 'The log is safe in the configuration folder. Check the store that the program passes.',
      data: { operation, ms },
    });
  }
}

function remoteError(operation: string, cause: unknown): HeddleError {
  if (cause instanceof HeddleError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new HeddleError('store_failed', `The sessionStore failed at "${operation}": ${text}`, {
    hint: 'The log is safe in the configuration folder. Check the store that the program passes.',
    cause,
    data: { operation },
  });
}
