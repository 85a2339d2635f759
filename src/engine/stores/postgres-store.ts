import type { Clock, Lease, LoadedSession, SessionStore } from '../../protocol/index.js';
import { HeddleError, systemClock } from '../../protocol/plain.js';
import { createAppendQueue } from './append-queue.js';
import { createHolder, type Holder, isAlive, Locked, lockedError, waitForLease } from './lease.js';
import { toSummary } from './log-row.js';
import * as queries from './postgres-queries.js';

/** The part of a client of the `postgres` package that the store uses. */
export interface PostgresClient {
  unsafe(
    query: string,
    parameters?: (string | number | null)[],
    options?: { prepare?: boolean },
  ): PromiseLike<readonly unknown[]>;
  end(options?: { timeout?: number }): Promise<void>;
}

export type PostgresStoreOptions = ({ sql: PostgresClient; url?: undefined } | { url: string; sql?: undefined }) & {
  clock?: Clock;
};

export interface PostgresStore extends SessionStore {
  /** Ends the connections, if they are the store's own. Whoever gave `sql` ends it. */
  close(): Promise<void>;
}

/** A holder that is silent for this long has lost its lease; whoever it was writes nothing more. */
const LEASE_MS = 15_000;
const BEAT_MS = 5_000;

type Row = Record<string, unknown>;

/** Sessions in PostgreSQL, for any number of machines. Makes its tables (`heddle_*`) when it is first used. */
export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
  const { clock = systemClock } = options;
  const held = new Map<string, Holder>();
  let client: Promise<PostgresClient> | undefined;
  let cancelBeat: (() => void) | undefined;

  const connect = (): Promise<PostgresClient> => {
    client ??= openClient(options).catch((error: unknown) => {
      client = undefined;
      throw error;
    });
    return client;
  };
  const ask = async (
    operation: string,
    query: string,
    parameters: (string | number | null)[] = [],
  ): Promise<readonly Row[]> => {
    try {
      const sql = await connect();
      return (await sql.unsafe(query, parameters, { prepare: true })) as readonly Row[];
    } catch (cause) {
      throw toStoreError(cause, operation);
    }
  };

  const queue = createAppendQueue(async ({ key, lines }) => {
    const { sessionId, agentId = '', cwd } = key;
    const size = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    const token = held.get(sessionId)?.token ?? null;
    const values = [sessionId, agentId, cwd, size, lines.length, JSON.stringify(lines), token];
    const { length } = await ask('append', queries.APPEND, values);
    if (length === lines.length) return;
    const [row] = await ask('append', queries.READ_LEASE, [sessionId]);
    throw lockedError(sessionId, row as unknown as Holder | undefined);
  });

  const beat = (): void => {
    cancelBeat = clock.after(BEAT_MS, beat, { background: true });
    const tokens = JSON.stringify([...held.values()].map(({ token }) => token));
    // The next beat tries again; what is written under a lease that is lost is refused.
    ask('lease', queries.RENEW_LEASES, [tokens, LEASE_MS]).catch(() => {});
  };

  const attempt = async (sessionId: string): Promise<Lease | Locked> => {
    const self = createHolder(clock);
    const { token, pid, host, place, start, time } = self;
    const takeFrom = (dead: string) =>
      ask('lease', queries.TAKE_LEASE, [sessionId, token, pid, host, place, start, time, LEASE_MS, dead]);
    let [mine] = await takeFrom('');
    if (mine === undefined) {
      const [row] = await ask('lease', queries.READ_LEASE, [sessionId]);
      const other = row as unknown as Holder | undefined;
      if (other && isAlive(other, self) === false) [mine] = await takeFrom(other.token);
      if (mine === undefined) return new Locked(other);
    }
    held.set(sessionId, self);
    cancelBeat ??= clock.after(BEAT_MS, beat, { background: true });
    return { release: () => release(sessionId, self) };
  };

  const release = async (sessionId: string, self: Holder): Promise<void> => {
    if (held.get(sessionId) !== self) return;
    await queue.drained(sessionId);
    held.delete(sessionId);
    if (held.size === 0) {
      cancelBeat?.();
      cancelBeat = undefined;
    }
    // It ends by itself when this does not arrive.
    await ask('lease', queries.DROP_LEASE, [sessionId, self.token]).catch(() => {});
  };

  const lease = (sessionId: string): Promise<Lease> =>
    waitForLease({ sessionId, clock, attempt: () => attempt(sessionId) });

  return {
    append(key, lines) {
      if (lines.length > 0) return queue.add(key, lines);
    },

    async load(sessionId, { agentId = '' } = {}): Promise<LoadedSession | undefined> {
      const [log] = await ask('load', queries.FIND_LOG, [sessionId, agentId]);
      if (log === undefined) return undefined;
      const lines: string[] = [];
      for (let after = '0'; ; ) {
        const rows = await ask('load', queries.READ_LINES, [String(log.id), after]);
        for (const { line } of rows) lines.push(String(line));
        const last = rows.at(-1);
        if (last === undefined) break;
        after = String(last.seq);
      }
      return { key: { sessionId, cwd: String(log.cwd), ...(agentId !== '' && { agentId }) }, lines };
    },

    async list({ cwd } = {}) {
      const rows =
        cwd === undefined ? await ask('list', queries.LIST_ALL) : await ask('list', queries.LIST_OF_FOLDER, [cwd]);
      return rows.map(toSummary);
    },

    async summary(sessionId) {
      return (await ask('summary', queries.SUMMARY, [sessionId])).map(toSummary)[0];
    },

    async delete(sessionId) {
      const mine = await lease(sessionId);
      try {
        await ask('delete', queries.DELETE, [sessionId]);
      } finally {
        await mine.release();
      }
    },

    lease: ({ sessionId }) => lease(sessionId),

    async glance(sessionId) {
      const rows = await ask('glance', queries.GLANCE, [sessionId]);
      const [first] = rows;
      if (first === undefined) return undefined;
      const head = rows.filter(({ part }) => part === 'head');
      const lastOfHead = Number(head.at(-1)?.seq ?? 0);
      const tail = rows.filter(({ part, seq }) => part === 'tail' && Number(seq) > lastOfHead);
      const toLines = (of: readonly Row[]) => of.map(({ line }) => String(line));
      return { key: { sessionId, cwd: String(first.cwd) }, head: toLines(head), tail: toLines(tail) };
    },

    async agents(sessionId) {
      return (await ask('agents', queries.AGENTS, [sessionId])).map((row) => String(row.agent_id));
    },

    async close() {
      const mine = options.sql ? undefined : client;
      client = undefined;
      cancelBeat?.();
      cancelBeat = undefined;
      await (await mine?.catch(() => undefined))?.end({ timeout: 1 });
    },
  };
}

async function openClient(options: PostgresStoreOptions): Promise<PostgresClient> {
  const sql = options.sql ?? (await createClient(options.url));
  try {
    await prepareTables(sql);
  } catch (error) {
    if (!options.sql) await sql.end({ timeout: 1 }).catch(() => {});
    throw error;
  }
  return sql;
}

async function createClient(url: string): Promise<PostgresClient> {
  const { default: postgres } = await import('postgres').catch((cause: unknown) => {
    throw new HeddleError('store_failed', 'The package "postgres" is needed to keep sessions in PostgreSQL.', {
      hint: 'Nothing was written. Add it to the program: npm install postgres',
      cause,
    });
  });
  // Seconds. Idle connections end, so that a program that forgot to close the store can.
  return postgres(url, { max: 4, connect_timeout: 10, idle_timeout: 5, onnotice: () => {} });
}

async function prepareTables(sql: PostgresClient): Promise<void> {
  const [known] = (await sql.unsafe(queries.READ_VERSION)) as readonly Row[];
  if (known?.made !== true) await sql.unsafe(queries.MAKE_TABLES);
  const [row] = (await sql.unsafe(queries.VERSION)) as readonly Row[];
  const version = Number(row?.version);
  if (version > queries.SCHEMA_VERSION) {
    throw new HeddleError('store_failed', `The tables were made by a newer version of Heddle (${version}).`, {
      hint: 'Nothing was changed. Use that version, or another database.',
    });
  }
}

/** Where the same thing may work in a moment: the server was away, full, or chose another victim of a deadlock. */
const PASSING = /^(?:ECONN|EPIPE|ETIMEDOUT|CONNECT|57P0|53|40)/;

function toStoreError(cause: unknown, operation: string): HeddleError {
  if (cause instanceof HeddleError) return cause;
  const { message, code = '' } = (cause instanceof Error ? cause : new Error(String(cause))) as NodeJS.ErrnoException;
  return new HeddleError('store_failed', `PostgreSQL failed at "${operation}": ${message || code}.`, {
    retryable: PASSING.test(code),
    hint: 'What was written before is safe: a change is made whole or not at all. Check the server and the connection.',
    cause,
    data: { operation, ...(code && { code }) },
  });
}
