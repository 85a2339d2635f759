/** The number rises when an older Heddle would misread or spoil the tables. */
export const SCHEMA_VERSION = 1;

/** Absent on a database that was not used yet. A role that may not make tables can still use those that are there. */
export const READ_VERSION = `SELECT to_regclass('heddle_meta') IS NOT NULL AS made`;
export const VERSION = 'SELECT version FROM heddle_meta';

/** One implicit transaction. The lock is for those who come first at the same time. */
export const MAKE_TABLES = `
  SELECT pg_advisory_xact_lock(7262533041);
  CREATE TABLE IF NOT EXISTS heddle_meta (single boolean PRIMARY KEY DEFAULT true CHECK (single), version integer NOT NULL);
  CREATE TABLE IF NOT EXISTS heddle_logs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, session_id text NOT NULL, agent_id text NOT NULL,
    cwd text NOT NULL, modified timestamptz NOT NULL, size bigint NOT NULL, lines bigint NOT NULL,
    UNIQUE (session_id, agent_id)
  );
  CREATE TABLE IF NOT EXISTS heddle_lines (
    log bigint NOT NULL REFERENCES heddle_logs ON DELETE CASCADE, seq bigint NOT NULL, line text NOT NULL,
    PRIMARY KEY (log, seq)
  );
  CREATE TABLE IF NOT EXISTS heddle_leases (
    session_id text PRIMARY KEY, token text NOT NULL, pid integer NOT NULL, host text NOT NULL, place text NOT NULL,
    start text NOT NULL, time double precision NOT NULL, expires timestamptz NOT NULL
  );
  INSERT INTO heddle_meta (version) VALUES (${SCHEMA_VERSION}) ON CONFLICT DO NOTHING;
`;

/**
 * session, agent, cwd, size, count, lines as a JSON array, token or null. The row of the log gives the lines their numbers,
 * and makes writers of one log wait for each other. Nothing is written under a token that is no longer the holder's, and
 * nobody takes the lease before this has ended. Gives as many rows as lines were written.
 */
export const APPEND = `
  WITH lease AS (SELECT 1 FROM heddle_leases WHERE session_id = $1 AND token = $7::text FOR SHARE),
  log AS (
    INSERT INTO heddle_logs AS logs (session_id, agent_id, cwd, modified, size, lines)
    SELECT $1, $2, $3, clock_timestamp(), $4::bigint, $5::bigint
    WHERE $7::text IS NULL OR EXISTS (SELECT 1 FROM lease)
    ON CONFLICT (session_id, agent_id) DO UPDATE
    SET modified = excluded.modified, size = logs.size + excluded.size, lines = logs.lines + excluded.lines
    RETURNING id, lines
  )
  INSERT INTO heddle_lines (log, seq, line)
  SELECT log.id, log.lines - $5::bigint + given.place, given.line
  FROM log, json_array_elements_text($6::text::json) WITH ORDINALITY AS given (line, place)
  RETURNING seq
`;

export const FIND_LOG = 'SELECT id::text, cwd FROM heddle_logs WHERE session_id = $1 AND agent_id = $2';

/** At most a thousand lines, and no more after the one that makes it a megabyte. */
export const READ_LINES = `
  SELECT seq::text, line FROM (
    SELECT seq, line, sum(length(line)) OVER (ORDER BY seq) - length(line) AS before
    FROM (SELECT seq, line FROM heddle_lines WHERE log = $1::bigint AND seq > $2::bigint ORDER BY seq LIMIT 1000) AS next
  ) AS chunk WHERE before < 1048576 ORDER BY chunk.seq
`;

const SUMMARIES = `
  SELECT session_id, cwd, (extract(epoch FROM modified) * 1000)::float8 AS modified, size::float8 AS size
  FROM heddle_logs WHERE agent_id = ''
`;
export const LIST_ALL = `${SUMMARIES} ORDER BY heddle_logs.modified DESC`;
export const LIST_OF_FOLDER = `${SUMMARIES} AND cwd = $1 ORDER BY heddle_logs.modified DESC`;
export const SUMMARY = `${SUMMARIES} AND session_id = $1`;

/** Both ends, up to 64 K characters of each. */
export const GLANCE = `
  WITH log AS (SELECT id, cwd, lines FROM heddle_logs WHERE session_id = $1 AND agent_id = ''),
  ends AS (
    SELECT 'head' AS part, line.seq, line.line, sum(length(line.line)) OVER (ORDER BY line.seq) AS upto
    FROM log JOIN heddle_lines AS line ON line.log = log.id WHERE line.seq <= 200
    UNION ALL
    SELECT 'tail', line.seq, line.line, sum(length(line.line)) OVER (ORDER BY line.seq DESC)
    FROM log JOIN heddle_lines AS line ON line.log = log.id WHERE line.seq > log.lines - 200
  )
  SELECT log.cwd, ends.part, ends.seq::text, ends.line FROM log LEFT JOIN ends
  ON ends.upto <= 65536 OR (part = 'head' AND ends.seq = 1) OR (part = 'tail' AND ends.seq = log.lines)
  ORDER BY ends.part, ends.seq
`;

export const AGENTS = `SELECT agent_id FROM heddle_logs WHERE session_id = $1 AND agent_id <> '' ORDER BY id`;
export const DELETE = 'DELETE FROM heddle_logs WHERE session_id = $1';

/** session, token, pid, host, place, start, time, milliseconds, token of a holder that is known to be dead or ''. */
export const TAKE_LEASE = `
  INSERT INTO heddle_leases AS held (session_id, token, pid, host, place, start, time, expires)
  VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8::float8 * interval '1 millisecond')
  ON CONFLICT (session_id) DO UPDATE SET token = excluded.token, pid = excluded.pid, host = excluded.host,
    place = excluded.place, start = excluded.start, time = excluded.time, expires = excluded.expires
  WHERE held.expires < clock_timestamp() OR held.token = $9
  RETURNING token
`;
export const READ_LEASE = 'SELECT token, pid, host, place, start, time FROM heddle_leases WHERE session_id = $1';
/** Tokens as a JSON array, milliseconds. */
export const RENEW_LEASES = `
  UPDATE heddle_leases SET expires = clock_timestamp() + $2::float8 * interval '1 millisecond'
  WHERE token IN (SELECT json_array_elements_text($1::text::json))
`;
export const DROP_LEASE = 'DELETE FROM heddle_leases WHERE session_id = $1 AND token = $2';
