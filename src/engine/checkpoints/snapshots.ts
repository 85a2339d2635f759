/** Contents of files by their hash, in a folder of the session. Bounded: the oldest that are not needed go first. */
import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWhole } from '../workspace/files.js';
import { makeFolders } from '../workspace/folders.js';
import { hashOf, isHash } from './file-state.js';

export interface SnapshotLimits {
  count: number;
  bytes: number;
}

export const SNAPSHOT_LIMITS: SnapshotLimits = { count: 1_000, bytes: 256 * 1024 * 1024 };

export interface Snapshots {
  /** Undefined when it is kept, otherwise the reason why not. Never throws. */
  keep(hash: string, content: Uint8Array): Promise<string | undefined>;
  /** Undefined when it is not there, or is not what it was. */
  read(hash: string): Promise<Uint8Array | undefined>;
  has(hash: string): boolean;
  /** These stay, whatever happens, until the returned function is called. */
  pin(hashes: readonly string[]): () => void;
  /** Removes what nobody needs. */
  prune(): void;
}

export interface SnapshotParts {
  folder: string;
  limits: SnapshotLimits;
  needed(): { hashes: string[]; current: number };
}

export function createSnapshots({ folder, limits, needed }: SnapshotParts): Snapshots {
  let known: Map<string, number> | undefined;
  let bytes = 0;
  let pinned: ReadonlySet<string> = new Set();
  let drafts = 0;

  const sizes = (): Map<string, number> => {
    if (known === undefined) {
      known = readSizes(folder);
      for (const size of known.values()) bytes += size;
    }
    return known;
  };
  const remove = (hash: string): void => {
    rmSync(join(folder, hash), { force: true });
    bytes -= sizes().get(hash) ?? 0;
    sizes().delete(hash);
  };
  const isFull = (more: number): boolean => sizes().size >= limits.count || bytes + more > limits.bytes;
  /** Lets old ones go until there is room. */
  const makeRoom = (more: number): boolean => {
    if (!isFull(more)) return true;
    const { hashes, current } = needed();
    const useful = new Set(hashes);
    const oldest = [...[...sizes().keys()].filter((hash) => !useful.has(hash)), ...hashes.slice(current).toReversed()];
    for (const hash of oldest) {
      if (!sizes().has(hash) || pinned.has(hash)) continue;
      remove(hash);
      if (!isFull(more)) return true;
    }
    return false;
  };

  return {
    has: (hash) => sizes().has(hash),
    async keep(hash, content) {
      try {
        if (sizes().has(hash)) return undefined;
        if (!makeRoom(content.length)) return full(limits);
        makeFolders(folder);
        const draft = join(folder, `.${hash}.${process.pid}.${++drafts}.tmp`);
        await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
        renameSync(draft, join(folder, hash));
        sizes().set(hash, content.length);
        bytes += content.length;
        return undefined;
      } catch (error) {
        return `It could not be kept: ${error instanceof Error ? error.message : String(error)}`;
      }
    },
    async read(hash) {
      const content = await readWhole(join(folder, hash)).catch(() => undefined);
      return content !== undefined && hashOf(content) === hash ? content : undefined;
    },
    pin(hashes) {
      const before = pinned;
      pinned = new Set([...before, ...hashes]);
      return () => {
        pinned = before;
      };
    },
    prune() {
      const useful = new Set(needed().hashes);
      for (const hash of sizes().keys()) if (!useful.has(hash) && !pinned.has(hash)) remove(hash);
    },
  };
}

const full = ({ count, bytes }: SnapshotLimits): string =>
  `A session keeps ${count} copies and ${bytes / (1024 * 1024)} MB at most, and this turn has used them up.`;

/** What a dead process had not finished is removed. */
function readSizes(folder: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of listFolder(folder)) {
    const path = join(folder, name);
    if (isHash(name)) sizes.set(name, lstatSync(path).size);
    else rmSync(path, { force: true });
  }
  return sizes;
}

const listFolder = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
