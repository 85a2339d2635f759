import type { Clock, Lease, SessionArchive, SessionKey, SessionStore } from '../../protocol/index.js';
import { HeddleError, systemClock } from '../../protocol/plain.js';

type Operation =
  | 'append'
  | 'load'
  | 'list'
  | 'delete'
  | 'lease'
  | 'release'
  | 'summary'
  | 'archive'
  | 'glance'
  | 'agents';

/** What is safe when an operation fails or does not come back. */
const SAFE: Readonly<Record<Operation, string>> = {
  append: 'What was written before is safe; the last entries may be missing after a restart.',
  load: 'Nothing was changed, and no new conversation was begun.',
  list: 'Nothing was changed.',
  delete: 'Some of the session may be left. Delete it again.',
  lease: 'Nothing was written.',
  release:
    'All that could be written is safe. The session may stay locked until the store sees that its holder is gone.',
  summary: 'Nothing was changed.',
  archive: 'The session may be in the archive or not. Its log is safe.',
  glance: 'Nothing was changed.',
  agents: 'Nothing was changed.',
};

export interface PatienceOptions {
  clock?: Clock;
  /** How long reading may take: load, list, summary, glance, agents. */
  loadMs?: number;
  /** How long the rest may take: append, archive, lease, its release, delete. */
  appendMs?: number;
}

/** A store whose every operation comes to an end: what it throws, and a wait that is too long, is `store_failed`. */
export function withPatience(store: SessionStore, options: PatienceOptions = {}): SessionStore {
  refuseNoStore(store);
  const { clock = systemClock, loadMs = 60_000, appendMs = 60_000 } = options;

  const bound = <T>(
    operation: Operation,
    act: () => T | Promise<T>,
    { ms, onLate }: { ms: number; onLate?: (value: T) => void },
  ): T | Promise<T> => {
    let result: T | Promise<T>;
    try {
      result = act();
    } catch (error) {
      throw failed(operation, error);
    }
    if (!isPromise(result)) return result;
    return new Promise<T>((resolve, reject) => {
      let late = false;
      const cancel = clock.after(ms, () => {
        late = true;
        reject(timedOut(operation, ms));
      });
      result.then(
        (value) => {
          cancel();
          if (late) onLate?.(value);
          else resolve(value);
        },
        (error: unknown) => {
          cancel();
          reject(failed(operation, error));
        },
      );
    });
  };
  const soon = async <T>(operation: Operation, act: () => Promise<T>, ms: number): Promise<T> =>
    bound(operation, act, { ms });

  const patient = (lease: Lease): Lease => {
    if (typeof lease?.release !== 'function') throw failed('lease', new Error('what it gave is no lease'));
    return { release: () => bound('release', () => lease.release(), { ms: appendMs }) };
  };

  return {
    append: (key, lines, appendOptions) =>
      bound('append', () => store.append(key, lines, appendOptions), { ms: appendMs }),
    async load(sessionId, loadOptions) {
      const loaded = await soon('load', () => store.load(sessionId, loadOptions), loadMs);
      if (loaded && !Array.isArray(loaded.lines)) throw failed('load', new Error('what it gave has no lines'));
      return loaded;
    },
    list: (listOptions) => soon('list', () => store.list(listOptions), loadMs),
    delete: (sessionId) => soon('delete', () => store.delete(sessionId), appendMs),
    lease(key) {
      // One that comes too late would lock the session until the process ends.
      const taken = bound<Lease>('lease', () => store.lease(key), { ms: appendMs, onLate: releaseQuietly });
      return isPromise(taken) ? taken.then(patient) : patient(taken);
    },
    ...(store.summary && {
      summary: (sessionId: string) => soon('summary', async () => store.summary?.(sessionId), loadMs),
    }),
    ...(store.archive && {
      archive: (key: SessionKey, archive: SessionArchive) =>
        bound('archive', () => store.archive?.(key, archive), { ms: appendMs }),
    }),
    ...(store.glance && {
      glance: (sessionId: string) => soon('glance', async () => store.glance?.(sessionId), loadMs),
    }),
    ...(store.agents && {
      agents: (sessionId: string) => soon('agents', async () => (await store.agents?.(sessionId)) ?? [], loadMs),
    }),
    ...(store.pathOf && { pathOf: store.pathOf.bind(store) }),
  };
}

const METHODS = ['append', 'load', 'list', 'delete', 'lease'] as const;

function refuseNoStore(store: unknown): void {
  const given = typeof store === 'object' && store !== null ? (store as Record<string, unknown>) : {};
  const absent = METHODS.filter((name) => typeof given[name] !== 'function');
  if (absent.length === 0) return;
  throw new HeddleError('invalid_config', `The store of sessions has no ${absent.join(', no ')}.`, {
    hint: `A store has the methods ${METHODS.join(', ')}.`,
  });
}

/** A store of a user may give any thenable. */
const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && 'then' in value;

function releaseQuietly(lease: Lease): void {
  void (async () => lease.release())().catch(() => {});
}

function failed(operation: Operation, cause: unknown): HeddleError {
  if (cause instanceof HeddleError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new HeddleError('store_failed', `The store of sessions failed at "${operation}": ${text}`, {
    hint: SAFE[operation],
    cause,
    data: { operation },
  });
}

function timedOut(operation: Operation, ms: number): HeddleError {
  const text = `The store of sessions did not answer "${operation}" within ${ms / 1000} s.`;
  return new HeddleError('store_failed', text, { retryable: true, hint: SAFE[operation], data: { operation, ms } });
}
