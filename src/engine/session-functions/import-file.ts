import { basename } from 'node:path';
import { HeddleError, isSessionId } from '../../protocol/plain.js';
import { importSessionToStore } from './copy.js';
import { cwdOf, readLog } from '../stores/log-reader.js';
import { createMemoryStore } from '../stores/memory-store.js';
import type { SessionParts } from './named.js';
import { loadSession } from '../sessions/resume.js';

/** Takes the log of a session that was written elsewhere into the store, line by line. */
export async function importSessionFile(
  { store }: Pick<SessionParts, 'store'>,
  path: string,
): Promise<{ sessionId: string; cwd: string }> {
  const lines = await readLog(path);
  const named = basename(path).replace(/\.jsonl$/, '');
  const sessionId = isSessionId(named) ? named : idOf(lines);
  const cwd = cwdOf(lines);
  if (sessionId === undefined || cwd === undefined) {
    throw new HeddleError('session_unreadable', `The file ${path} is not the log of a session.`, {
      hint: 'A log has one JSON object on each line, with `sessionId` and `cwd`. Nothing was changed.',
    });
  }
  const source = createMemoryStore();
  await source.append({ sessionId, cwd }, lines);
  // What nobody could resume must not be taken in.
  await loadSession(source, sessionId);
  await importSessionToStore({ store: source }, { sessionId, target: store });
  return { sessionId, cwd };
}

function idOf(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const found = /"sessionId":"([^"]*)"/.exec(line)?.[1];
    if (found !== undefined && isSessionId(found)) return found;
  }
  return undefined;
}
