import type { ReadLedger } from '../../protocol/index.js';
import { createSha256 } from '../workspace/sha256.js';

export interface LedgerOptions {
  /** Real path to hash, as it was told to `onNote` before a resume. */
  known?: Readonly<Record<string, string>>;
  onNote?(path: string, hash: string): void;
}

/** That of a session, which may begin anew. */
export interface SessionLedger extends ReadLedger {
  /** The model knows no file any more. */
  forget(): void;
}

const hashOf = (content: Uint8Array): string => createSha256().update(content).digest('base64url');

/** Knows by content, not by time: a touched file is still known, and one changed within a clock tick is not. */
export function createReadLedger(options: LedgerOptions = {}): SessionLedger {
  const known = new Map(Object.entries(options.known ?? {}));
  return {
    note(path, content) {
      const hash = hashOf(content);
      if (known.get(path) === hash) return;
      known.set(path, hash);
      options.onNote?.(path, hash);
    },
    compare(path, content) {
      const hash = known.get(path);
      if (hash === undefined) return 'unread';
      return hash === hashOf(content) ? 'current' : 'changed';
    },
    forget: () => known.clear(),
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
