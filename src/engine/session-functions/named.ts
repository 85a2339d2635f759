/** From the id of a session to the session: the first step of every function that is about one. */
import { existsSync } from 'node:fs';
import type { Clock, SessionGlance, SessionKey, SessionStore } from '../../protocol/index.js';
import { HeddleError, isSessionId } from '../../protocol/plain.js';
import { projectSlug } from '../stores/file-store.js';
import { findTitled } from '../sessions/find.js';
import { glanceAt } from '../sessions/info.js';
import { foldersOfProject } from './work-trees.js';

/** What the functions of sessions work with. */
export interface SessionParts {
  store: SessionStore;
  clock: Clock;
  /** The full-text index, where there is one. */
  indexFile?: string | undefined;
}

export interface DirOption {
  /** The project that the session must belong to; absent: any. */
  dir?: string | undefined;
}

export interface PageOptions {
  limit?: number | undefined;
  offset?: number | undefined;
}

const MIN_PREFIX = 4;

/**
 * The id of the session that a person means: by its id in any case, the start of it, or its title. Undefined when there is
 * none; throws `session_not_found` where several may be meant.
 */
export async function findNamed(
  { store }: Pick<SessionParts, 'store'>,
  name: string,
  { cwd }: { cwd: string },
): Promise<string | undefined> {
  if (isSessionId(name)) return storedId({ store }, name);
  const begun = /^[0-9a-f-]+$/i.test(name) ? await startingWith(store, name) : [];
  const titled = await findTitled(store, name, cwd);
  const [first, second] = begun;
  if (first === undefined || first === titled) return titled;
  const isOne = second === undefined && name.length >= MIN_PREFIX;
  if (titled !== undefined && !isOne) return titled;
  if (titled === undefined && isOne) return first;
  const shown = JSON.stringify(name);
  if (titled !== undefined) {
    const text = `${shown} is the title of session ${titled}, and session ${first} begins with it.`;
    throw new HeddleError('session_not_found', text, { hint: 'Give more of the id.' });
  }
  if (name.length < MIN_PREFIX) {
    const text = `${shown} is too short for the start of an id: give ${MIN_PREFIX} characters or more.`;
    throw new HeddleError('session_not_found', text);
  }
  const some = begun.slice(0, 5).join(', ');
  const text = `${begun.length} sessions begin with ${shown}: ${some}${begun.length > 5 ? ', ...' : ''}`;
  throw new HeddleError('session_not_found', text, { hint: 'Give more of the id.' });
}

async function startingWith(store: SessionStore, name: string): Promise<string[]> {
  const wanted = name.toLowerCase();
  return (await store.list()).map(({ sessionId }) => sessionId).filter((id) => id.toLowerCase().startsWith(wanted));
}

/** Only a UUID names a session for programs; titles and the beginnings of ids are for people. */
export function checkSessionId(sessionId: string): void {
  if (typeof sessionId === 'string' && isSessionId(sessionId)) return;
  throw new HeddleError('invalid_config', `${JSON.stringify(sessionId)} is not a session ID: it must be a UUID.`, {
    hint: 'listSessions() gives the ids of all sessions; a title is not one.',
  });
}

export const sessionNotFound = (sessionId: string, dir?: string): HeddleError => {
  const where = dir === undefined ? '' : ` in ${dir}`;
  const hint =
    dir === undefined
      ? 'listSessions() gives the ids of all sessions. Sessions of another configuration folder or store are not seen.'
      : 'It may belong to another folder: leave `dir` out to look everywhere.';
  return new HeddleError('session_not_found', `No conversation found with session ID: ${sessionId}${where}`, {
    hint,
    data: { sessionId },
  });
};

/** The id under which the store has a session: a UUID may be given in capitals, too. */
export async function storedId({ store }: Pick<SessionParts, 'store'>, sessionId: string): Promise<string> {
  checkSessionId(sessionId);
  const lower = sessionId.toLowerCase();
  return lower === sessionId || (await glanceAt(store, lower)) === undefined ? sessionId : lower;
}

/** The ends of a session's log, or undefined when there is no such session there. */
export async function glanceAtNamed(
  { store }: Pick<SessionParts, 'store'>,
  sessionId: string,
  { dir }: DirOption = {},
): Promise<SessionGlance | undefined> {
  const glance = await glanceAt(store, await storedId({ store }, sessionId));
  if (glance === undefined || dir === undefined) return glance;
  return isOfProject(foldersOfProject(dir), glance.key.cwd) ? glance : undefined;
}

/** Two folders may share a place in a store; a log that does not say its folder belongs where its place says. */
export const isOfProject = (folders: readonly string[], cwd: string): boolean =>
  folders.includes(cwd) || folders.some((folder) => projectSlug(folder) === cwd);

/** The key of a session, under which more can be appended to it. Throws `session_not_found`. */
export async function keyOf(
  parts: Pick<SessionParts, 'store'>,
  sessionId: string,
  options: DirOption = {},
): Promise<SessionKey> {
  const glance = await glanceAtNamed(parts, sessionId, options);
  if (glance === undefined) throw sessionNotFound(sessionId, options.dir);
  const path = parts.store.pathOf?.(glance.key);
  if (path === undefined || existsSync(path)) return glance.key;
  // The log was moved, or its folder is named in another way: what the list calls its folder leads there.
  const listed = (await parts.store.list()).find((one) => one.sessionId.toLowerCase() === sessionId.toLowerCase());
  return listed === undefined ? glance.key : { sessionId: listed.sessionId, cwd: listed.cwd };
}

/** The part of a list that was asked for. */
export function pageOf<T>(all: readonly T[], options: PageOptions): T[] {
  const { from, to } = readPage(options);
  return all.slice(from, to);
}

export function readPage({ limit, offset }: PageOptions): { from: number; to: number } {
  for (const [name, value] of Object.entries({ limit, offset })) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) continue;
    throw new HeddleError('invalid_config', `${name} must be a whole number of at least 0, not ${String(value)}.`);
  }
  const from = offset ?? 0;
  return { from, to: limit === undefined ? Number.POSITIVE_INFINITY : from + limit };
}
