/** Copies of sessions: one that goes its own way, and one in another store. */
import { isDeepStrictEqual } from 'node:util';
import type { SessionKey, SessionStore, PublicSessionStore } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { currentTurn } from '../next-action.js';
import { HEDDLE_VERSION } from '../version.js';
import { cutAfter } from '../sessions/chain.js';
import { type Entry, isBoundary, isChainEntry, LOG_FORMAT } from '../sessions/entry.js';
import { forkEntries } from '../sessions/fork.js';
import { getSessionInfo } from './list.js';
import { type DirOption, keyOf, type SessionParts, sessionNotFound } from './named.js';
import { forEachSlowly } from './slices.js';
import { toSessionStore } from '../stores/remote-store.js';
import { loadSession } from '../sessions/resume.js';

export interface ForkOptions extends DirOption {
  /** The last message that the copy has. */
  upToMessageId?: string | undefined;
  title?: string | undefined;
}

const BATCH = 500;

/** A new session that begins with the conversation of another, under ids of its own. The other one is only read. */
export async function forkSession(
  parts: SessionParts,
  named: string,
  options: ForkOptions = {},
): Promise<{ sessionId: string }> {
  const { store, clock } = parts;
  const { sessionId } = await keyOf(parts, named, options);
  const { key, entries } = await loadSession(store, sessionId);
  const title = options.title?.trim() || `${(await getSessionInfo(parts, sessionId))?.summary ?? sessionId} (fork)`;
  const copied = cutAt(entries, options.upToMessageId);
  const fresh: SessionKey = { sessionId: clock.uuid(), cwd: key.cwd };
  const life = {
    type: 'heddle' as const,
    sessionId: fresh.sessionId,
    timestamp: new Date(clock.now()).toISOString(),
  };
  const lines: object[] = [
    { ...life, kind: 'session', format: LOG_FORMAT, heddleVersion: HEDDLE_VERSION },
    ...withFreshIds(forkEntries(copied, fresh.sessionId), () => clock.uuid()),
  ];
  // The turn that may be open is the other session's.
  if (currentTurn(copied)) lines.push({ ...life, kind: 'turn', state: 'ended', subtype: 'interrupted' });
  lines.push({
    type: 'custom-title',
    sessionId: fresh.sessionId,
    customTitle: title,
    uuid: clock.uuid(),
    timestamp: life.timestamp,
  });
  const texts: string[] = [];
  await forEachSlowly(lines, (line) => {
    texts.push(JSON.stringify(line));
  });
  await write({ store, key: fresh, lines: texts });
  return { sessionId: fresh.sessionId };
}

function cutAt(entries: readonly Entry[], at: string | undefined): readonly Entry[] {
  if (at === undefined) return entries;
  const last = entries.find((entry) => isChainEntry(entry) && entry.uuid === at);
  if (last === undefined) {
    throw new HeddleError('invalid_config', `No message found with message.uuid of: ${at}`, {
      hint: 'A fork ends with a message of this session: give the uuid of one.',
    });
  }
  // A conversation that ends with the mark of a compaction would have nothing to go on from.
  return cutAfter(entries, isBoundary(last) ? last.logicalParentUuid : at);
}

/** Every entry under a new id, its links leading where they led. */
function withFreshIds(entries: readonly Entry[], uuid: () => string): Entry[] {
  const ids = new Map<string, string>();
  for (const entry of entries) if (isChainEntry(entry)) ids.set(entry.uuid, uuid());
  const fresh = (id: string): string => ids.get(id) ?? id;
  let before: string | null = null;
  // A parent that was not copied stood right before.
  const parent = (id: string | null | undefined): string | null => (id ? (ids.get(id) ?? before) : null);
  return entries.map((entry): Entry => {
    if (!isChainEntry(entry)) {
      return 'promptUuid' in entry && entry.promptUuid ? { ...entry, promptUuid: fresh(entry.promptUuid) } : entry;
    }
    const links = { uuid: fresh(entry.uuid), parentUuid: parent(entry.parentUuid) };
    const linked = isBoundary(entry)
      ? { ...entry, ...links, logicalParentUuid: parent(entry.logicalParentUuid) }
      : { ...entry, ...links };
    before = links.uuid;
    return linked;
  });
}

export interface ImportOptions extends DirOption {
  /** Also the logs of its subagents; they are, unless told otherwise. */
  includeSubagents?: boolean | undefined;
  /** How many lines are given to the other store at once. */
  batchSize?: number | undefined;
}

/** Copies a session, line by line, into another store. What an import that broke off has left is completed. */
export async function importSessionToStore(
  { store }: Pick<SessionParts, 'store'>,
  { sessionId: named, target: given }: { sessionId: string; target: SessionStore | PublicSessionStore },
  options: ImportOptions = {},
): Promise<void> {
  const { includeSubagents = true, batchSize = BATCH } = options;
  if (!Number.isSafeInteger(batchSize) || batchSize < 1) {
    throw new HeddleError(
      'invalid_config',
      `batchSize must be a whole number of at least 1, not ${String(batchSize)}.`,
    );
  }
  const { cwd, sessionId } = await keyOf({ store }, named, options);
  const target = toSessionStore(given, { cwd });
  const agents = includeSubagents ? ((await store.agents?.(sessionId)) ?? []) : [];
  for (const agentId of [undefined, ...agents]) {
    const agent = agentId === undefined ? {} : { agentId };
    const loaded = await store.load(sessionId, agent);
    if (loaded === undefined && agentId === undefined) throw sessionNotFound(sessionId);
    if (loaded === undefined) continue;
    const there = (await target.load(sessionId, agent))?.lines ?? [];
    if (!there.every((line, at) => isSameLine(line, loaded.lines[at]))) throw existsElse(sessionId);
    await write({
      store: target,
      key: { ...loaded.key, ...agent },
      lines: loaded.lines.slice(there.length),
      batchSize,
    });
  }
}

/** A store may keep values rather than texts, and give their fields in another order. */
function isSameLine(one: string, other: string | undefined): boolean {
  if (one === other) return true;
  if (other === undefined) return false;
  try {
    return isDeepStrictEqual(JSON.parse(one), JSON.parse(other));
  } catch {
    return false;
  }
}

const existsElse = (sessionId: string): HeddleError =>
  new HeddleError('session_exists', `The other store has another session with the id ${sessionId}.`, {
    hint: 'Nothing was changed. Delete the session there, or fork this one and import the fork.',
  });

interface Writing {
  store: SessionStore;
  key: SessionKey;
  lines: readonly string[];
  batchSize?: number;
}

async function write({ store, key, lines, batchSize = BATCH }: Writing): Promise<void> {
  if (lines.length === 0) return;
  const lease = await store.lease(key);
  try {
    for (let from = 0; from < lines.length; ) {
      const to = endOfBatch(lines, { from, most: batchSize });
      await store.append(key, lines.slice(from, to), { sync: to >= lines.length });
      from = to;
      // A store of files writes before it returns.
      await new Promise(setImmediate);
    }
  } finally {
    await lease.release();
  }
}

/** A file is written while everyone waits, so a batch of long lines is short. */
const BATCH_CHARACTERS = 1024 * 1024;

function endOfBatch(lines: readonly string[], { from, most }: { from: number; most: number }): number {
  let size = 0;
  let to = from;
  while (to < lines.length && to - from < most && size < BATCH_CHARACTERS) size += lines[to++]?.length ?? 0;
  return to;
}
