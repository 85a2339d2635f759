import type { SessionStore } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { describeSessions, type SessionInfo } from './info.js';

/** The newest session of a folder that is not in the archive. */
export async function findNewest(store: SessionStore, cwd: string): Promise<string | undefined> {
  // Two folders may share a place in the store; entries know which one they belong to.
  const wanted = (info: SessionInfo) => info.cwd === cwd && !info.archived;
  const [newest] = await describeSessions(store, await store.list({ cwd }), { atMost: 1, wanted });
  return newest?.sessionId;
}

/** The session with this title; one of this folder counts before those of others. */
export async function findTitled(store: SessionStore, title: string, cwd: string): Promise<string | undefined> {
  const wanted = title.trim().toLowerCase();
  const named = await describeSessions(store, await store.list(), {
    wanted: ({ customTitle }) => customTitle?.trim().toLowerCase() === wanted,
  });
  const here = named.filter((info) => info.cwd === cwd);
  const found = here.length > 0 ? here : named;
  if (found.length > 1) {
    const ids = found.map(({ sessionId }) => sessionId).join(', ');
    const text = `${found.length} sessions have the title ${JSON.stringify(title)}: ${ids}`;
    throw new HeddleError('session_not_found', text, { hint: 'Name one of them by its id.' });
  }
  return found[0]?.sessionId;
}
