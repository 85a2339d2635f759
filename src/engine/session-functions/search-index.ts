/** The full-text index of all logs: a file of SQLite that can be thrown away at any time, for it is made from the logs. */
import { closeSync, existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { HeddleError } from '../../protocol/plain.js';
import { makeFolders } from '../workspace/folders.js';
import { openOwnFile } from '../workspace/own-file.js';

/** Rises when an index of the old form cannot be used any more. */
const VERSION = 1;
/** "hedl": says whose file it is. */
const APPLICATION = 0x6865646c;
const BUSY_MS = 2_000;

/** Rows of one session are neighbours: its number times this, plus the place of the row. The row 0 is the title. */
export const ROWS_PER_SESSION = 2 ** 20;

const SCHEMA = `
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, session_id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL, size INTEGER NOT NULL,
    modified REAL NOT NULL, offset INTEGER NOT NULL, seam BLOB NOT NULL, rows INTEGER NOT NULL,
    title TEXT NOT NULL, tag TEXT NOT NULL
  );
  CREATE VIRTUAL TABLE said USING fts5(text, uuid UNINDEXED, tokenize = "unicode61 remove_diacritics 2", prefix = '2 3');
  INSERT INTO said (said, rank) VALUES ('secure-delete', 1);
  PRAGMA application_id = ${APPLICATION};
  PRAGMA user_version = ${VERSION};
`;

export interface SearchIndex {
  run(sql: string, ...values: SQLInputValue[]): void;
  all(sql: string, ...values: SQLInputValue[]): Record<string, unknown>[];
  /** In a file; else it lives in memory for one search. */
  readonly isKept: boolean;
  /** All of it or nothing. Holds the event loop until it is done. */
  transact<T>(act: () => T): T;
  close(): void;
}

/** Opens the index for as long as `use` takes. One that is damaged is made anew, and used then. */
export async function withSearchIndex<T>(file: string, use: (index: SearchIndex) => Promise<T>): Promise<T> {
  const { DatabaseSync: Database } = await loadSqlite();
  const attempt = async (): Promise<T> => {
    const index = toIndex(openDatabase(Database, file));
    try {
      return await use(index);
    } finally {
      index.close();
    }
  };
  try {
    return await attempt();
  } catch (thrown) {
    if (!isDamage(thrown)) throw toFailure(thrown);
    removeFiles(file);
  }
  return attempt().catch((thrown: unknown) => {
    throw toFailure(thrown);
  });
}

/** Takes a session that was deleted out of the index. What cannot be done now the next search does. */
export async function forgetSession(file: string, sessionId: string): Promise<void> {
  if (!existsSync(file)) return;
  const forget = async (index: SearchIndex): Promise<void> => {
    beginRemoval(index, sessionId);
    while (!index.transact(() => removeSome(index, sessionId))) await new Promise((resolve) => setImmediate(resolve));
  };
  await withSearchIndex(file, forget).catch(() => {});
}

/** To forget a row so that nothing of it is left in the file takes long: about 1 ms for each of so many characters. */
const SLICE_CHARACTERS = 256;
const MAX_SLICES = 1_000;
const MAX_ROW = 32 * 1024;
const MAX_ROWS = 1_000;

/** Where there is too much to forget, the index is made anew from the logs that are left. Throws then. */
export function beginRemoval({ all, isKept }: SearchIndex, sessionId: string): void {
  const range = rangeOf(all, sessionId);
  if (!isKept || range === undefined) return;
  if (range.rows > MAX_ROWS) throw new DamagedIndex('There are too many rows to forget.');
  const [row] = all(
    'SELECT sum(length(text)) AS total, max(length(text)) AS longest FROM said WHERE rowid BETWEEN ? AND ?',
    range.first,
    range.last,
  );
  const { total, longest } = row as { total: number | null; longest: number | null };
  const isMuch = (total ?? 0) > MAX_SLICES * SLICE_CHARACTERS || (longest ?? 0) > MAX_ROW;
  if (isMuch) throw new DamagedIndex('There is too much to forget.');
}

/** Forgets a few rows of a session. True when none is left. */
export function removeSome({ all, run }: SearchIndex, sessionId: string): boolean {
  const range = rangeOf(all, sessionId);
  if (range === undefined) return true;
  const { first, last } = range;
  const rows = all('SELECT rowid, length(text) AS size FROM said WHERE rowid BETWEEN ? AND ? LIMIT 20', first, last);
  let size = 0;
  for (const row of rows) {
    run('DELETE FROM said WHERE rowid = ?', Number(row.rowid));
    size += Number(row.size);
    if (size >= SLICE_CHARACTERS * 10) break;
  }
  if (rows.length > 0) return false;
  run('DELETE FROM sessions WHERE session_id = ?', sessionId);
  return true;
}

interface Range {
  first: number;
  last: number;
  rows: number;
}

function rangeOf(all: SearchIndex['all'], sessionId: string): Range | undefined {
  const [row] = all('SELECT id, rows FROM sessions WHERE session_id = ?', sessionId);
  if (row === undefined) return undefined;
  const first = Number(row.id) * ROWS_PER_SESSION;
  return { first, last: first + ROWS_PER_SESSION - 1, rows: Number(row.rows) };
}

type Sqlite = typeof import('node:sqlite');

async function loadSqlite(): Promise<Sqlite> {
  try {
    return await import('node:sqlite');
  } catch (cause) {
    throw new HeddleError('not_supported', 'Searching sessions needs node:sqlite, which this runtime does not have.', {
      hint: 'Use Node 22.16 or newer. Everything else about sessions works without it.',
      cause,
    });
  }
}

function openDatabase(Database: Sqlite['DatabaseSync'], file: string): DatabaseSync {
  try {
    return openFile(Database, file);
  } catch (thrown) {
    if (isDamage(thrown)) throw thrown;
    // Where nothing can be written, or the file is another program's, the index lives as long as this search.
    const database = new Database(':memory:');
    database.exec(SCHEMA);
    return database;
  }
}

function openFile(Database: Sqlite['DatabaseSync'], file: string): DatabaseSync {
  makeFolders(dirname(file));
  // It holds what was said: nobody else may read it.
  closeSync(openOwnFile(file, 'append'));
  const database = new Database(file);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const [version, application] = [pragma(database, 'user_version'), pragma(database, 'application_id')];
    if (application !== APPLICATION && application !== 0) throw new Error('The file belongs to another program.');
    if (version !== VERSION && version !== 0) throw new DamagedIndex(`The index has the form ${version}.`);
    // Commits are cheap so; what a crash of the machine takes is indexed again.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON');
    if (version === 0) create(database);
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

/** Another process may be making it at this moment. */
function create(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    if (pragma(database, 'user_version') === 0) database.exec(SCHEMA);
    database.exec('COMMIT');
  } catch (thrown) {
    rollBack(database);
    throw thrown;
  }
}

/** Some failures have rolled back already. */
function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // What went wrong before is what counts.
  }
}

const pragma = (database: DatabaseSync, name: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);

function toIndex(database: DatabaseSync): SearchIndex {
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    isKept: database.location() !== null,
    run: (sql, ...values) => void prepare(sql).run(...values),
    all: (sql, ...values) => prepare(sql).all(...values),
    transact(act) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = act();
        database.exec('COMMIT');
        return result;
      } catch (thrown) {
        rollBack(database);
        throw thrown;
      }
    },
    close: () => database.close(),
  };
}

/** Also of no use for other reasons: it is made anew. */
export class DamagedIndex extends Error {}

const CODES = { error: 1, busy: 5, corrupt: 11, notDatabase: 26 };

/** Also a file whose tables are not what they should be. */
function isDamage(thrown: unknown): boolean {
  if (thrown instanceof DamagedIndex) return true;
  const code = codeOf(thrown);
  if (code === CODES.error) return /no such (table|column)|malformed|already exists/.test((thrown as Error).message);
  return code === CODES.corrupt || code === CODES.notDatabase;
}

/** The lower byte is the kind of failure, the rest its circumstances. */
const codeOf = (thrown: unknown): number | undefined => {
  const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
};

function toFailure(thrown: unknown): unknown {
  const code = codeOf(thrown);
  if (code === undefined) return thrown;
  const isBusy = code === CODES.busy;
  return new HeddleError('store_failed', `The index of sessions failed: ${(thrown as Error).message}.`, {
    retryable: isBusy,
    hint: isBusy
      ? 'Another process is writing the index. Try again.'
      : 'The sessions themselves are safe. Remove search.db from the configuration folder: it is made anew.',
    cause: thrown,
  });
}

function removeFiles(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
