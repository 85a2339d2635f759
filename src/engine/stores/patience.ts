import type { Clock, Lease, SessionStore } from '../../protocol/index.js';
import { HeddleError, systemClock } from '../../protocol/plain.js';

type Operation = 'append' | 'load' | 'list' | 'delete' | 'lease' | 'glance' | 'agents';

/** What is safe when an operation fails or does not come back. */
const SAFE: Readonly<Record<Operation, string>> = {
  append: 'What was written before is safe; the last entries may be missing after a restart.',
  load: 'Nothing was changed, and no new conversation was begun.',
  list: 'Nothing was changed.',
  delete: 'Some of the session may be left. Delete it again.',
  lease: 'Nothing was written.',
  glance: 'Nothing was changed.',
  agents: 'Nothing was changed.',
};

export interface PatienceOptions {
  clock?: Clock;
  /** How long reading may take: load, list, glance, agents. */
  loadMs?: number;
  /** How long the rest may take: append, lease, delete. */
  appendMs?: number;
}

/** A store whose every operation comes to an end: what it throws, and a wait that is too long, is `store_failed`. */
export function withPatience(store: SessionStore, options: PatienceOptions = {}): SessionStore {
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

  return {
    append: (key, lines, appendOptions) =>
      bound('append', () => store.append(key, lines, appendOptions), { ms: appendMs }),
    load: (sessionId, loadOptions) => soon('load', () => store.load(sessionId, loadOptions), loadMs),
    list: (listOptions) => soon('list', () => store.list(listOptions), loadMs),
    delete: (sessionId) => soon('delete', () => store.delete(sessionId), appendMs),
    // One that comes too late would lock the session until the process ends.
    lease: (key) => bound<Lease>('lease', () => store.lease(key), { ms: appendMs, onLate: releaseQuietly }),
    ...(store.glance && {
      glance: (sessionId: string) => soon('glance', async () => store.glance?.(sessionId), loadMs),
    }),
    ...(store.agents && {
      agents: (sessionId: string) => soon('agents', async () => (await store.agents?.(sessionId)) ?? [], loadMs),
    }),
    ...(store.pathOf && { pathOf: store.pathOf.bind(store) }),
  };
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
