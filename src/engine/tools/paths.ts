import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Relative paths start at the working directory of the session. */
export const resolvePath = (cwd: string, path: string): string => resolve(cwd, path);

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** The shortest unmistakable name: relative inside the working directory, absolute elsewhere. */
export function shortenPath(cwd: string, path: string): string {
  return isInside(cwd, path) ? relative(cwd, path) || '.' : path;
}

export const noteCwd = (cwd: string): string => `Note: your current working directory is ${cwd}.`;
