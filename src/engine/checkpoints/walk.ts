/**
 * A bounded look at the files of folders, on the local disk: names, times and sizes, no contents. Nothing is read
 * through a link.
 */
import { type BigIntStats, lstatSync, opendirSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** A path as it is shown and kept, and as the system knows it when its name is not UTF-8. */
export interface Place {
  path: string;
  bytes?: Buffer;
}

export interface SeenFile {
  kind: 'file' | 'link' | 'other';
  /** Changes whenever the file does. */
  sign: string;
  /** It was changed right before it was looked at, within the precision of the disk's clock: the sign proves nothing. */
  fresh: boolean;
  size: number;
  mode: number;
  /** Its name is not UTF-8, so that no tool can name it. */
  odd?: true;
}

export interface Walk {
  files: Map<string, SeenFile>;
  /** With their modes. */
  folders: Map<string, number>;
  /** Folders that are never looked into, with their signs. */
  skipped: Map<string, string>;
  /** Folders that were not looked into, or not all of it: there was too much. */
  unseen: string[];
}

export interface WalkOptions {
  maxEntries: number;
  isExcluded(path: string): boolean;
  now(): number;
}

/** Their contents can be made again, and are many. */
const SKIPPED = new Set(['node_modules']);
const LEFT_OUT = new Set(['.git']);

/** Whether nothing on the way to a path, told from where a walk starts, is left out of it. */
export const isWalked = (path: string): boolean =>
  path.split(sep).every((name) => !SKIPPED.has(name) && !LEFT_OUT.has(name));

/** Times are those of the system's last tick, 10 ms ago at most; a disk may count in less. */
const TICK_MS = 30;

/** Lets others have their turn after every so many steps, each of which blocks them for a moment. */
export function createPauses(steps: number): () => Promise<void> | undefined {
  let count = 0;
  return () => {
    count += 1;
    return count % steps === 0 ? new Promise(setImmediate) : undefined;
  };
}

const createWalk = (): Walk => ({ files: new Map(), folders: new Map(), skipped: new Map(), unseen: [] });

/** Looks at files, and at folders with all that is in them, until there are `maxEntries`: earlier starts first. */
export async function walk(starts: readonly Place[], options: WalkOptions): Promise<Walk> {
  const found = createWalk();
  const unseen = new Set<string>();
  const pause = createPauses(200);
  for (const start of starts) {
    // Level by level, so that what is cut off is deep.
    const queue = [start];
    for (let at = 0; at < queue.length; at += 1) {
      await pause();
      const room = options.maxEntries - found.files.size - found.folders.size - (queue.length - at - 1);
      const place = queue[at] ?? start;
      const below = visit(place, { room, found, unseen, options });
      for (const one of below) queue.push(one);
    }
  }
  return { ...found, unseen: [...unseen] };
}

interface Visit {
  /** So many more can be looked at, this one included. */
  room: number;
  found: Walk;
  unseen: Set<string>;
  options: WalkOptions;
}

/** Looks at one place; gives what is to be looked at below it. */
function visit(place: Place, { room, found, unseen, options }: Visit): Place[] {
  const { path } = place;
  if (options.isExcluded(path) || found.files.has(path) || found.folders.has(path)) return [];
  const stats = look(place);
  if (stats === undefined) return [];
  if (room <= 0) {
    unseen.add(stats.isDirectory() ? path : dirname(path));
    return [];
  }
  if (!stats.isDirectory()) {
    found.files.set(path, toSeen(place, stats, options.now()));
    return [];
  }
  if (SKIPPED.has(basename(path))) {
    found.skipped.set(path, signOf(stats));
    return [];
  }
  found.folders.set(path, Number(stats.mode) & 0o7777);
  const names = listNames(place, room - 1);
  if (names === undefined || names.length > room - 1) unseen.add(path);
  return (names ?? [])
    .slice(0, room - 1)
    .map((name) => toPlace(place, name))
    .filter((below) => !LEFT_OUT.has(basename(below.path)))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

const look = ({ path, bytes }: Place): BigIntStats | undefined => {
  try {
    return lstatSync(bytes ?? path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};

const signOf = ({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string =>
  [ino, size, mtimeNs, ctimeNs, mode].map((value) => value.toString(36)).join('.');

function toSeen({ bytes }: Place, stats: BigIntStats, now: number): SeenFile {
  const special = stats.isSymbolicLink() ? 'link' : 'other';
  return {
    kind: stats.isFile() ? 'file' : special,
    sign: signOf(stats),
    fresh: Number(stats.ctimeMs) > now - TICK_MS,
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    ...(bytes !== undefined && { odd: true }),
  };
}

/** Up to one more than `most`; undefined when the folder cannot be read. */
function listNames(folder: Place, most: number): Buffer[] | undefined {
  try {
    // The types of Node do not know that entries then have names in bytes.
    const listing = opendirSync(folder.bytes ?? folder.path, { encoding: 'buffer' as BufferEncoding });
    try {
      const names: Buffer[] = [];
      for (let entry = listing.readSync(); entry !== null; entry = listing.readSync()) {
        names.push(entry.name as unknown as Buffer);
        if (names.length > most) break;
      }
      return names;
    } finally {
      listing.closeSync();
    }
  } catch {
    return undefined;
  }
}

/** The place of a name below a folder. Bytes that are no text are shown as `\xE9`. */
export function toPlace(folder: Place, name: Buffer): Place {
  const text = name.toString();
  const isText = Buffer.from(text).equals(name);
  const path = join(folder.path, isText ? text : showBytes(name));
  if (isText && folder.bytes === undefined) return { path };
  return { path, bytes: Buffer.concat([folder.bytes ?? Buffer.from(folder.path), Buffer.from(sep), name]) };
}

const showBytes = (name: Buffer): string =>
  name.toString('latin1').replace(/[^\x20-\x7e]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).toUpperCase()}`);
