/** What people say about a session. Each is one line at its end, or kept beside it, so that one that is being run can have it too. */
import { HeddleError } from '../../protocol/plain.js';
import type { MarkEntry } from '../sessions/entry.js';
import { loadSession } from '../sessions/resume.js';
import { type DirOption, keyOf, type SessionParts } from './named.js';

const MAX_TITLE = 1_000;

/** Gives a session a title. */
export async function renameSession(
  parts: SessionParts,
  { sessionId, title }: { sessionId: string; title: string },
  options: DirOption = {},
): Promise<void> {
  const customTitle = checkText(title, 'title');
  if (customTitle === '') throw new HeddleError('invalid_config', 'The title of a session must not be empty.');
  await append(parts, { sessionId, options }, (stored, timestamp) => ({
    type: 'custom-title',
    sessionId: stored,
    customTitle,
    uuid: parts.clock.uuid(),
    timestamp,
  }));
}

/** Gives a session a tag; null or nothing takes it away. */
export async function tagSession(
  parts: SessionParts,
  { sessionId, tag }: { sessionId: string; tag: string | null },
  options: DirOption = {},
): Promise<void> {
  const text = tag === null ? '' : checkText(tag, 'tag');
  await append(parts, { sessionId, options }, (stored) => ({ type: 'tag', tag: text, sessionId: stored }));
}

/** Puts a session into the archive, or takes it out. The next prompt takes it out as well. What is no log stays out. */
export async function archiveSession(
  parts: SessionParts,
  { sessionId, archived }: { sessionId: string; archived: boolean },
  options: DirOption = {},
): Promise<void> {
  if (parts.store.archive) {
    const key = await keyOf(parts, sessionId, options);
    await loadSession(parts.store, key.sessionId);
    return parts.store.archive(key, { archived, at: new Date(parts.clock.now()).toISOString() });
  }
  await append(
    parts,
    { sessionId, options },
    (stored, timestamp): MarkEntry => ({ type: 'heddle', kind: 'mark', archived, sessionId: stored, timestamp }),
  );
}

/** Titles are shown on one line. */
function checkText(text: unknown, what: string): string {
  if (typeof text !== 'string') throw new HeddleError('invalid_config', `The ${what} of a session must be a text.`);
  const plain = text.replace(/\s+/g, ' ').trim();
  if (plain.length <= MAX_TITLE) return plain;
  throw new HeddleError('invalid_config', `The ${what} of a session has at most ${MAX_TITLE} characters.`);
}

async function append(
  parts: SessionParts,
  { sessionId, options }: { sessionId: string; options: DirOption },
  toLine: (sessionId: string, timestamp: string) => object,
): Promise<void> {
  const key = await keyOf(parts, sessionId, options);
  // What cannot be resumed, as a log of a newer format or no log at all, is left as it is.
  await loadSession(parts.store, key.sessionId);
  const line = toLine(key.sessionId, new Date(parts.clock.now()).toISOString());
  await parts.store.append(key, [JSON.stringify(line)]);
}
