import { createHash } from 'node:crypto';
import type { ReadLedger } from '../../protocol/index.js';

export interface StoredReadLedger extends ReadLedger {
  /** Real path to hash, as `createReadLedger` takes it back after a resume. */
  toJSON(): Record<string, string>;
}

const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('base64url');

/** Knows by content, not by time: a touched file is still known, and one changed within a clock tick is not. */
export function createReadLedger(initial: Readonly<Record<string, string>> = {}): StoredReadLedger {
  const known = new Map(Object.entries(initial));
  return {
    note(path, content) {
      known.set(path, hashOf(content));
    },
    compare(path, content) {
      const hash = known.get(path);
      if (hash === undefined) return 'unread';
      return hash === hashOf(content) ? 'current' : 'changed';
    },
    toJSON: () => Object.fromEntries(known),
  };
}

/** Why a file must not be changed yet; undefined when the model knows what is in it. */
export function refuseUnknown(state: ReturnType<ReadLedger['compare']>): string | undefined {
  if (state === 'unread') return 'File has not been read yet. Read it first before writing to it.';
  if (state === 'changed') {
    return 'File has been modified since read, by the user or another program. Read it again before writing to it.';
  }
  return undefined;
}
