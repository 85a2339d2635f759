/**
 * What the Workspace has no words for: removing, folders and modes. On the local disk, in the very folder that the path
 * names: a link that was put in the way leads nowhere (ELOOP). Errors are those of the system.
 */
import { closeSync, constants, fchmodSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { openFolder } from '../workspace/exact-folder.js';
import { O_NOFOLLOW, O_NONBLOCK } from '../workspace/own-file.js';

function within<T>(path: string, act: (place: string) => T): T {
  const folder = openFolder(dirname(path));
  try {
    const result = act(folder.at(basename(path)));
    folder.check();
    return result;
  } finally {
    folder.close();
  }
}

export const removeFile = (path: string): void => within(path, unlinkSync);

/** Only when it is empty. */
export const removeFolder = (path: string): void => within(path, rmdirSync);

export function makeFolder(path: string, mode: number | undefined): void {
  openFolder(path, { make: true }).close();
  if (mode !== undefined) setMode(path, mode);
}

export const setMode = (path: string, mode: number): void =>
  within(path, (place) => {
    const fd = openSync(place, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
  });

export function listNames(path: string): string[] {
  const folder = openFolder(path);
  try {
    return readdirSync(folder.at('.'));
  } finally {
    folder.close();
  }
}
