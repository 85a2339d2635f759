import { closeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Clock, SessionKey, SessionStore } from '../../protocol/index.js';
import { HeddleError, systemClock } from '../../protocol/plain.js';
import { makeFolders } from '../workspace/folders.js';
import { openOwnFile } from '../workspace/own-file.js';
import {
  createHolder,
  HEARTBEAT_MS,
  type Holder,
  isAlive,
  Locked,
  lockedError,
  SILENT_MS,
  waitForLease,
} from './lease.js';
import { toSummary } from './log-row.js';

const SCHEMA_VERSION = 1;
const SCHEMA = `
  CREATE TABLE logs (
    id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, agent_id TEXT NOT NULL, cwd TEXT NOT NULL,
    modified REAL NOT NULL, size INTEGER NOT NULL, UNIQUE (session_id, agent_id)
  );
  CREATE TABLE lines (id INTEGER PRIMARY KEY, log INTEGER NOT NULL, line TEXT NOT NULL);
  CREATE INDEX lines_of_log ON lines (log);
  CREATE TABLE leases (
    session_id TEXT PRIMARY KEY, token TEXT NOT NULL, pid INTEGER NOT NULL, host TEXT NOT NULL, place TEXT NOT NULL,
    start TEXT NOT NULL, time REAL NOT NULL, seen REAL NOT NULL
  ) WITHOUT ROWID;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;
const SUMMARY = "SELECT session_id, cwd, modified, size FROM logs WHERE agent_id = ''";
/** How long another process may write before ours gives up. */
const BUSY_MS = 5_000;
/** What is read or removed before others get the event loop. */
const CHUNK_CHARS = 1024 * 1024;
const CHUNK_LINES = 2_000;
const GLANCE_CHARS = 64 * 1024;

export interface SqliteStore extends SessionStore {
  /** Closes the database. The store opens it again when it is used. */
  close(): void;
}

/** Sessions in one file of SQLite, which any number of processes of one machine may share. */
export function createSqliteStore(options: { path: string; clock?: Clock }): SqliteStore {
  const { path, clock = systemClock } = options;
  const held = new Map<string, Holder>();
  let opened: Database | undefined;
  let cancelBeat: (() => void) | undefined;

  const use = <T>(operation: string, act: (db: Database) => T): T => {
    try {
      opened ??= openDatabase(path);
      return act(opened);
    } catch (cause) {
      throw toStoreError(cause, { operation, path });
    }
  };

  const beat = (): void => {
    cancelBeat = clock.after(HEARTBEAT_MS, beat, { background: true });
    try {
      use('lease', ({ run }) => {
        for (const { token } of held.values()) run('UPDATE leases SET seen = ? WHERE token = ?', clock.now(), token);
      });
    } catch {
      // A holder on this machine is known by its process; the next beat tries again.
    }
  };

  const attempt = (sessionId: string): (() => void) | Locked => {
    const self = createHolder(clock);
    const locked = use('lease', (db) => db.transact(() => takeRow(db, { sessionId, self, now: clock.now() })));
    if (locked) return locked;
    held.set(sessionId, self);
    cancelBeat ??= clock.after(HEARTBEAT_MS, beat, { background: true });
    return () => {
      if (held.get(sessionId) !== self) return;
      held.delete(sessionId);
      try {
        use('lease', ({ run }) => run('DELETE FROM leases WHERE token = ?', self.token));
      } catch {
        // The row is of no use to anyone once this process has ended.
      }
      if (held.size > 0) return;
      cancelBeat?.();
      cancelBeat = undefined;
    };
  };
  const take = (sessionId: string) => {
    const taken = attempt(sessionId);
    if (!(taken instanceof Locked)) return taken;
    return waitForLease({ sessionId, clock, attempt: () => attempt(sessionId) });
  };

  return {
    append(key, lines, { sync = false } = {}) {
      if (lines.length === 0) return;
      const self = held.get(key.sessionId);
      use('append', (db) => {
        // With WAL, only a commit under FULL waits for the disk; it takes all earlier ones along.
        if (sync) db.exec('PRAGMA synchronous = FULL');
        try {
          db.transact(() => {
            if (self) refuseLost(db, key.sessionId, self);
            addLines(db, { key, lines, now: clock.now() });
          });
        } finally {
          if (sync) db.exec('PRAGMA synchronous = NORMAL');
        }
      });
    },

    async load(sessionId, { agentId = '' } = {}) {
      const log = use('load', (db) => findLog(db, sessionId, agentId));
      if (log === undefined) return undefined;
      const lines: string[] = [];
      for (let after = 0; ; ) {
        const last = use('load', (db) => readChunk(db, { log: log.id, after, lines }));
        if (last === undefined) break;
        after = last;
        await nextTurn();
      }
      return { key: { sessionId, cwd: log.cwd, ...(agentId !== '' && { agentId }) }, lines };
    },

    async list({ cwd } = {}) {
      const rows = use('list', ({ all }) => {
        const order = 'ORDER BY modified DESC, id DESC';
        return cwd === undefined ? all(`${SUMMARY} ${order}`) : all(`${SUMMARY} AND cwd = ? ${order}`, cwd);
      });
      return rows.map(toSummary);
    },

    async summary(sessionId) {
      return use('summary', ({ all }) => all(`${SUMMARY} AND session_id = ?`, sessionId)).map(toSummary)[0];
    },

    async delete(sessionId) {
      const release = await take(sessionId);
      try {
        const logs = use('delete', ({ all }) => all('SELECT id FROM logs WHERE session_id = ?', sessionId));
        for (const { id = 0 } of logs) {
          while (use('delete', (db) => removeChunk(db, Number(id))) > 0) await nextTurn();
        }
        use('delete', ({ run }) => run('DELETE FROM logs WHERE session_id = ?', sessionId));
      } finally {
        release();
      }
    },

    lease({ sessionId }) {
      const taken = take(sessionId);
      return taken instanceof Promise ? taken.then((release) => ({ release })) : { release: taken };
    },

    async glance(sessionId) {
      return use('glance', (db) => {
        const log = findLog(db, sessionId, '');
        if (log === undefined) return undefined;
        const head = readEnd(db, 'SELECT id, line FROM lines WHERE log = ? AND id > ? ORDER BY id', [log.id, 0]);
        const last = head.at(-1)?.id ?? 0;
        const tail = readEnd(db, 'SELECT id, line FROM lines WHERE log = ? AND id > ? ORDER BY id DESC', [
          log.id,
          last,
        ]);
        const key: SessionKey = { sessionId, cwd: log.cwd };
        return { key, head: head.map(({ line }) => line), tail: tail.toReversed().map(({ line }) => line) };
      });
    },

    async agents(sessionId) {
      const rows = use('agents', ({ all }) =>
        all('SELECT agent_id FROM logs WHERE session_id = ? AND agent_id <> ? ORDER BY id', sessionId, ''),
      );
      return rows.map((row) => String(row.agent_id));
    },

    close() {
      opened?.close();
      opened = undefined;
    },
  };
}

type Value = string | number;
type Row = Record<string, unknown>;

interface Database {
  exec(sql: string): void;
  run(sql: string, ...values: Value[]): void;
  all(sql: string, ...values: Value[]): Row[];
  /** Rows until the loop over them ends. */
  each(sql: string, ...values: Value[]): Iterable<Row>;
  transact<T>(act: () => T): T;
  close(): void;
}

function openDatabase(path: string): Database {
  // Loaded here and not above, and without waiting: appends are synchronous.
  const sqlite = process.getBuiltinModule('node:sqlite');
  makeFolders(dirname(path));
  // For the owner alone; what SQLite puts beside it is as open as this file.
  closeSync(openOwnFile(path, 'append', { mayBeLink: true }));
  const db: DatabaseSync = new sqlite.DatabaseSync(path, { timeout: BUSY_MS });
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const database: Database = {
    exec: (sql) => db.exec(sql),
    run: (sql, ...values) => void prepare(sql).run(...values),
    all: (sql, ...values) => prepare(sql).all(...values),
    each: (sql, ...values) => prepare(sql).iterate(...values),
    transact(act) {
      db.exec('BEGIN IMMEDIATE');
      try {
        const result = act();
        db.exec('COMMIT');
        return result;
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => db.close(),
  };
  try {
    becomeWal(db);
    db.exec('PRAGMA synchronous = NORMAL');
    database.transact(() => prepareSchema(database, path));
  } catch (error) {
    db.close();
    throw error;
  }
  return database;
}

/** Of those who open a new file together, SQLite sends all but one away without waiting. */
function becomeWal(db: DatabaseSync): void {
  for (let tries = 0; ; tries += 1) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (tries >= BUSY_MS / 10 || !isBusy(error)) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}

/** SQLITE_BUSY and its kin. */
const isBusy = (error: unknown): boolean => resultCode(error) === 5;

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const isDamaged = (error: unknown): boolean => [11, 26].includes(resultCode(error));

/** The lower byte is the kind of failure, the rest its circumstances. */
const resultCode = (error: unknown): number => Number((error as { errcode?: number }).errcode) & 0xff;

function prepareSchema(db: Database, path: string): void {
  const version = Number(db.all('PRAGMA user_version')[0]?.user_version);
  if (version === 0) db.exec(SCHEMA);
  if (version > SCHEMA_VERSION) {
    throw new HeddleError('store_failed', `The store ${path} was made by a newer version of Heddle (${version}).`, {
      hint: 'Nothing was changed. Use that version, or another file.',
    });
  }
}

function takeRow(db: Database, options: { sessionId: string; self: Holder; now: number }): Locked | undefined {
  const { sessionId, self, now } = options;
  const [row] = db.all('SELECT * FROM leases WHERE session_id = ?', sessionId);
  if (row) {
    const holder = row as unknown as Holder;
    if (isAlive(holder, self) ?? now - Number(row.seen) < SILENT_MS) return new Locked(holder);
  }
  db.run(
    'INSERT OR REPLACE INTO leases (session_id, token, pid, host, place, start, time, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    sessionId,
    self.token,
    self.pid,
    self.host,
    self.place,
    self.start,
    self.time,
    now,
  );
}

function refuseLost(db: Database, sessionId: string, self: Holder): void {
  const [row] = db.all('SELECT * FROM leases WHERE session_id = ?', sessionId);
  if (row?.token !== self.token) throw lockedError(sessionId, row as unknown as Holder | undefined);
}

function addLines(db: Database, options: { key: SessionKey; lines: readonly string[]; now: number }): void {
  const { key, lines, now } = options;
  const { sessionId, agentId = '', cwd } = key;
  const size = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  const [log] = db.all(
    `INSERT INTO logs (session_id, agent_id, cwd, modified, size) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET modified = excluded.modified, size = size + excluded.size RETURNING id`,
    sessionId,
    agentId,
    cwd,
    now,
    size,
  );
  for (const line of lines) db.run('INSERT INTO lines (log, line) VALUES (?, ?)', Number(log?.id), line);
}

function findLog(db: Database, sessionId: string, agentId: string): { id: number; cwd: string } | undefined {
  const [row] = db.all('SELECT id, cwd FROM logs WHERE session_id = ? AND agent_id = ?', sessionId, agentId);
  return row && { id: Number(row.id), cwd: String(row.cwd) };
}

/** The id of the last line that was read; undefined when there was none left. */
function readChunk(db: Database, options: { log: number; after: number; lines: string[] }): number | undefined {
  let last: number | undefined;
  let length = 0;
  const sql = 'SELECT id, line FROM lines WHERE log = ? AND id > ? ORDER BY id';
  for (const row of db.each(sql, options.log, options.after)) {
    const line = String(row.line);
    options.lines.push(line);
    last = Number(row.id);
    length += line.length + 100;
    if (length > CHUNK_CHARS) break;
  }
  return last;
}

/** Lines from one end, at least one. */
function readEnd(db: Database, sql: string, values: readonly Value[]): { id: number; line: string }[] {
  const found: { id: number; line: string }[] = [];
  let length = 0;
  for (const row of db.each(sql, ...values)) {
    const line = String(row.line);
    length += line.length;
    if (found.length > 0 && length > GLANCE_CHARS) break;
    found.push({ id: Number(row.id), line });
  }
  return found;
}

function removeChunk(db: Database, log: number): number {
  const sql =
    'DELETE FROM lines WHERE id IN (SELECT id FROM lines WHERE log = ? ORDER BY id DESC LIMIT ?) RETURNING id';
  return db.all(sql, log, CHUNK_LINES).length;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function toStoreError(cause: unknown, { operation, path }: { operation: string; path: string }): HeddleError {
  if (cause instanceof HeddleError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new HeddleError('store_failed', `The store ${path} failed at "${operation}": ${text}.`, {
    retryable: isBusy(cause),
    hint: isDamaged(cause)
      ? 'The file is damaged, or is no database. It was left as it is: put a copy of it in its place, or use another file.'
      : 'What was written before is safe: a change is made whole or not at all. Check the file, its folder and the disk.',
    cause,
    data: { operation, path },
  });
}
