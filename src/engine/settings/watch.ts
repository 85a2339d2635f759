/** Notices that settings files changed, by a look at each: cheap enough to be done before every decision. */
import { statSync } from 'node:fs';
import type { Clock } from '../../protocol/index.js';
import { systemClock } from '../../protocol/plain.js';
import { managedFiles, managedParts, type SettingsFiles } from './files.js';

export interface SettingsWatch {
  /** The files that changed, appeared or went since it was last asked. */
  changed(): string[];
}

export interface WatchOptions {
  /** Other files to look at: that of `--settings`. */
  more?: readonly string[];
  clock?: Clock;
}

/** Editors that save by renaming leave a moment without a file: it is gone when it stays away for so long. */
const GONE_AFTER_MS = 1000;

interface Watched {
  /** Empty: there is no file. */
  look: string;
  /** When it was first missed. */
  missedAt: number | undefined;
}

/** The files as they are now are what changes are measured against: made before they are read, it misses none. */
export function createSettingsWatch(files: SettingsFiles, options: WatchOptions = {}): SettingsWatch {
  const { clock = systemClock, more = [] } = options;
  const parts = managedParts(files.managed);
  const fixed = [...parts, files.user, files.local, ...more];
  for (const file of [files.project, files.mainLocal]) if (file !== undefined) fixed.push(file);
  const watched = new Map<string, Watched>();
  const watch = (paths: readonly string[]): void => {
    for (const path of paths) if (!watched.has(path)) watched.set(path, { look: look(path), missedAt: undefined });
  };
  watch([...fixed, ...listManaged(files.managed)]);

  const hasChanged = (path: string, known: Watched): boolean => {
    const now = look(path);
    if (now === known.look) {
      known.missedAt = undefined;
      return false;
    }
    if (now === '') {
      known.missedAt ??= clock.monotonic();
      if (clock.monotonic() - known.missedAt < GONE_AFTER_MS) return false;
    }
    watched.set(path, { look: now, missedAt: undefined });
    return true;
  };

  return {
    changed() {
      const changed: string[] = [];
      for (const [path, known] of watched) if (hasChanged(path, known)) changed.push(path);
      // A part of the policy that is new is watched from now on.
      if (parts.some((folder) => changed.includes(folder))) watch(listManaged(files.managed));
      return changed;
    },
  };
}

/** A folder that cannot be listed is told by whoever loads it. */
function listManaged(folders: readonly string[]): string[] {
  try {
    return managedFiles(folders);
  } catch {
    return [];
  }
}

/** What tells one state of a file from another. A file that cannot be looked at is in a state of its own. */
function look(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? '' : 'unreadable';
  }
}
