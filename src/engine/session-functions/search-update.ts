/** Brings the index up to the logs. Logs only grow, so only what is new in them is read. */
import { closeSync, fstatSync } from 'node:fs';
import type { SessionStore, SessionSummary } from '../../protocol/index.js';
import { openOwnFile, readOwnBytes } from '../workspace/own-file.js';
import { beginRemoval, DamagedIndex, removeSome, ROWS_PER_SESSION, type SearchIndex } from './search-index.js';
import { toIndexed } from './search-text.js';

/** How long the event loop is held before others of the process get their turn. */
const SLICE_MS = 15;
const CHUNK_BYTES = 256 * 1024;
/** A line that is longer is not indexed. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** So much of what stood before the end of what was read is kept, to see that the file is still the same. */
const SEAM_BYTES = 64;
const NEWLINE = 0x0a;

interface Known {
  id: number;
  size: number;
  modified: number;
  offset: number;
  seam: Uint8Array;
  rows: number;
  title: string;
  tag: string;
  cwd: string;
}

export async function updateIndex(index: SearchIndex, store: SessionStore): Promise<void> {
  const listed = await store.list();
  const known = new Map(
    index
      .all('SELECT session_id, size, modified FROM sessions')
      .map((row) => [String(row.session_id), row as { size: number; modified: number }]),
  );
  const changed = listed.filter(({ sessionId, size, lastModified }) => {
    const before = known.get(sessionId);
    return before?.size !== size || before?.modified !== lastModified;
  });
  const present = new Set(listed.map(({ sessionId }) => sessionId));
  const gone = [...known.keys()].filter((sessionId) => !present.has(sessionId));
  for (const sessionId of gone) beginRemoval(index, sessionId);
  const jobs = [
    ...gone.map(
      (sessionId): Job =>
        () =>
          removeSome(index, sessionId) ? 'done' : 'pause',
    ),
    ...changed.map(
      (summary): Job =>
        () =>
          indexMore(index, { summary, path: store.pathOf?.(summary) }),
    ),
  ];
  for (let at = 0; at < jobs.length; ) {
    at = index.transact(() => runSlice(jobs, at));
    if (at < jobs.length) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A piece of work. What takes its time when it is committed asks for a pause. */
type Job = () => 'done' | 'more' | 'pause';

/** Does what can be done in one go; gives the place of the job to go on with. */
function runSlice(jobs: readonly Job[], from: number): number {
  const until = performance.now() + SLICE_MS;
  let at = from;
  while (at < jobs.length && performance.now() < until) {
    const end = jobs[at]?.();
    if (end === 'pause') break;
    if (end !== 'more') at += 1;
  }
  return at;
}

/** Reads one piece of a log, until it is read to its end. */
function indexMore(
  index: SearchIndex,
  { summary, path }: { summary: SessionSummary; path: string | undefined },
): ReturnType<Job> {
  const file = path === undefined ? undefined : openQuietly(path);
  if (file === undefined) return 'done';
  try {
    const known = find(index, summary.sessionId) ?? begin(index, summary);
    const { bytes, isSame } = readFrom(file, known);
    if (!isSame) {
      beginRemoval(index, summary.sessionId);
      removeSome(index, summary.sessionId);
      return 'pause';
    }
    const isRead = known.offset + bytes.length >= fstatSync(file).size;
    // A last line without its end is read again when it has one; one that is too long is passed over.
    const end = bytes.lastIndexOf(NEWLINE) + 1 || (isRead ? 0 : bytes.length);
    addLines(index, known, bytes.subarray(0, end));
    known.seam = seamOf(known.seam, bytes.subarray(0, end));
    known.offset += end;
    // Only a log that was read to its end counts as it was listed; what was written since is a change of its own.
    if (isRead) Object.assign(known, { size: summary.size ?? -1, modified: summary.lastModified });
    save(index, known);
    return isRead ? 'done' : 'more';
  } catch (thrown) {
    // A log that cannot be read is not found; that of the index is another matter.
    if (thrown instanceof DamagedIndex || (thrown instanceof Error && 'errcode' in thrown)) throw thrown;
    return 'done';
  } finally {
    closeSync(file);
  }
}

function openQuietly(path: string): number | undefined {
  try {
    return openOwnFile(path, 'read');
  } catch {
    return undefined;
  }
}

function find({ all }: SearchIndex, sessionId: string): Known | undefined {
  const [row] = all('SELECT * FROM sessions WHERE session_id = ?', sessionId);
  return row as Known | undefined;
}

function begin({ all }: SearchIndex, { sessionId, cwd }: SessionSummary): Known {
  const [row] = all(
    `INSERT INTO sessions (session_id, cwd, size, modified, offset, seam, rows, title, tag)
     VALUES (?, ?, -1, -1, 0, x'', 1, '', '') RETURNING *`,
    sessionId,
    cwd,
  );
  return row as unknown as Known;
}

function save({ run }: SearchIndex, { id, size, modified, offset, seam, rows, title, tag, cwd }: Known): void {
  run(
    `UPDATE sessions SET size = ?, modified = ?, offset = ?, seam = ?, rows = ?, title = ?, tag = ?, cwd = ?
     WHERE id = ?`,
    size,
    modified,
    offset,
    seam,
    rows,
    title,
    tag,
    cwd,
    id,
  );
}

/** What follows the part that was read before; `isSame` is false when that part is no longer there. */
function readFrom(file: number, { offset, seam }: Known): { bytes: Buffer; isSame: boolean } {
  const before = readOwnBytes(file, { at: offset - seam.length, length: seam.length });
  if (!before.equals(seam)) return { bytes: before, isSame: false };
  for (let length = CHUNK_BYTES; ; length *= 4) {
    const bytes = readOwnBytes(file, { at: offset, length });
    const isWhole = bytes.length < length || bytes.includes(NEWLINE) || length > MAX_LINE_BYTES;
    if (isWhole) return { bytes, isSame: true };
  }
}

const seamOf = (before: Uint8Array, bytes: Buffer): Uint8Array =>
  Buffer.concat([before, bytes.subarray(-SEAM_BYTES)]).subarray(-SEAM_BYTES);

function addLines(index: SearchIndex, known: Known, bytes: Buffer): void {
  const first = known.id * ROWS_PER_SESSION;
  let isRenamed = false;
  for (const line of bytes.toString('utf8').split('\n')) {
    const found = line === '' ? undefined : toIndexed(line);
    if (found === undefined) continue;
    if (found.kind !== 'said') {
      known[found.kind] = found.text;
      isRenamed = true;
      continue;
    }
    // The place says no more than its name; an entry knows the real one.
    if (!known.cwd.includes('/') && found.cwd) known.cwd = found.cwd;
    if (known.rows >= ROWS_PER_SESSION) continue;
    index.run('INSERT INTO said (rowid, text, uuid) VALUES (?, ?, ?)', first + known.rows, found.text, found.uuid);
    known.rows += 1;
  }
  if (!isRenamed) return;
  index.run('DELETE FROM said WHERE rowid = ?', first);
  const title = `${known.title} ${known.tag}`.trim();
  if (title !== '') index.run('INSERT INTO said (rowid, text, uuid) VALUES (?, ?, ?)', first, title, '');
}
