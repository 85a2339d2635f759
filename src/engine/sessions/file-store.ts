import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SessionKey, SessionStore } from '../../protocol/index.js';
import { HeddleError, isSessionId } from '../../protocol/plain.js';
import { makeFolders } from '../workspace/folders.js';

const SUFFIX = '.jsonl';

/** The folder name under which sessions of a working directory are kept. */
export const projectSlug = (cwd: string): string => cwd.replace(/[^a-zA-Z0-9]/g, '-');

/**
 * One append-only JSONL file per session at `<configDir>/projects/<slug>/<session id>.jsonl`. Writes are synchronous: an
 * awaited write costs ten times more, and an entry must be kept before its Message is shown.
 */
export function createFileStore(options: { configDir: string }): SessionStore {
  const projects = join(options.configDir, 'projects');
  const descriptors = new Map<string, { fd: number; cwd: string }>();
  const pathOf = (key: SessionKey) => join(projects, projectSlug(key.cwd), key.sessionId + SUFFIX);

  const open = (key: SessionKey): number => {
    const known = descriptors.get(key.sessionId);
    if (known?.cwd === key.cwd) return known.fd;
    const path = pathOf(key);
    makeFolders(dirname(path));
    const fd = openSync(path, 'a+', 0o600);
    closeTornTail(fd);
    descriptors.set(key.sessionId, { fd, cwd: key.cwd });
    return fd;
  };

  const find = async (sessionId: string): Promise<{ path: string; slug: string } | undefined> => {
    for (const slug of await foldersOf(projects)) {
      const path = join(projects, slug, sessionId + SUFFIX);
      if (await stat(path).catch(() => undefined)) return { path, slug };
    }
    return undefined;
  };

  const release = (sessionId: string) => {
    const known = descriptors.get(sessionId);
    if (known === undefined) return;
    descriptors.delete(sessionId);
    closeSync(known.fd);
  };

  return {
    append(key, lines, { sync = false } = {}) {
      const fd = open(key);
      writeAll(fd, Buffer.from(lines.map((line) => `${line}\n`).join('')));
      if (sync) fdatasyncSync(fd);
    },
    async load(sessionId) {
      if (!isSessionId(sessionId)) return undefined;
      const found = await find(sessionId);
      if (found === undefined) return undefined;
      const text = await readFile(found.path, 'utf8').catch((cause: unknown) => {
        throw new HeddleError('session_unreadable', `The log ${found.path} cannot be read.`, { cause });
      });
      const lines = wholeLines(text);
      return { key: { sessionId, cwd: cwdOf(lines) ?? found.slug }, lines };
    },
    async list({ cwd } = {}) {
      const slugs = cwd === undefined ? await foldersOf(projects) : [projectSlug(cwd)];
      const found = [];
      for (const slug of slugs) {
        for (const name of await readdir(join(projects, slug)).catch(() => [])) {
          const sessionId = name.slice(0, -SUFFIX.length);
          if (!name.endsWith(SUFFIX) || !isSessionId(sessionId)) continue;
          const info = await stat(join(projects, slug, name)).catch(() => undefined);
          if (info) found.push({ sessionId, cwd: cwd ?? slug, lastModified: info.mtimeMs });
        }
      }
      return found.toSorted((a, b) => b.lastModified - a.lastModified);
    },
    async delete(sessionId) {
      release(sessionId);
      const found = await find(sessionId);
      if (found) await rm(found.path, { force: true });
    },
    release,
    pathOf,
  };
}

const foldersOf = async (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** A torn last line is left out; one that only lacks its newline is whole, since no prefix of an object is JSON. */
function wholeLines(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop();
  if (last !== undefined && isJson(last)) lines.push(last);
  return lines.filter((line) => line !== '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The folder is named by its slug, which cannot be turned back; entries carry the real one. */
function cwdOf(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const found = /"cwd":("(?:[^"\\]|\\.)*")/.exec(line);
    if (found?.[1]) return JSON.parse(found[1]) as string;
  }
  return undefined;
}

/** A writer that died in the middle of a line left no newline: end that line, so that the next one stands alone. */
function closeTornTail(fd: number): void {
  const { size } = fstatSync(fd);
  if (size === 0) return;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  if (last[0] !== 0x0a) writeAll(fd, Buffer.from('\n'));
}

function writeAll(fd: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written);
}
