/** Files of the local disk: whole reads of ordinary files, and writes that replace all or nothing. */
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readdir,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  write,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { FileStat } from '../../protocol/index.js';
import { createDraftName, removeStaleDrafts } from './drafts.js';
import { type ExactFolder, openFolder } from './exact-folder.js';
import { checkOrdinary, O_NOFOLLOW, O_NONBLOCK } from './own-file.js';
import { codeOf, isMissing, linkError, retell, systemError } from './system-error.js';

const kindOf = (stats: Stats): FileStat['kind'] => {
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : 'other';
};

/** One call that does not wait costs a tenth of one that does; larger pieces would stop everyone else for too long. */
const MAX_AT_ONCE = 1024 * 1024;
const readLater = promisify(read);
const writeLater = promisify(write);

export interface ReadOptions {
  maxBytes?: number;
  exact?: boolean;
}

export async function readWhole(path: string, options: ReadOptions = {}): Promise<Uint8Array> {
  try {
    const fd = options.exact === true ? openExactly(path) : openOrdinary(path, statSync(path));
    try {
      return await readAll(fd, path, options.maxBytes ?? Number.POSITIVE_INFINITY);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw retell(error, { action: 'read', path });
  }
}

function openExactly(path: string): number {
  const folder = openFolder(dirname(path));
  try {
    const place = folder.at(basename(path));
    return openOrdinary(place, lookAt(place, path), { path, flags: O_NOFOLLOW, folder });
  } catch (error) {
    throw codeOf(error) === 'ELOOP' ? linkError(path) : error;
  } finally {
    folder.close();
  }
}

/** What is there, if it is no link. */
function lookAt(place: string, path: string): Stats {
  const stats = lstatSync(place);
  if (stats.isSymbolicLink()) throw linkError(path);
  return stats;
}

interface OpenOptions {
  /** As the caller knows it. */
  path?: string;
  flags?: number;
  folder?: ExactFolder;
}

/** `stats` is what is there before: opening a FIFO would wait for a writer, and opening a device may do something. */
function openOrdinary(place: string, stats: Stats, options: OpenOptions = {}): number {
  const { path = place, flags = 0, folder } = options;
  checkOrdinary(stats, path, 'read');
  const fd = openSync(place, constants.O_RDONLY | O_NONBLOCK | flags);
  try {
    folder?.check();
    checkOrdinary(fstatSync(fd), path, 'read');
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

async function readAll(fd: number, path: string, maxBytes: number): Promise<Uint8Array> {
  const { size } = fstatSync(fd);
  const tooLarge = () => systemError('EFBIG', `larger than ${maxBytes} bytes, read`, path);
  if (size > maxBytes) throw tooLarge();
  // The size is a guess: files of /proc say 0, and others grow while they are read.
  let buffer = Buffer.allocUnsafe(size + 1);
  let length = 0;
  while (true) {
    const room = buffer.length - length;
    const isShort = size <= MAX_AT_ONCE && length <= MAX_AT_ONCE;
    const count = isShort
      ? readSync(fd, buffer, length, room, null)
      : (await readLater(fd, buffer, length, room, null)).bytesRead;
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > maxBytes) throw tooLarge();
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(Math.max(length, MAX_AT_ONCE))]);
  }
}

/** Writes beside the target and renames, so that a reader finds the old file or the new one. Links stay links. */
export async function writeWhole(path: string, data: Uint8Array, options: { exact?: boolean } = {}): Promise<void> {
  try {
    const target = options.exact === true ? path : resolveReal(path);
    const folder = openFolder(dirname(target), { make: true });
    try {
      await replace(folder, basename(target), { path, data });
      removeStaleDrafts(folder);
    } finally {
      folder.close();
    }
  } catch (error) {
    const told = retell(error, { action: 'write', path });
    if (told instanceof Error && codeOf(told) !== undefined) told.message += '; nothing was written';
    throw told;
  }
}

async function replace(folder: ExactFolder, name: string, file: { path: string; data: Uint8Array }): Promise<void> {
  const { path, data } = file;
  const target = folder.at(name);
  const before = lookForFile(target, path);
  // A rename asks only the folder for permission.
  if (before !== undefined) accessSync(target, constants.W_OK);
  const draft = folder.at(createDraftName());
  const fd = openSync(draft, 'wx', before === undefined ? 0o666 : 0o600);
  try {
    try {
      await writeAll(fd, data);
      if (before !== undefined) keepAttributes(fd, before);
    } finally {
      closeSync(fd);
    }
    folder.check();
    if (!isSame(before, lookForFile(target, path))) {
      throw systemError('EBUSY', 'another program changed the file meanwhile, write', path);
    }
    renameSync(draft, target);
  } catch (error) {
    removeDraft(draft);
    throw error;
  }
}

const removeDraft = (draft: string): void => {
  try {
    unlinkSync(draft);
  } catch {
    // The error that brought us here says more.
  }
};

function lookForFile(place: string, path: string): Stats | undefined {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() === true) throw linkError(path);
  if (stats !== undefined) checkOrdinary(stats, path, 'write');
  return stats;
}

const isSame = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a?.dev === b?.dev &&
  a?.ino === b?.ino &&
  a?.size === b?.size &&
  a?.mtimeMs === b?.mtimeMs &&
  a?.ctimeMs === b?.ctimeMs;

async function writeAll(fd: number, data: Uint8Array): Promise<void> {
  const isShort = data.length <= MAX_AT_ONCE;
  for (let done = 0; done < data.length; ) {
    const room = Math.min(data.length - done, MAX_AT_ONCE);
    done += isShort ? writeSync(fd, data, done, room) : (await writeLater(fd, data, done, room)).bytesWritten;
  }
}

function keepAttributes(fd: number, existing: Stats): void {
  const own = fstatSync(fd);
  const isKept = (own.uid === existing.uid && own.gid === existing.gid) || giveAway(fd, existing);
  // The rights of an owner or a group are not for another one.
  fchmodSync(fd, existing.mode & (isKept ? 0o7777 : 0o1777));
}

/** Only a privileged process may give a file away; for others the owner changes, as with any editor that renames. */
const giveAway = (fd: number, { uid, gid }: Stats): boolean => {
  try {
    fchownSync(fd, uid, gid);
    return true;
  } catch {
    return false;
  }
};

export async function statFile(path: string): Promise<FileStat | undefined> {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if (stats === undefined) return undefined;
  return { kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs, mode: stats.mode & 0o7777 };
}

const MAX_LINKS = 40;

/** Resolves every link, dangling ones too: a write to such a link would make its target. */
export function resolveReal(path: string, links = 0): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if (links > MAX_LINKS) throw systemError('ELOOP', 'too many symbolic links encountered, realpath', path);
  const folder = dirname(path);
  if (folder === path) return path;
  const parent = resolveReal(folder, links);
  const here = join(parent, basename(path));
  if (isLink(here)) return resolveReal(resolve(parent, readlinkSync(here)), links + 1);
  return here;
}

/** What is in a folder; undefined when it cannot be opened as one. */
export async function listFolder(
  folder: string,
): Promise<{ name: string; kind: 'file' | 'directory' | 'link' }[] | undefined> {
  const entries = await promisify(readdir)(folder, { withFileTypes: true }).catch(() => undefined);
  return entries?.map((entry) => ({
    name: entry.name,
    kind: entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'directory' : 'file',
  }));
}

const isLink = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};
