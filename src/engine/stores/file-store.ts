import { lstatSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, SessionKey, SessionStore, SessionSummary } from '../../protocol/index.js';
import { HeddleError, isSessionId, systemClock } from '../../protocol/plain.js';
import { readArchive, writeArchive } from './archive-file.js';
import { createLeaseFolder, type HeldLease } from './lease-folder.js';
import { type LogWriter, openLogFile } from './log-writer.js';
import { createTurns } from './turns.js';

const SUFFIX = '.jsonl';
const AGENT_FILE = /^agent-([\w-]{1,128})\.jsonl$/;
/** Logs of subagents that stay open; a session may have any number of them. */
const MAX_OPEN = 32;

/** A name may have 255 bytes; other programs that keep such files cut here, too. */
const MAX_SLUG = 200;

/** The folder name under which sessions of a working directory are kept. */
export function projectSlug(cwd: string): string {
  const slug = cwd.replace(/[^a-zA-Z0-9]/g, '-');
  return slug.length <= MAX_SLUG ? slug : `${slug.slice(0, MAX_SLUG)}-${hashOf(cwd)}`;
}

function hashOf(text: string): string {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (hash * 31 + text.charCodeAt(at)) | 0;
  return Math.abs(hash).toString(36);
}

/** Whoever begins a session reads nothing. */
let loaded: typeof import('./log-reader.js') | undefined;
const reader = async () => {
  loaded ??= await import('./log-reader.js');
  return loaded;
};

interface Writing {
  held: HeldLease;
  /** Open logs by their paths, the one used last at the end. */
  logs: Map<string, LogWriter>;
}

/**
 * One append-only JSONL file per session at `<configDir>/projects/<slug>/<session id>.jsonl`, those of its subagents in
 * `<session id>/subagents` beside it. Writes are synchronous: an awaited write costs ten times more, and an entry must be
 * kept before its Message is shown.
 */
export function createFileStore(options: { configDir: string; clock?: Clock }): SessionStore {
  const { configDir, clock = systemClock } = options;
  const projects = join(configDir, 'projects');
  const leases = createLeaseFolder({ folder: join(configDir, 'leases'), clock });
  const writing = new Map<string, Writing>();
  /** Where sessions were seen last: a guess that saves looking into every folder. */
  const places = new Map<string, string>();
  const takeTurn = createTurns();

  const folderOf = (slug: string, sessionId: string) => join(projects, slug, sessionId);
  const pathIn = (slug: string, { sessionId, agentId }: Omit<SessionKey, 'cwd'>) => {
    refuseNames(sessionId, agentId);
    const folder = folderOf(slug, sessionId);
    return agentId === undefined ? folder + SUFFIX : join(folder, 'subagents', `agent-${agentId}${SUFFIX}`);
  };
  /** A log that was found elsewhere, as after its project was moved, is gone on with there. */
  const placeOf = ({ sessionId, cwd }: SessionKey) => places.get(sessionId) ?? projectSlug(cwd);
  const pathOf = (key: SessionKey) => pathIn(placeOf(key), key);

  const openFor = ({ held, logs }: Writing, path: string): LogWriter => {
    held.check();
    const log = logs.get(path) ?? openLogFile(path);
    logs.delete(path);
    logs.set(path, log);
    const [oldest] = logs;
    if (logs.size > MAX_OPEN && oldest) {
      logs.delete(oldest[0]);
      oldest[1].close();
    }
    return log;
  };

  /** The folders that have a log of this session, newest first. */
  const find = (sessionId: string, agentId?: string): { slug: string; path: string }[] => {
    const guess = places.get(sessionId);
    if (guess !== undefined) {
      const path = pathIn(guess, { sessionId, agentId });
      if (modifiedAt(path) !== undefined) return [{ slug: guess, path }];
    }
    return foldersOf(projects)
      .map((slug) => ({ slug, path: pathIn(slug, { sessionId, agentId }) }))
      .map((place) => ({ ...place, modified: modifiedAt(place.path) }))
      .filter(({ modified }) => modified !== undefined)
      .toSorted((a, b) => (b.modified ?? 0) - (a.modified ?? 0));
  };

  const summarize = (
    slug: string,
    { sessionId, cwd = slug, hasFolder = true }: { sessionId: string; cwd?: string; hasFolder?: boolean },
  ): SessionSummary | undefined => {
    const folder = folderOf(slug, sessionId);
    const stats = statQuietly(folder + SUFFIX);
    const archive = hasFolder ? readArchive(folder) : undefined;
    return stats && { sessionId, cwd, lastModified: stats.mtimeMs, size: stats.size, ...(archive && { archive }) };
  };

  return {
    append(key, lines, { sync = false } = {}) {
      const path = pathOf(key);
      const mine = writing.get(key.sessionId);
      if (mine) return openFor(mine, path).write(lines, { sync });
      const log = openLogFile(path);
      try {
        log.write(lines, { sync });
      } finally {
        log.close();
      }
    },

    async load(sessionId, { agentId } = {}) {
      if (!isSessionId(sessionId)) return undefined;
      const [found] = find(sessionId, agentId);
      if (found === undefined) return undefined;
      places.set(sessionId, found.slug);
      const { cwdOf, readLog } = await reader();
      const lines = await readLog(found.path);
      return { key: { sessionId, cwd: cwdOf(lines) ?? found.slug, ...(agentId !== undefined && { agentId }) }, lines };
    },

    async list({ cwd } = {}) {
      const slugs = cwd === undefined ? foldersOf(projects) : [projectSlug(cwd)];
      const found: SessionSummary[] = [];
      for (const slug of slugs) {
        const names = new Set(namesIn(join(projects, slug)));
        for (const name of names) {
          const sessionId = name.slice(0, -SUFFIX.length);
          if (!name.endsWith(SUFFIX) || !isSessionId(sessionId)) continue;
          await takeTurn();
          const summary = summarize(slug, { sessionId, cwd: cwd ?? slug, hasFolder: names.has(sessionId) });
          if (summary === undefined) continue;
          places.set(sessionId, slug);
          found.push(summary);
        }
      }
      return found.toSorted((a, b) => b.lastModified - a.lastModified);
    },

    async delete(sessionId) {
      if (!isSessionId(sessionId)) return;
      const held = await leases.take(sessionId);
      try {
        for (const slug of foldersOf(projects)) {
          const folder = folderOf(slug, sessionId);
          await rm(folder + SUFFIX, { force: true });
          await rm(folder, { recursive: true, force: true });
        }
        await rm(join(configDir, 'sessions', sessionId), { recursive: true, force: true });
        places.delete(sessionId);
      } catch (cause) {
        if (cause instanceof HeddleError) throw cause;
        const text = cause instanceof Error ? cause.message : String(cause);
        throw new HeddleError('store_failed', `Session ${sessionId} cannot be deleted: ${text}.`, {
          hint: 'Some of it may be left. Make its folder writable, and delete it again.',
          cause,
        });
      } finally {
        held.release();
      }
    },

    lease({ sessionId }) {
      refuseNames(sessionId);
      const held = leases.take(sessionId);
      const begin = (taken: HeldLease) => {
        const mine: Writing = { held: taken, logs: new Map() };
        writing.set(sessionId, mine);
        return {
          release() {
            if (writing.get(sessionId) !== mine) return;
            writing.delete(sessionId);
            for (const log of mine.logs.values()) closeQuietly(log);
            taken.release();
          },
        };
      };
      return held instanceof Promise ? held.then(begin) : begin(held);
    },

    async summary(sessionId) {
      const [found] = isSessionId(sessionId) ? find(sessionId) : [];
      return found && summarize(found.slug, { sessionId });
    },

    archive(key, archive) {
      refuseNames(key.sessionId);
      writeArchive(folderOf(placeOf(key), key.sessionId), archive);
    },

    async glance(sessionId) {
      if (!isSessionId(sessionId)) return undefined;
      const { cwdOf, glanceAt } = loaded ?? (await reader());
      await takeTurn();
      const glanceIn = (slug: string) => {
        const ends = glanceAt(pathIn(slug, { sessionId }));
        if (ends === undefined) return undefined;
        places.set(sessionId, slug);
        return { key: { sessionId, cwd: cwdOf(ends.head) ?? cwdOf(ends.tail) ?? slug }, ...ends };
      };
      // After a list all are known, and to look whether it is still there would cost as much as to open it.
      const guess = places.get(sessionId);
      const glance = guess === undefined ? undefined : glanceIn(guess);
      const [found] = glance ? [] : find(sessionId);
      return found ? glanceIn(found.slug) : glance;
    },

    async agents(sessionId) {
      if (!isSessionId(sessionId)) return [];
      const names = foldersOf(projects).flatMap((slug) => namesIn(join(folderOf(slug, sessionId), 'subagents')));
      return names.flatMap((name) => AGENT_FILE.exec(name)?.[1] ?? []);
    },

    pathOf,
  };
}

/** Nothing that names a file may lead out of its folder. */
function refuseNames(sessionId: string, agentId?: string): void {
  if (isSessionId(sessionId) && (agentId === undefined || AGENT_FILE.test(`agent-${agentId}${SUFFIX}`))) return;
  const what = isSessionId(sessionId) ? `"${agentId}" is not the id of an agent` : `"${sessionId}" is not a session id`;
  throw new HeddleError('invalid_config', `${what}: nothing can be kept under it.`);
}

/** What is missing is empty; what is there and cannot be read must not look as if it were. */
function foldersOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new HeddleError('session_unreadable', `The folder ${folder} cannot be read: ${(cause as Error).message}.`, {
      hint: 'Nothing was changed. Make it a folder that you may read, or choose another configuration folder.',
      cause,
    });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Of a link, not of what it leads to: that is never opened. */
function statQuietly(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const modifiedAt = (path: string): number | undefined => statQuietly(path)?.mtimeMs;

function closeQuietly(log: LogWriter): void {
  try {
    log.close();
  } catch {
    // Its lines are written; there is nothing else to save.
  }
}
