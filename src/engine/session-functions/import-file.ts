import { basename } from 'node:path';
import { HeddleError, isSessionId } from '../../protocol/plain.js';
import { createRepeatFilter } from '../sessions/chain.js';
import { isLifeEntry, type LifeEntry, parseLine, toEntry, type TurnEntry } from '../sessions/entry.js';
import { loadSession } from '../sessions/resume.js';
import { cwdOf, readLog } from '../stores/log-reader.js';
import { createMemoryStore } from '../stores/memory-store.js';
import { importSessionToStore } from './copy.js';
import type { SessionParts } from './named.js';
import { forEachSlowly } from './slices.js';

/**
 * Takes the log of a session that was written elsewhere into the store. Whoever wrote it may have put anything there, so
 * it brings the conversation and what it cost; nothing in it allows, runs or removes anything here.
 */
export async function importSessionFile(
  { store }: Pick<SessionParts, 'store'>,
  path: string,
): Promise<{ sessionId: string; cwd: string }> {
  const found = await readNamed(path);
  const named = basename(path).replace(/\.jsonl$/, '');
  const sessionId = (isSessionId(named) ? named : idOf(found))?.toLowerCase();
  const lines = await withoutPowers(found, sessionId ?? '');
  const cwd = cwdOf(lines);
  if (sessionId === undefined || cwd === undefined) {
    throw new HeddleError('session_unreadable', `The file ${path} is not the log of a session.`, {
      hint: 'A log has one JSON object on each line, with `sessionId` and `cwd`, an absolute path. Nothing was changed.',
    });
  }
  const source = createMemoryStore();
  await source.append({ sessionId, cwd }, lines);
  // What nobody could resume must not be taken in.
  await loadSession(source, sessionId);
  await importSessionToStore({ store: source }, { sessionId, target: store });
  return { sessionId, cwd };
}

async function readNamed(path: string): Promise<string[]> {
  try {
    return await readLog(path, { mayBeLink: true });
  } catch (thrown) {
    if (!(thrown instanceof HeddleError)) throw thrown;
    throw new HeddleError(thrown.code, thrown.message, {
      hint: 'Nothing was changed. Give the path of a log that you may read.',
      cause: thrown,
      data: thrown.data,
    });
  }
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

/** The lines that readers of logs see, as they see them, but for what has power. */
async function withoutPowers(lines: readonly string[], sessionId: string): Promise<string[]> {
  const kept: string[] = [];
  const isNew = createRepeatFilter(lines);
  await forEachSlowly(lines, (line) => {
    const value = isNew(line) ? parseLine(line) : undefined;
    if (value === undefined) return;
    const entry = toEntry(value);
    if (isLifeEntry(value) && (entry === undefined || !isLifeEntry(entry) || !isKept(entry))) return;
    // What is said to be there twice must not make a line of ours count as a repetition.
    const { again, ...rest } = value;
    kept.push(again === undefined ? line : JSON.stringify(rest));
    if (entry?.type === 'heddle' && entry.kind === 'turn' && entry.state === 'started') {
      kept.push(JSON.stringify(endOf(entry, sessionId)));
    }
  });
  return kept;
}

/**
 * No turn is gone on with here, for its calls would run: each ends where it begins. So none is open wherever the log ends,
 * also when the import is killed half-way. The same each time, for a log that is imported twice is there once.
 */
const endOf = ({ timestamp }: TurnEntry, sessionId: string): TurnEntry => ({
  type: 'heddle',
  sessionId,
  timestamp,
  kind: 'turn',
  state: 'ended',
  subtype: 'interrupted',
});
