/** What is at a path, told so that it can be compared later. Links are never followed. */
import { createHash } from 'node:crypto';
import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Workspace } from '../../protocol/index.js';
import { openFolder } from '../workspace/exact-folder.js';
import { codeOf, isMissing } from '../workspace/system-error.js';

/** Larger files are not kept. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/**
 * The hash of a file's content; null: there is nothing. `folder`, `link` and `other` are what they say; of a file that
 * cannot be read, or is too large for that, only size and time are known (`closed:...`, `large:...`).
 */
export type FileState = string | null;

/** A state that is the hash of a content. */
export type Hash = string & { readonly isHash?: never };

export interface FileNow {
  state: FileState;
  mode?: number;
  content?: Uint8Array;
  /** It has other names too (hard links). */
  shared?: true;
}

export const isUnread = (state: FileState): boolean => state !== null && /^(large|closed):/.test(state);

export const isHash = (state: FileState | undefined): state is Hash =>
  typeof state === 'string' && /^[0-9a-f]{64}$/.test(state);

export const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Never throws. */
export async function inspectFile(workspace: Workspace, path: string): Promise<FileNow> {
  let content: Uint8Array;
  try {
    content = await workspace.readFile(path, { maxBytes: MAX_KEPT_BYTES, exact: true });
  } catch (error) {
    return { state: stateOf(error, lookAt(path)) };
  }
  const stats = lookAt(path);
  // A workspace elsewhere knows its own modes.
  const mode = stats === undefined ? (await workspace.stat(path))?.mode : stats.mode & 0o7777;
  return {
    state: hashOf(content),
    content,
    ...(mode !== undefined && { mode }),
    ...(stats !== undefined && stats.nlink > 1 && { shared: true }),
  };
}

function stateOf(error: unknown, stats: Stats | undefined): FileState {
  if (isMissing(error)) return null;
  const code = codeOf(error);
  if (code === 'ELOOP') return 'link';
  if (code === 'EISDIR') return 'folder';
  if (code === 'EINVAL') return 'other';
  return `${code === 'EFBIG' ? 'large' : 'closed'}:${stats?.size}:${stats?.mtimeMs}`;
}

/** What is at this very path on the local disk; undefined when there is nothing, or only through a link. */
export function lookAt(path: string): Stats | undefined {
  try {
    const folder = openFolder(dirname(path));
    try {
      return lstatSync(folder.at(basename(path)), { throwIfNoEntry: false });
    } finally {
      folder.close();
    }
  } catch {
    return undefined;
  }
}

/** Why what was at a path cannot be kept; undefined when it can. */
export function refuseState(state: FileState): string | undefined {
  if (state === null || isHash(state) || state === 'folder') return undefined;
  if (state === 'link') return 'It was a link, or reached through one.';
  if (state === 'other') return 'It was a device, pipe or socket.';
  return state.startsWith('large:') ? 'It was larger than 16 MB.' : 'It could not be read.';
}
