/**
 * A folder held in the hand: what is done in it happens in that very folder, whatever its path leads to meanwhile. No
 * link is followed on the way to it.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf, isMissing, linkError, systemError } from './system-error.js';

export interface ExactFolder {
  /** A path to something in the folder, good until it is closed. A link there is not resolved. */
  at(name: string): string;
  /** Throws when the folder has been removed or moved since it was opened. */
  check(): void;
  close(): void;
}

export interface FolderOptions {
  /** Missing folders are made, each below the one before. */
  make?: boolean;
}

const HANDLES = '/proc/self/fd';
/** Linux: a handle that names a place and opens nothing, so that it needs no permission to read. Node has no name for it. */
const O_PATH = 0o10000000;
const AS_FOLDER = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

let handles: boolean | undefined;
const hasHandles = (): boolean => {
  handles ??= process.platform === 'linux' && existsSync(HANDLES);
  return handles;
};

/** Throws ELOOP when a link is at `path` or on the way to it. Other errors may name a path that only this process knows. */
export const openFolder = (path: string, options: FolderOptions = {}): ExactFolder =>
  hasHandles() ? openHeld(resolve(path), options) : openNamed(resolve(path), options);

function openHeld(path: string, options: FolderOptions): ExactFolder {
  let fd: number | undefined;
  try {
    fd = openSync(path, AS_FOLDER);
  } catch (error) {
    // ENOTDIR is also said of a link; the walk tells which it is.
    if (!isMissing(error)) throw error;
  }
  if (fd !== undefined) {
    const place = placeOf(fd);
    if (place.equals(Buffer.from(path))) return hold(fd, place);
    closeSync(fd);
  }
  // Through a link, or under a name that differs in case only, on disks where that does not matter.
  const walked = walk(path, options);
  return hold(walked, placeOf(walked));
}

/** Where the system says the folder is now. In bytes, since names need not be UTF-8. */
const placeOf = (fd: number): Buffer => readlinkSync(`${HANDLES}/${fd}`, 'buffer');

function hold(fd: number, place: Buffer): ExactFolder {
  return {
    at: (name) => `${HANDLES}/${fd}/${name}`,
    check() {
      if (placeOf(fd).equals(place)) return;
      const what = fstatSync(fd).nlink === 0 ? 'removed' : 'moved';
      throw systemError('ENOENT', `the folder was ${what} meanwhile,`, place.toString());
    },
    close: () => closeSync(fd),
  };
}

/** Goes there name by name, each below the handle of the one before, so that no link can be stepped through. */
function walk(path: string, { make = false }: FolderOptions): number {
  let fd = openSync('/', AS_FOLDER);
  let here = '/';
  for (const name of path.split('/')) {
    if (name === '') continue;
    here = join(here, name);
    try {
      const below = step(`${HANDLES}/${fd}/${name}`, make);
      closeSync(fd);
      fd = below;
    } catch (error) {
      const known = isMissing(error) && isLink(`${HANDLES}/${fd}/${name}`) ? linkError(here) : error;
      closeSync(fd);
      throw known;
    }
  }
  return fd;
}

const isLink = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;

function step(place: string, make: boolean): number {
  try {
    return openSync(place, AS_FOLDER);
  } catch (error) {
    if (!make || codeOf(error) !== 'ENOENT') throw error;
  }
  makeFolder(place);
  return openSync(place, AS_FOLDER);
}

const makeFolder = (place: string): void => {
  try {
    mkdirSync(place, 0o777);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
};

/**
 * For systems without such handles: looks for links before, and again at each `check`. What swaps a folder for a link
 * and back between two looks, or after the last one, is not noticed.
 */
export function openNamed(path: string, { make = false }: FolderOptions): ExactFolder {
  if (make) makeNamed(path);
  const folder: ExactFolder = {
    at: (name) => join(path, name),
    check() {
      if (realpathSync.native(path) !== path) throw linkError(path);
    },
    close() {},
  };
  folder.check();
  return folder;
}

function makeNamed(path: string): void {
  const missing: string[] = [];
  let there = path;
  for (; lstatSync(there, { throwIfNoEntry: false }) === undefined; there = dirname(there)) missing.unshift(there);
  if (realpathSync.native(there) !== there) throw linkError(there);
  for (const folder of missing) makeFolder(folder);
}
