import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing, each tried once: Node's own recursive mkdir never comes back from
 * a file system that refuses with ENOENT, as /proc does. Throws what the file system says.
 */
export function makeFolders(path: string, mode = 0o700): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}
