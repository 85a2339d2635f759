import type { SessionSummary } from '../../protocol/index.js';
import { describeSessions, type SessionInfo, summaryOf, toInfo } from '../sessions/info.js';
import { type DirOption, glanceAtNamed, isOfProject, type PageOptions, readPage, type SessionParts } from './named.js';
import { foldersOfProject } from './work-trees.js';

export interface ListOptions extends DirOption, PageOptions {
  /** With `dir`: also the other work trees of its git repository. */
  includeWorktrees?: boolean | undefined;
}

/** Sessions, newest first. Reads no log further than its ends. */
export async function listSessions(
  { store }: Pick<SessionParts, 'store'>,
  options: ListOptions = {},
): Promise<SessionInfo[]> {
  const { from, to } = readPage(options);
  if (options.dir === undefined) return (await describeSessions(store, await store.list(), { atMost: to })).slice(from);
  const folders = foldersOfProject(options.dir, { includeWorktrees: options.includeWorktrees ?? true });
  const found = new Map<string, SessionSummary>();
  for (const cwd of folders) for (const summary of await store.list({ cwd })) found.set(summary.sessionId, summary);
  const newest = [...found.values()].toSorted((a, b) => b.lastModified - a.lastModified);
  const infos = await describeSessions(store, newest, {
    atMost: to,
    wanted: ({ cwd = '' }) => isOfProject(folders, cwd),
  });
  return infos.slice(from);
}

/** Undefined when there is no such session, or nothing was said in it. */
export async function getSessionInfo(
  parts: Pick<SessionParts, 'store'>,
  sessionId: string,
  options: DirOption = {},
): Promise<SessionInfo | undefined> {
  const glance = await glanceAtNamed(parts, sessionId, options);
  if (glance === undefined) return undefined;
  const summary = await summaryOf(parts.store, glance.key.sessionId);
  return summary && toInfo(glance, summary);
}
