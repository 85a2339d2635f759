/** Contents of many small files in one file: they are needed only if a command changes them, and few are. */
import { closeSync, ftruncateSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../workspace/folders.js';
import { openOwnFile, readOwnBytes } from '../workspace/own-file.js';
import { hashOf } from './file-state.js';

/** Hash to where its content stands and how long it is. */
export type CopyIndex = Record<string, readonly [at: number, length: number]>;

export interface Copies {
  has(hash: string): boolean;
  add(hash: string, content: Uint8Array): void;
  read(hash: string): Uint8Array | undefined;
  /** Forgets all others; gives back their room once they are the larger part. */
  retain(hashes: ReadonlySet<string>): void;
  index(): CopyIndex;
}

const MAX_PENDING_BYTES = 256 * 1024;

export function createCopies(path: string, known: CopyIndex = {}): Copies {
  const places = new Map(Object.entries(known));
  let end = 0;
  for (const [at, length] of places.values()) end = Math.max(end, at + length);

  /** Not written yet; small ones are written together. */
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  const flush = (): void => {
    if (pending.length === 0) return;
    const content = Buffer.concat(pending);
    const start = end - pendingBytes;
    makeFolders(dirname(path));
    const fd = openOwnFile(path, start === 0 ? 'write' : 'update');
    try {
      if (start === 0) ftruncateSync(fd);
      for (let done = 0; done < content.length; ) {
        done += writeSync(fd, content, done, content.length - done, start + done);
      }
    } finally {
      closeSync(fd);
    }
    pending = [];
    pendingBytes = 0;
  };
  const append = (content: Uint8Array): number => {
    pending.push(content);
    pendingBytes += content.length;
    end += content.length;
    if (pendingBytes > MAX_PENDING_BYTES) flush();
    return end - content.length;
  };
  const read = (hash: string): Uint8Array | undefined => {
    flush();
    const place = places.get(hash);
    const content = place && readAt(path, place);
    return content !== undefined && hashOf(content) === hash ? content : undefined;
  };
  const rebuild = (): void => {
    const draft = `${path}.tmp`;
    rmSync(draft, { force: true });
    const packed = createCopies(draft);
    for (const hash of places.keys()) {
      const content = read(hash);
      if (content !== undefined) packed.add(hash, content);
    }
    places.clear();
    end = 0;
    for (const [hash, [at, length]] of Object.entries(packed.index())) {
      places.set(hash, [at, length]);
      end = Math.max(end, at + length);
    }
    if (end > 0) renameSync(draft, path);
  };

  return {
    has: (hash) => places.has(hash),
    add(hash, content) {
      if (!places.has(hash)) places.set(hash, [append(content), content.length]);
    },
    read,
    retain(hashes) {
      let used = 0;
      for (const [hash, [, length]] of places) {
        if (hashes.has(hash)) used += length;
        else places.delete(hash);
      }
      if (end > 1024 * 1024 && used < end / 2) rebuild();
    },
    index() {
      flush();
      return Object.fromEntries(places);
    },
  };
}

function readAt(path: string, [at, length]: readonly [number, number]): Uint8Array | undefined {
  try {
    const fd = openOwnFile(path, 'read');
    try {
      const content = readOwnBytes(fd, { at, length });
      return content.length === length ? content : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
