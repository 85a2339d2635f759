import { basename } from 'node:path';
import { HeddleError, isSessionId } from '../../protocol/plain.js';
import { isLifeEntry, type LifeEntry } from '../sessions/entry.js';
import { importSessionToStore } from './copy.js';
import { cwdOf, readLog } from '../stores/log-reader.js';
import { createMemoryStore } from '../stores/memory-store.js';
import type { SessionParts } from './named.js';
import { forEachSlowly } from './slices.js';
import { loadSession } from '../sessions/resume.js';

/**
 * Takes the log of a session that was written elsewhere into the store. Whoever wrote it may have put anything there, so
 * it brings the conversation and what it cost; nothing in it allows, runs or removes anything here.
 */
export async function importSessionFile(
  { store }: Pick<SessionParts, 'store'>,
  path: string,
): Promise<{ sessionId: string; cwd: string }> {
  const lines = await readLog(path);
  const named = basename(path).replace(/\.jsonl$/, '');
  const sessionId = (isSessionId(named) ? named : idOf(lines))?.toLowerCase();
  const cwd = cwdOf(lines);
  if (sessionId === undefined || cwd === undefined) {
    throw new HeddleError('session_unreadable', `The file ${path} is not the log of a session.`, {
      hint: 'A log has one JSON object on each line, with `sessionId` and `cwd`. Nothing was changed.',
    });
  }
  const source = createMemoryStore();
  await source.append({ sessionId, cwd }, await withoutPowers(lines));
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

/**
 * What may be known of a life elsewhere. Not: answers to questions, rules that were granted, the mode, files that could be
 * put back or count as read, tasks and messages that wait, for those are of that machine and its people.
 */
const KEPT: ReadonlySet<LifeEntry['kind']> = new Set([
  'session',
  'turn',
  'step',
  'aborted',
  'aside',
  'fallback',
  'list',
  'branch',
  'trim',
  'mark',
]);

const isKept = (entry: LifeEntry): boolean =>
  // Calls that have begun elsewhere may have run.
  entry.kind === 'call' ? entry.state === 'started' : KEPT.has(entry.kind);

/** A turn that is open there is not gone on with here: its calls would run. */
async function withoutPowers(lines: readonly string[]): Promise<string[]> {
  const kept: string[] = [];
  let open = new Set<number>();
  await forEachSlowly(lines, (line) => {
    const entry = toLife(line);
    if (entry !== undefined && !isKept(entry)) return;
    if (entry?.kind === 'turn') {
      if (entry.state === 'started') open.add(kept.length);
      else open = new Set();
    }
    kept.push(line);
  });
  return kept.filter((_line, at) => !open.has(at));
}

/** Reads every line: a name can be written in ways that only a parser sees through. */
function toLife(line: string): LifeEntry | undefined {
  try {
    const value = JSON.parse(line) as LifeEntry | null;
    return typeof value === 'object' && value !== null && isLifeEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
