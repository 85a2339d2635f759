/** Beside the log of an archived session lies a file that says so, where other programs that keep such logs look for it. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionArchive } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { makeFolders } from '../workspace/folders.js';
import { readOwnFile, replaceOwnFile } from '../workspace/own-file.js';

const NAME = 'archived.json';
const MAX_BYTES = 64 * 1024;

/** `folder` is what lies beside the log. Undefined when the session never was in the archive. */
export function readArchive(folder: string): SessionArchive | undefined {
  const file = join(folder, NAME);
  if (!existsSync(file) || isLink(folder)) return undefined;
  try {
    const { archived, at } = JSON.parse(
      readOwnFile(file, { maxBytes: MAX_BYTES }).toString(),
    ) as Partial<SessionArchive>;
    return typeof archived === 'boolean' && !Number.isNaN(Date.parse(String(at)))
      ? { archived, at: String(at) }
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeArchive(folder: string, { archived, at }: SessionArchive): void {
  const file = join(folder, NAME);
  try {
    if (isLink(folder)) throw new Error(`${folder} is a link`);
    makeFolders(folder);
    replaceOwnFile(file, JSON.stringify({ archived, at, by: 'heddle' }));
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new HeddleError('store_failed', `The archive ${file} cannot be written: ${text}.`, {
      hint: 'Nothing was changed. Make it a folder that can be written.',
      cause,
    });
  }
}

/** What lies beside a log is a folder of its own: through a link another place would be written to. */
const isLink = (folder: string): boolean => lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true;
