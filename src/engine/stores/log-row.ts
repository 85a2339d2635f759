import type { SessionSummary } from '../../protocol/index.js';

/** What a row of the table of logs says of its session, whatever the database. */
export const toSummary = (row: Record<string, unknown>): SessionSummary => ({
  sessionId: String(row.session_id),
  cwd: String(row.cwd),
  lastModified: Number(row.modified),
  size: Number(row.size),
});
