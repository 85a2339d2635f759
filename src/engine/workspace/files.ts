/** Files of the local disk: whole reads of ordinary files, and writes that replace all or nothing. */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, chown, constants, lstat, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { FileStat } from '../../protocol/index.js';
import { makeFolders } from './folders.js';

/** An error as the system would give it, with its code. */
const systemError = (code: string, reason: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${reason} '${path}'`), { code, path });

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';

const kindOf = (stats: Stats): FileStat['kind'] => {
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : 'other';
};

const checkOrdinary = (stats: Stats, path: string, action: string): void => {
  const kind = kindOf(stats);
  if (kind === 'directory') throw systemError('EISDIR', `illegal operation on a directory, ${action}`, path);
  if (kind === 'other') throw systemError('EINVAL', `not an ordinary file, ${action}`, path);
};

const READ_SIZE = 1024 * 1024;

export async function readWhole(path: string, options: { maxBytes?: number } = {}): Promise<Uint8Array> {
  const maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  // Opening a FIFO would wait for a writer, and opening a device may do something.
  checkOrdinary(await stat(path), path, 'read');
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await file.stat();
    checkOrdinary(stats, path, 'read');
    if (stats.size > maxBytes) throw systemError('EFBIG', `larger than ${maxBytes} bytes, read`, path);
    // The size is a guess: files of /proc say 0, and others grow while they are read.
    let buffer = Buffer.allocUnsafe(stats.size + 1);
    let length = 0;
    while (true) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (length > maxBytes) throw systemError('EFBIG', `larger than ${maxBytes} bytes, read`, path);
      if (bytesRead === 0) return buffer.subarray(0, length);
      if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(Math.max(length, READ_SIZE))]);
    }
  } finally {
    await file.close();
  }
}

const statOrNothing = async (path: string): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
};

export async function statFile(path: string): Promise<FileStat | undefined> {
  const stats = await statOrNothing(path);
  if (stats === undefined) return undefined;
  return { kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs, mode: stats.mode & 0o7777 };
}

/** Writes beside the target and renames, so that a reader finds the old file or the new one. Links stay links. */
export async function writeWhole(path: string, data: Uint8Array): Promise<void> {
  const target = await resolveReal(path);
  const existing = await statOrNothing(target);
  if (existing !== undefined) checkOrdinary(existing, path, 'write');
  else makeFolders(dirname(target), 0o777);
  const draft = join(dirname(target), `.heddle-${randomUUID()}.tmp`);
  try {
    const file = await open(draft, 'wx', existing === undefined ? 0o666 : 0o600);
    try {
      await file.writeFile(data);
    } finally {
      await file.close();
    }
    if (existing !== undefined) await keepAttributes(draft, existing);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function keepAttributes(draft: string, existing: Stats): Promise<void> {
  const own = await stat(draft);
  // Only a privileged process may give a file away; for others the owner changes, as with any editor that renames.
  if (own.uid !== existing.uid || own.gid !== existing.gid) {
    await chown(draft, existing.uid, existing.gid).catch(() => undefined);
  }
  await chmod(draft, existing.mode & 0o7777);
}

const MAX_LINKS = 40;

/** Resolves every link, dangling ones too: a write to such a link would make its target. */
export async function resolveReal(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if (links > MAX_LINKS) throw systemError('ELOOP', 'too many symbolic links encountered, realpath', path);
  const folder = dirname(path);
  if (folder === path) return path;
  const parent = await resolveReal(folder, links);
  const here = join(parent, basename(path));
  if (await isLink(here)) return resolveReal(resolve(parent, await readlink(here)), links + 1);
  return here;
}

const isLink = async (path: string): Promise<boolean> => {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};
