/** Whether there is anything to load. Cheap, so that a session without definitions loads nothing for them. */
import { opendirSync, statSync } from 'node:fs';
import type { DefinitionFolder } from './definition.js';

/** True when one of the folders holds something that is not hidden. What cannot be looked at is told when it is loaded. */
export function hasDefinitions(folders: readonly Pick<DefinitionFolder, 'path'>[]): boolean {
  return folders.some(({ path }) => {
    try {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return false;
      return stats.isDirectory() ? hasEntry(path) : stats.isFile();
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'ENOTDIR';
    }
  });
}

function hasEntry(path: string): boolean {
  const folder = opendirSync(path);
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (!entry.name.startsWith('.')) return true;
    }
    return false;
  } finally {
    folder.closeSync();
  }
}
