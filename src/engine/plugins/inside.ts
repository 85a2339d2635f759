/** Paths that a plugin names: they stay inside it, also when links are followed. */
import { realpathSync, statSync } from 'node:fs';
import { join, posix, win32 } from 'node:path';
import { isInside } from '../permissions/path.js';
import { codeOf, isMissing } from '../workspace/system-error.js';
import { namedFiles } from './root-variable.js';

export type InsidePath =
  | { kind: 'file' | 'folder' /** Links resolved. */; path: string }
  | { kind: 'missing' }
  | { kind: 'refused' /** Why, and what to do. */; text: string };

const ROOT_PREFIX = '${CLAUDE_PLUGIN_ROOT}/';

export interface Inside {
  /** What the root is the folder of. */
  what?: 'plugin' | 'marketplace';
}

/** `root` with its links resolved; `written` as it stands in a file. */
export function findInside(root: string, written: string, { what = 'plugin' }: Inside = {}): InsidePath {
  const path = written.startsWith(ROOT_PREFIX) ? `./${written.slice(ROOT_PREFIX.length)}` : written;
  const fault = findFault(path, what);
  return fault === undefined ? follow(root, join(root, path), { what }) : { kind: 'refused', text: fault };
}

/** Where a path of the root's own folder leads. */
export function follow(root: string, path: string, { what = 'plugin' }: Inside = {}): InsidePath {
  try {
    const real = realpathSync.native(path);
    if (!isInside(root, real)) {
      const text = `it is a link out of the ${what}, to ${real}; put a copy into the ${what}`;
      return { kind: 'refused', text };
    }
    const stats = statSync(real);
    if (stats.isDirectory()) return { kind: 'folder', path: real };
    if (stats.isFile()) return { kind: 'file', path: real };
    return { kind: 'refused', text: 'it is a pipe, socket or device; an ordinary file or a folder is expected' };
  } catch (thrown) {
    return isMissing(thrown) ? { kind: 'missing' } : { kind: 'refused', text: describeUnreadable(thrown) };
  }
}

export function describeUnreadable(thrown: unknown): string {
  const code = codeOf(thrown) ?? '';
  if (code === 'EACCES' || code === 'EPERM') return 'it cannot be read: permission denied';
  if (code === 'ELOOP') return 'it cannot be read: its links lead in a circle';
  if (code === 'ENAMETOOLONG') return 'it cannot be read: the path is too long';
  return `it cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
}

function findFault(path: string, what: string): string | undefined {
  const advice = `write a path inside the ${what} that begins with ./`;
  if (path.trim() === '') return `the path is empty; ${advice}`;
  if (/\p{Cc}/u.test(path)) return `the path has control characters; ${advice}`;
  if (posix.isAbsolute(path) || win32.isAbsolute(path) || /^(?:~|[a-z]:)/i.test(path)) {
    return `the path is absolute, and a ${what} may name only what is inside it; ${advice}`;
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return `this is an address, not a path; ${advice}`;
  if (path.split(/[\\/]/).includes('..')) return `the path has "..", which leads out of the ${what}; ${advice}`;
  return undefined;
}

/** What a command, or a word of one, will not find. */
export function findLost(root: string, text: string): string[] {
  const lost = namedFiles(text)
    .filter((path) => follow(root, join(root, path)).kind === 'missing')
    .map((path) => `there is no ${path} in the plugin`);
  if (!/^\.{1,2}\//.test(text.trimStart())) return lost;
  return [...lost, `${shorten(text)} starts at the folder of the session; write ${ROOT_PREFIX}...`];
}

const shorten = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
