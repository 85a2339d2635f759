/** One process at a time changes a file: a folder beside it is the lock, because making one either works or fails. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';

/** A change takes milliseconds: whoever holds a lock for so long is dead or stopped. */
export const STALE_AFTER_MS = 10_000;
const WAIT_MS = 15_000;
const PAUSE_MS = 15;

export interface Hold {
  /** False when someone took the lock for stale, as after a long stop: what was prepared must not be written. */
  isHeld(): boolean;
}

export interface LockOptions {
  clock: Clock;
  /** How long others are waited for. */
  waitMs?: number;
}

/** Runs with the lock of this file, which it waits for. Throws when another process does not let go of it. */
export async function withLock<T>(file: string, run: (hold: Hold) => Promise<T>, options: LockOptions): Promise<T> {
  const lock = `${file}.lock`;
  const token = join(lock, randomUUID());
  await acquire({ file, lock, token }, options);
  try {
    return await run({ isHeld: () => existsSync(token) });
  } finally {
    release(lock, token);
  }
}

interface Wanted {
  file: string;
  lock: string;
  token: string;
}

async function acquire({ file, lock, token }: Wanted, { clock, waitMs = WAIT_MS }: LockOptions): Promise<void> {
  const deadline = clock.monotonic() + waitMs;
  while (!take(lock, token)) {
    if (dropStale(lock, clock)) continue;
    if (clock.monotonic() > deadline) {
      throw new HeddleError('invalid_settings', `${file} is being changed by another process.`, {
        retryable: true,
        hint: `Try again. If no other process is at work, delete the folder ${lock}.`,
        data: { file },
      });
    }
    await new Promise<void>((resolve) => {
      clock.after(PAUSE_MS * (1 + clock.random()), resolve);
    });
  }
}

function take(lock: string, token: string): boolean {
  try {
    mkdirSync(lock, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeFileSync(token, '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    // Someone took the empty folder for a stale lock.
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Moves a stale lock out of the way. Two who try at once must not take away what a third has made meanwhile. */
function dropStale(lock: string, clock: Clock): boolean {
  const seen = statSync(lock, { throwIfNoEntry: false });
  if (seen === undefined) return true;
  if (clock.now() - seen.mtimeMs < STALE_AFTER_MS) return false;
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
  } catch {
    return false;
  }
  if (statSync(aside, { throwIfNoEntry: false })?.ino !== seen.ino) {
    try {
      renameSync(aside, lock);
      return false;
    } catch {
      // Its owner sees that the lock is no longer his, and begins anew.
    }
  }
  rmSync(aside, { recursive: true, force: true });
  return true;
}

function release(lock: string, token: string): void {
  if (!existsSync(token)) return;
  rmSync(token, { force: true });
  try {
    rmdirSync(lock);
  } catch {
    // Nothing is broken: the next one finds it stale.
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
