import { HeddleError } from '../../protocol/plain.js';
import { projectSlug } from '../stores/file-store.js';
import { describeSessions, type SessionInfo } from '../sessions/info.js';
import { type DirOption, readPage, type SessionParts } from './named.js';
import { ROWS_PER_SESSION, type SearchIndex, withSearchIndex } from './search-index.js';
import { joinLetters, toPhrases } from './search-text.js';
import { updateIndex } from './search-update.js';
import { foldersOfProject } from './work-trees.js';

export interface SearchOptions extends DirOption {
  limit?: number | undefined;
}

export interface SearchResult {
  sessionId: string;
  /** What the session is called, as in a list. */
  summary: string;
  /** The words that were found, and those around them. */
  snippet: string;
  lastModified: number;
  /** The message that has them; absent where it is the title. */
  uuid?: string;
  cwd?: string;
}

const LIMIT = 20;
const MAX_LIMIT = 10_000;
const MAX_PHRASES = 100;

/**
 * Sessions in which all the words were said: those with a title that has them first, then the newest. Words in one
 * message count before words that are apart.
 */
export async function searchSessions(
  { store, indexFile }: SessionParts,
  query: string,
  options: SearchOptions = {},
): Promise<SearchResult[]> {
  if (typeof query !== 'string') {
    throw new HeddleError('invalid_config', `What is searched for must be a text, not ${JSON.stringify(query)}.`);
  }
  const phrases = toPhrases(query);
  if (phrases.length === 0) {
    throw new HeddleError('invalid_config', 'A search needs at least one word with a letter or a digit.');
  }
  if (phrases.length > MAX_PHRASES) {
    throw new HeddleError('invalid_config', `A search has at most ${MAX_PHRASES} words, not ${phrases.length}.`);
  }
  if (indexFile === undefined || store.pathOf === undefined) {
    throw new HeddleError('not_supported', 'Only sessions that are kept as files can be searched.');
  }
  const limit = Math.min(readPage({ limit: options.limit ?? LIMIT }).to, MAX_LIMIT);
  const folders = options.dir === undefined ? undefined : foldersOfProject(options.dir);
  return withSearchIndex(indexFile, async (index) => {
    await updateIndex(index, store);
    const hits = findHits(index, { phrases, limit, folders });
    const summaries = hits.map(({ sessionId, cwd, modified }) => ({ sessionId, cwd, lastModified: modified }));
    const infos = new Map((await describeSessions(store, summaries)).map((info) => [info.sessionId, info]));
    return hits.map((hit) => toResult(index, { hit, phrases, info: infos.get(hit.sessionId) }));
  });
}

interface Hit {
  id: number;
  sessionId: string;
  cwd: string;
  modified: number;
  /** Its words stand in one message. */
  isTogether: boolean;
}

interface Wanted {
  phrases: readonly string[];
  limit: number;
  folders: readonly string[] | undefined;
}

/** The title is the row 0 of a session. Places: null, or a JSON list of what the folder may be called. */
const TOGETHER = `
  WITH found AS (
    SELECT rowid / ${ROWS_PER_SESSION} AS id, min(rowid % ${ROWS_PER_SESSION}) AS first
    FROM said WHERE said MATCH ?1 GROUP BY 1
  )
  SELECT id, session_id, cwd, modified, first = 0 AS in_title FROM found JOIN sessions USING (id)
  WHERE ?2 IS NULL OR cwd IN (SELECT value FROM json_each(?2))
  ORDER BY in_title DESC, modified DESC LIMIT ?3`;

const WITH_PHRASE = `AND id IN (SELECT rowid / ${ROWS_PER_SESSION} FROM said WHERE said MATCH ?)`;

function findHits({ all }: SearchIndex, { phrases, limit, folders }: Wanted): Hit[] {
  const places = folders ? JSON.stringify([...folders, ...folders.map(projectSlug)]) : null;
  const together = all(TOGETHER, phrases.join(' AND '), places, limit).map((row) => toHit(row, { isTogether: true }));
  if (together.length >= limit || phrases.length === 1) return together;
  const apart = all(
    `SELECT id, session_id, cwd, modified, 0 AS in_title FROM sessions
     WHERE (?1 IS NULL OR cwd IN (SELECT value FROM json_each(?1)))
       AND id NOT IN (SELECT value FROM json_each(?2)) ${phrases.map(() => WITH_PHRASE).join(' ')}
     ORDER BY modified DESC LIMIT ?`,
    places,
    JSON.stringify(together.map(({ id }) => id)),
    ...phrases,
    limit - together.length,
  );
  return [...together, ...apart.map((row) => toHit(row, { isTogether: false }))];
}

const toHit = (row: Record<string, unknown>, { isTogether }: { isTogether: boolean }): Hit => ({
  id: Number(row.id),
  sessionId: String(row.session_id),
  cwd: String(row.cwd),
  modified: Number(row.modified),
  isTogether,
});

interface Found {
  hit: Hit;
  phrases: readonly string[];
  info: SessionInfo | undefined;
}

function toResult({ all }: SearchIndex, { hit, phrases, info }: Found): SearchResult {
  const from = hit.id * ROWS_PER_SESSION;
  const [row] = all(
    `SELECT uuid, snippet(said, 0, '', '', '…', 24) AS snippet FROM said
     WHERE said MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT 1`,
    phrases.join(hit.isTogether ? ' AND ' : ' OR '),
    from,
    from + ROWS_PER_SESSION - 1,
  );
  const { uuid = '', snippet = '' } = (row ?? {}) as { uuid?: string; snippet?: string };
  return {
    sessionId: hit.sessionId,
    summary: info?.summary ?? '',
    snippet: joinLetters(snippet).replace(/\s+/g, ' ').trim(),
    lastModified: Math.floor(hit.modified),
    ...(uuid !== '' && { uuid }),
    ...(hit.cwd !== '' && { cwd: hit.cwd }),
  };
}
