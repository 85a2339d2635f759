/** Names of the files that git has taken up, whether they are on the disk or not. */
import { dirname, resolve } from 'node:path/posix';

/** Of an entry, what stands before its name: times, owners, mode, size, digest and flags. */
const HEAD = 62;
const MODE_AT = 24;
const FOLDER_MODE = 0o40000;
const EXTENDED = 0x4000;
const LENGTH = 0xfff;
const MAX_BYTES = 64 * 1024 * 1024;
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

/** All names in the index of the repository that a folder is in; undefined when that cannot be told. */
export async function trackedIn(folder: string, disk: IndexDisk): Promise<readonly string[] | undefined> {
  let at = folder;
  for (let count = 0; count < MAX_ABOVE; count += 1) {
    const found = (await disk.list(at))?.find(({ name }) => name === '.git');
    if (found !== undefined) return readIndex(resolve(at, '.git'), found.kind, disk);
    if (at === '/') return [];
    at = dirname(at);
  }
  return undefined;
}

async function readIndex(place: string, kind: Entry['kind'], disk: IndexDisk): Promise<readonly string[] | undefined> {
  try {
    // A worktree says where its own part of the repository is.
    const text =
      kind === 'file' ? new TextDecoder().decode(await disk.readFile(place, { maxBytes: 4_096 })) : undefined;
    const [, elsewhere] = /^gitdir: ([^\n]+)\n?$/.exec(text ?? '') ?? [];
    if (kind === 'file' && elsewhere === undefined) return undefined;
    const own = elsewhere === undefined ? place : resolve(dirname(place), elsewhere);
    return namesInIndex(await disk.readFile(`${own}/index`, { maxBytes: MAX_BYTES }));
  } catch (error) {
    return (error as { code?: unknown } | null)?.code === 'ENOENT' ? [] : undefined;
  }
}

/** Undefined for an index of which not all is here: one that is split, or leaves folders folded. */
export function namesInIndex(data: Uint8Array): string[] | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  const names: string[] = [];
  let at = 12;
  let last = Buffer.alloc(0);
  for (let left = count; left > 0; left -= 1) {
    if (at + HEAD > bytes.length || bytes.readUInt32BE(at + MODE_AT) === FOLDER_MODE) return undefined;
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
    names.push(last.toString('utf8'));
    at = version === 4 ? end + 1 : at + Math.ceil((end - at + 1) / 8) * 8;
  }
  return isWhole(bytes, at) ? names : undefined;
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
