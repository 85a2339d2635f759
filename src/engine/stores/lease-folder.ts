import { join } from 'node:path';
import type { Clock } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { makeFolders } from '../workspace/folders.js';
import { createHolder, HEARTBEAT_MS, type Holder, Locked, lockedError, waitForLease } from './lease.js';
import { dropLeaseFile, renewLeaseFile, seeHolder, takeLeaseFile } from './lease-file.js';

export interface HeldLease {
  /** Throws `session_locked` when someone took this holder for dead. */
  check(): void;
  /** Never throws; a second call does nothing. */
  release(): void;
}

interface Held {
  self: Holder;
  /** The disk took the file. Where it takes none, nobody can write the log either. */
  written: boolean;
  takenBy?: Locked;
}

const UNWRITABLE = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'ENOENT']);

/** One small file per session that is being written. */
export function createLeaseFolder(options: { folder: string; clock: Clock }) {
  const { folder, clock } = options;
  const held = new Map<string, Held>();
  let cancelBeat: (() => void) | undefined;
  const pathOf = (sessionId: string) => join(folder, `${sessionId}.json`);

  const attempt = (sessionId: string): HeldLease | Locked => {
    const mine = held.get(sessionId);
    if (mine !== undefined) return new Locked(mine.self);
    const one: Held = { self: createHolder(clock), written: false };
    const locked = takeFile(sessionId, one);
    if (locked) return locked;
    held.set(sessionId, one);
    cancelBeat ??= clock.after(HEARTBEAT_MS, beat, { background: true });
    return {
      check() {
        if (one.takenBy) throw lockedError(sessionId, one.takenBy.holder);
      },
      release() {
        if (held.get(sessionId) !== one) return;
        held.delete(sessionId);
        dropLeaseFile(pathOf(sessionId), one.self);
        if (held.size > 0) return;
        cancelBeat?.();
        cancelBeat = undefined;
      },
    };
  };

  /** On a disk that takes no files the lease only counts in this store, until the disk is well again. */
  const takeFile = (sessionId: string, one: Held): Locked | undefined => {
    try {
      makeFolders(folder);
      const locked = takeLeaseFile(pathOf(sessionId), one.self);
      one.written = locked === undefined;
      return locked;
    } catch (cause) {
      const { code = '', message } = cause as NodeJS.ErrnoException;
      if (UNWRITABLE.has(code)) return seeQuietly(sessionId, one.self);
      throw new HeddleError('store_failed', `Session ${sessionId} cannot be reserved in ${folder}: ${message}.`, {
        retryable: true,
        hint: 'Nothing was written. Check the folder, and try again.',
        cause,
      });
    }
  };

  const seeQuietly = (sessionId: string, self: Holder): Locked | undefined => {
    try {
      return seeHolder(pathOf(sessionId), self);
    } catch {
      return undefined;
    }
  };

  const beat = (): void => {
    cancelBeat = clock.after(HEARTBEAT_MS, beat, { background: true });
    for (const [sessionId, one] of held) {
      if (one.takenBy) continue;
      const found = renew(sessionId, one);
      if (found) one.takenBy = found;
    }
  };

  const renew = (sessionId: string, one: Held): Locked | undefined => {
    try {
      const state = one.written ? renewLeaseFile(pathOf(sessionId), one.self) : 'gone';
      if (state === 'ours') return undefined;
      return state === 'gone' ? takeFile(sessionId, one) : state;
    } catch {
      // The next beat tries again.
      return undefined;
    }
  };

  return {
    /** At once when it is free. */
    take(sessionId: string): HeldLease | Promise<HeldLease> {
      const taken = attempt(sessionId);
      if (!(taken instanceof Locked)) return taken;
      return waitForLease({ sessionId, clock, attempt: () => attempt(sessionId) });
    },
  };
}
