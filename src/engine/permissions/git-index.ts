/** Names of the files that git has taken up, whether they are on the disk or not. */
import { dirname, resolve } from 'node:path/posix';

/** Of an entry, what stands before its name: times, owners, mode, size, digest and flags. */
const HEAD = 62;
const MODE_AT = 24;
const FOLDER_MODE = 0o40000;
const LINK_MODE = 0o120000;
const REPOSITORY_MODE = 0o160000;
const EXTENDED = 0x4000;
const LENGTH = 0xfff;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CONFIG = 256 * 1024;
/** How far up a repository is looked for. */
const MAX_ABOVE = 64;

interface Entry {
  name: string;
  kind: 'file' | 'directory' | 'link';
}

export interface IndexDisk {
  list(folder: string): Promise<readonly Entry[] | undefined>;
  readFile(path: string, options: { maxBytes: number }): Promise<Uint8Array>;
}

/** What git has taken up. */
export interface IndexEntry {
  name: string;
  kind: 'file' | 'link' | 'repository';
}

/** The index of a repository. */
export interface Tracked {
  /** The folder that its names start from; absent where there is no repository, or it is not certain that it is one. */
  top?: string;
  entries: readonly IndexEntry[];
}

/** The index of the repository that a folder is in; undefined when that cannot be told. */
export async function trackedIn(folder: string, disk: IndexDisk): Promise<Tracked | undefined> {
  let at = folder;
  for (let count = 0; count < MAX_ABOVE; count += 1) {
    const entries = await disk.list(at);
    if (entries === undefined) return undefined;
    const found = entries.find(({ name }) => name === '.git');
    // What looks like a repository itself is one to git.
    const isPlain = !entries.some(({ name }) => /^head$/i.test(name));
    if (found !== undefined) {
      const own = await ownFolder(resolve(at, '.git'), found.kind, disk);
      const read = own === undefined ? undefined : await readIndex(own, disk);
      const isTop = isPlain && own !== undefined && (await isRepository(own, disk)) && (await startsAt(at, own, disk));
      return read && { entries: read, ...(isTop && { top: at }) };
    }
    if (!isPlain) return undefined;
    if (at === '/') return { entries: [] };
    at = dirname(at);
  }
  return undefined;
}

/** A worktree says where its own part of the repository is. */
async function ownFolder(place: string, kind: Entry['kind'], disk: IndexDisk): Promise<string | undefined> {
  if (kind !== 'file') return place;
  try {
    const text = new TextDecoder().decode(await disk.readFile(place, { maxBytes: 4_096 }));
    const [, elsewhere] = /^gitdir: ([^\n]+)\n?$/.exec(text) ?? [];
    return elsewhere === undefined ? undefined : resolve(dirname(place), elsewhere);
  } catch {
    return undefined;
  }
}

/** Git takes it for one, and does not look further up. */
async function isRepository(own: string, disk: IndexDisk): Promise<boolean> {
  const names = new Set((await disk.list(own))?.map(({ name }) => name));
  const hasParts = names.has('commondir') || (names.has('objects') && names.has('refs'));
  if (!hasParts || !names.has('index')) return false;
  try {
    const head = new TextDecoder().decode(await disk.readFile(`${own}/HEAD`, { maxBytes: 4_096 }));
    return /^(?:ref: refs\/[^\n]+|[\da-f]{40})\n?$/.test(head);
  } catch {
    return false;
  }
}

/** The names in its index start from this folder: its configuration may name another. */
async function startsAt(top: string, own: string, disk: IndexDisk): Promise<boolean> {
  const read = async (name: string): Promise<string> => {
    try {
      return new TextDecoder().decode(await disk.readFile(resolve(own, name), { maxBytes: MAX_CONFIG }));
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code === 'ENOENT') return '';
      throw error;
    }
  };
  try {
    const common = (await read('commondir')).trim() || '.';
    const configs = await Promise.all([`${common}/config`, 'config.worktree'].map(read));
    return configs.every((text) => {
      const [, tree] = /^\s*worktree\s*=\s*(.*?)\s*$/im.exec(text) ?? [];
      return !/^\s*\[include/im.test(text) && (tree === undefined || resolve(own, tree) === top);
    });
  } catch {
    return false;
  }
}

async function readIndex(own: string, disk: IndexDisk): Promise<readonly IndexEntry[] | undefined> {
  try {
    return entriesInIndex(await disk.readFile(`${own}/index`, { maxBytes: MAX_BYTES }));
  } catch (error) {
    return (error as { code?: unknown } | null)?.code === 'ENOENT' ? [] : undefined;
  }
}

/** Undefined for an index of which not all is here: one that is split, or leaves folders folded. */
export function entriesInIndex(data: Uint8Array): IndexEntry[] | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  const entries: IndexEntry[] = [];
  let at = 12;
  let last = Buffer.alloc(0);
  for (let left = count; left > 0; left -= 1) {
    const mode = at + HEAD > bytes.length ? FOLDER_MODE : bytes.readUInt32BE(at + MODE_AT);
    if (mode === FOLDER_MODE) return undefined;
    const flags = bytes.readUInt16BE(at + HEAD - 2);
    let start = at + HEAD + ((flags & EXTENDED) === 0 ? 0 : 2);
    // Of the name before it a part is left out, and the rest goes on in front of this one.
    let kept = Buffer.alloc(0);
    if (version === 4) {
      const { value, next } = readNumber(bytes, start);
      kept = last.subarray(0, last.length - value);
      start = next;
    }
    const end = bytes.indexOf(0, start);
    if (end === -1) return undefined;
    last = Buffer.concat([kept, bytes.subarray(start, end)]);
    // In a repository with longer digests nothing stands where it is looked for.
    if (last.length !== (flags & LENGTH) && last.length < LENGTH) return undefined;
    const kind = mode === LINK_MODE ? 'link' : mode === REPOSITORY_MODE ? 'repository' : 'file';
    entries.push({ name: last.toString('utf8'), kind });
    at = version === 4 ? end + 1 : at + Math.ceil((end - at + 1) / 8) * 8;
  }
  return isWhole(bytes, at) ? entries : undefined;
}

/** Seven bits of each byte, the highest first; each byte but the last adds one. */
function readNumber(bytes: Buffer, start: number): { value: number; next: number } {
  let at = start;
  let byte = bytes[at] ?? 0;
  let value = byte & 0x7f;
  while (byte >= 0x80) {
    at += 1;
    byte = bytes[at] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at + 1 };
}

/** Behind the entries come extensions, and a digest of 20 bytes; those in small letters must be understood. */
function isWhole(bytes: Buffer, start: number): boolean {
  let at = start;
  while (at + 8 <= bytes.length - 20) {
    if (/^[^A-Z]/.test(bytes.toString('latin1', at, at + 4))) return false;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at <= bytes.length;
}
