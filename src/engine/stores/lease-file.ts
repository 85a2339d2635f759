import {
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openOwnFile, readOwnBytes } from '../workspace/own-file.js';
import { type Holder, isAlive, Locked, parseHolder, SILENT_MS } from './lease.js';

/**
 * Takes the lease that a file stands for; undefined when it is ours.
 *
 * The file of a dead holder must not simply be replaced: of two who see him dead, the slower would replace the faster.
 * So whoever follows a holder makes a file that is named after him, which can be made once. The holder is the last of
 * the chain from the lease file along these; he puts himself at its start, and then nobody looks at the rest again.
 */
export function takeLeaseFile(path: string, self: Holder): Locked | undefined {
  const draft = `${path}.${self.token}`;
  try {
    for (;;) {
      rmSync(draft, { force: true });
      writeHolder(draft, self);
      const outcome = tryOnce(path, { self, draft });
      if (outcome !== 'again') return outcome;
    }
  } finally {
    remove(draft);
  }
}

function tryOnce(path: string, { self, draft }: { self: Holder; draft: string }): Locked | undefined | 'again' {
  if (appear(draft, path, self)) return undefined;
  const last = walk(path).at(-1);
  if (last === undefined) return 'again';
  const locked = lockOf(last, self, draft);
  if (locked) return locked;
  const next = nextOf(path, last);
  if (!appear(draft, next, self)) return 'again';
  // Someone may have been there and gone meanwhile: then we followed one whom nobody follows any more.
  if (walk(path).at(-1)?.token !== self.token) {
    remove(next);
    return 'again';
  }
  renameSync(next, path);
  sweep(path);
  return undefined;
}

/** What the file of a holder says now: still `ours`, `gone`, or that of someone who took it for dead. A sign of life, too. */
export function renewLeaseFile(path: string, self: Holder): 'ours' | 'gone' | Locked {
  let file: number;
  try {
    file = openOwnFile(path, 'update');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    const text = readText(file);
    const holder = parseHolder(text);
    if (holder?.token !== self.token) return new Locked(holder);
    // Written, not touched: so the time is that of the disk, by which others measure.
    writeSync(file, text, 0);
    return 'ours';
  } finally {
    closeSync(file);
  }
}

/** Never throws. */
export function dropLeaseFile(path: string, self: Holder): void {
  try {
    if (readHolder(path)?.token === self.token) unlinkSync(path);
  } catch {
    // It is gone, or it is of no use to anyone once this process has ended.
  }
}

/** Who holds a lease that cannot be taken now, as far as anyone can tell who cannot write. */
export function seeHolder(path: string, self: Holder): Locked | undefined {
  const last = walk(path).at(-1);
  return last && lockOf(last, self);
}

const MAX_BYTES = 4096;

function readHolder(path: string): Holder | undefined {
  const file = openOwnFile(path, 'read');
  try {
    return parseHolder(readText(file));
  } finally {
    closeSync(file);
  }
}

const readText = (file: number): string => readOwnBytes(file, { at: 0, length: MAX_BYTES }).toString();

interface Seen {
  holder: Holder | undefined;
  token: string;
  lastSign: number;
}

function walk(path: string): Seen[] {
  const chain: Seen[] = [];
  for (let seen = look(path); seen !== undefined; seen = look(nextOf(path, seen))) chain.push(seen);
  return chain;
}

const nextOf = (path: string, { token }: Seen): string => `${path}.${token}.next`;

function look(path: string): Seen | undefined {
  try {
    const { mtimeMs } = lstatSync(path);
    const holder = readHolder(path);
    return { holder, token: holder?.token ?? `at-${Math.floor(mtimeMs)}`, lastSign: mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The draft was written just now: both times are of the same disk, whatever the clocks of the machines say. */
function lockOf({ holder, lastSign }: Seen, self: Holder, draft?: string): Locked | undefined {
  const alive = holder && isAlive(holder, self);
  if (alive !== undefined) return alive ? new Locked(holder) : undefined;
  const written = draft === undefined ? undefined : lstatSync(draft, { throwIfNoEntry: false });
  const leftMs = SILENT_MS - ((written?.mtimeMs ?? Date.now()) - lastSign);
  if (leftMs <= 0) return undefined;
  return holder ? new Locked(holder) : new Locked(undefined, { leftMs });
}

/** Makes the file. */
function writeHolder(path: string, self: Holder): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, JSON.stringify(self));
  } finally {
    closeSync(file);
  }
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Makes a file that is there whole or not at all. False when there is one already. */
function appear(draft: string, path: string, self: Holder): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    // The draft is missing when another holder has swept: it is written again.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false;
    if (!NO_LINKS.has(codeOf(error))) throw error;
  }
  // A disk without links. Whoever dies right here leaves an empty file, which is dead when it is old.
  try {
    writeHolder(path, self);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Removes what those left who died while they took the lease; whoever is still trying begins again. */
function sweep(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) if (name.startsWith(prefix)) remove(join(dirname(path), name));
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone already.
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
