import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
      writeHolder(draft, 'w', self);
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
  if (holds(last, self, draft)) return new Locked(last.holder);
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
    file = openSync(path, 'r+');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'gone';
    throw error;
  }
  try {
    const bytes = Buffer.alloc(4096);
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
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
    if (parseHolder(readFileSync(path, 'utf8'))?.token === self.token) unlinkSync(path);
  } catch {
    // It is gone, or it is of no use to anyone once this process has ended.
  }
}

/** Who holds a lease that cannot be taken now, as far as anyone can tell who cannot write. */
export function seeHolder(path: string, self: Holder): Locked | undefined {
  const last = walk(path).at(-1);
  return last && holds(last, self) ? new Locked(last.holder) : undefined;
}

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
    const { mtimeMs } = statSync(path);
    const holder = parseHolder(readFileSync(path, 'utf8'));
    return { holder, token: holder?.token ?? `at-${Math.floor(mtimeMs)}`, lastSign: mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The draft was written just now: both times are of the same disk, whatever the clocks of the machines say. */
function holds({ holder, lastSign }: Seen, self: Holder, draft?: string): boolean {
  const alive = holder && isAlive(holder, self);
  if (alive !== undefined) return alive;
  const written = draft === undefined ? undefined : statSync(draft, { throwIfNoEntry: false });
  const now = written?.mtimeMs ?? Date.now();
  return now - lastSign < SILENT_MS;
}

function writeHolder(path: string, flag: 'w' | 'wx', self: Holder): void {
  const file = openSync(path, flag, 0o600);
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
    writeHolder(path, 'wx', self);
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
