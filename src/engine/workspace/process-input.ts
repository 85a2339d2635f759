/** What a process reads on its standard input. */
import { closeSync, constants, fstatSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { ProcessSpec } from '../../protocol/index.js';
import { openFolder } from './exact-folder.js';
import { codeOf, linkError, retell, systemError } from './system-error.js';

/** Opening a FIFO must not wait for a writer. */
const AS_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The caller closes it. Undefined when there is no input. */
export function openInput({ input, inputFile }: ProcessSpec): number | undefined {
  if (inputFile !== undefined) return openFile(inputFile);
  return input === undefined ? undefined : openData(input);
}

/** Throws errors that name `path`. */
function openFile(path: string): number {
  try {
    const folder = openFolder(dirname(path));
    try {
      return openOrdinary(folder.at(basename(path)), path);
    } finally {
      folder.close();
    }
  } catch (error) {
    throw codeOf(error) === 'ELOOP' ? linkError(path) : retell(error, { action: 'read', path });
  }
}

function openOrdinary(place: string, path: string): number {
  const file = openSync(place, AS_FILE);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw systemError('EINVAL', 'it is not an ordinary file, read', path);
}

/**
 * A file without a name that holds the input. Pipes of Node are sockets: programs cannot open those as /dev/stdin, and
 * bash takes them for a remote login and runs what ~/.bashrc says.
 */
function openData(data: Uint8Array): number {
  const path = join(tmpdir(), `heddle-${crypto.randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path);
    // By position, so that whoever reads starts at the beginning.
    for (let at = 0; at < data.byteLength; ) at += writeSync(file, data, at, data.byteLength - at, at);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return file;
}
