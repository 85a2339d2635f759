/** Reads definition files within bounds: ordinary files of text, never a pipe, never more than is wanted. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { HeddleError } from '../../protocol/plain.js';
import { MAX_HEAD_CHARS, splitFrontmatter } from './frontmatter.js';

export const MAX_FILE_BYTES = 1024 * 1024;
/** Holds the frontmatter of nearly every file. */
const FIRST_READ_BYTES = 4 * 1024;
/** Holds the longest frontmatter that is read. */
const HEAD_BYTES = MAX_HEAD_CHARS * 2;

// Neither flag exists everywhere.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** The text of a file; with `headOnly` no more than its frontmatter and the first lines. Throws an Error that says why not. */
export function readDefinitionText(path: string, { headOnly }: { headOnly: boolean }): string {
  const descriptor = openSync(path, FLAGS);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error('it is not an ordinary file');
    if (stats.size > MAX_FILE_BYTES) {
      throw new Error(`it is too large: ${showMb(stats.size)} MB, and at most ${showMb(MAX_FILE_BYTES)} MB are read`);
    }
    if (!headOnly) return toText(readBytes(descriptor, stats.size));
    const first = toText(readBytes(descriptor, Math.min(stats.size, FIRST_READ_BYTES)));
    if (stats.size <= FIRST_READ_BYTES || !mayGoOn(first)) return first;
    return toText(readBytes(descriptor, Math.min(stats.size, HEAD_BYTES)));
  } finally {
    closeSync(descriptor);
  }
}

const showMb = (bytes: number): string => String(Number((bytes / 1024 / 1024).toFixed(1)));

/** The frontmatter is not closed within what was read. */
const mayGoOn = (text: string): boolean => /^\ufeff?\s*---/.test(text) && isUnclosed(text);

function isUnclosed(text: string): boolean {
  const { head, isOpen } = splitFrontmatter(text);
  return head === undefined || isOpen;
}

function readBytes(descriptor: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, buffer, filled, length - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

function toText(bytes: Buffer): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) throw new Error('it is UTF-16; save it as UTF-8');
  if (bytes.includes(0)) throw new Error('it is not a file of text');
  return bytes.toString('utf8');
}

/** The text of a command or a skill below its frontmatter, as the file is now. Throws `invalid_settings`. */
export function readBody(file: string): string {
  try {
    return splitFrontmatter(readDefinitionText(file, { headOnly: false })).body;
  } catch (error) {
    throw new HeddleError('invalid_settings', `${file} cannot be read: ${explainReadError(error)}.`, {
      hint: 'Restore or correct the file, or call something else.',
      cause: error,
      data: { file },
    });
  }
}

export function explainReadError(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'it is not there';
  if (code === 'EACCES' || code === 'EPERM') return 'reading it is not permitted';
  if (code === 'ELOOP') return 'it is a link, or links lead in a circle';
  // An unopenable socket; a file that turned into a folder.
  if (code === 'ENXIO' || code === 'EISDIR') return 'it is not an ordinary file';
  return message;
}
