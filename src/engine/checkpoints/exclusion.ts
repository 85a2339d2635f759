import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isInside } from '../tools/paths.js';

interface Places {
  /** Of the session's checkpoints. */
  folder: string;
  configDir: string;
  cwd: string;
}

/** What the engine itself writes is nobody's work, and bringing back its log would be the end of it. */
export function createExclusion({ folder, cwd, ...places }: Places): (path: string) => boolean {
  const configDir = realPathOf(places.configDir);
  const own = isInside(configDir, realPathOf(cwd))
    ? [join(configDir, 'sessions'), join(configDir, 'projects')]
    : [configDir];
  const left = [...own, realPathOf(folder)];
  return (path) => left.some((part) => isInside(part, path));
}

const realPathOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};
