/**
 * Files that we keep, found by their names in folders of ours. Anything may stand there instead: a pipe, whose opening
 * waits for ever and with it the whole process; a link, which leads to a file of someone else. So they are opened here.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { codeOf, systemError } from './system-error.js';

const FLAGS = {
  read: constants.O_RDONLY,
  /** It must be there. */
  update: constants.O_RDWR,
  write: constants.O_RDWR | constants.O_CREAT,
  append: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT,
} as const;

/** Not known to every system. */
export const O_NOFOLLOW = constants.O_NOFOLLOW ?? 0;
export const O_NONBLOCK = constants.O_NONBLOCK ?? 0;

export interface OwnFileOptions {
  /** A person named the path, who may name a link. */
  mayBeLink?: boolean;
}

/** Opens an ordinary file and nothing else, without waiting. Whoever opens it closes it. */
export function openOwnFile(path: string, use: keyof typeof FLAGS, { mayBeLink = false }: OwnFileOptions = {}): number {
  const file = attempt(path, () => openSync(path, FLAGS[use] | O_NONBLOCK | (mayBeLink ? 0 : O_NOFOLLOW), 0o600));
  try {
    checkOrdinary(fstatSync(file), path, use);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function attempt(path: string, open: () => number): number {
  try {
    return open();
  } catch (error) {
    if (codeOf(error) === 'ELOOP') throw systemError('ELOOP', 'it is a link, not an ordinary file,', path);
    // Of a socket.
    if (codeOf(error) === 'ENXIO') throw systemError('EINVAL', NOT_ORDINARY, path);
    throw error;
  }
}

const NOT_ORDINARY = 'it is a device, pipe or socket, not an ordinary file,';

export function checkOrdinary(stats: Stats, path: string, action: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw systemError('EISDIR', `illegal operation on a directory, ${action}`, path);
  throw systemError('EINVAL', `${NOT_ORDINARY} ${action}`, path);
}

/** The whole of a file that is not large. */
export function readOwnFile(path: string, options: OwnFileOptions & { maxBytes?: number } = {}): Buffer {
  const { maxBytes = Number.POSITIVE_INFINITY } = options;
  const file = openOwnFile(path, 'read', options);
  try {
    const { size } = fstatSync(file);
    if (size > maxBytes) throw systemError('EFBIG', `larger than ${maxBytes} bytes, read`, path);
    return readOwnBytes(file, { at: 0, length: size });
  } finally {
    closeSync(file);
  }
}

/** What is there of a piece of a file. */
export function readOwnBytes(file: number, { at, length }: { at: number; length: number }): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  while (read < length) {
    const count = readSync(file, bytes, read, length - read, at + read);
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

/** All or nothing, in the place of whatever stands there: a link is replaced, what it leads to is left alone. */
export function replaceOwnFile(path: string, data: string | Uint8Array): void {
  const draft = `${path}.${process.pid}.tmp`;
  // Left by a process that died, under a number that is ours now.
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    try {
      const bytes = Buffer.from(data);
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
