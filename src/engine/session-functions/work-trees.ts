import { readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findMainTree, MAX_POINTER_BYTES, realPathOf } from '../settings/files.js';
import { readOwnFile } from '../workspace/own-file.js';

/** Each folder that counts as this project: as it is named, with links resolved, and the work trees of its repository. */
export function foldersOfProject(dir: string, options: { includeWorktrees?: boolean } = {}): string[] {
  const named = resolve(dir);
  const own = [named, realPathOf(named)];
  return [...new Set(options.includeWorktrees === false ? own : [...own, ...workTreesOf(realPathOf(named))])];
}

/** From git's own records: its program need not be there, and nothing of the repository is run. */
function workTreesOf(dir: string): string[] {
  const main = findMainTree(dir) ?? dir;
  const records = join(main, '.git', 'worktrees');
  const linked = namesIn(records).flatMap((name) => readTree(join(records, name)) ?? []);
  return linked.length === 0 ? [] : [main, ...linked];
}

/** The record of a work tree holds the path of its `.git` file. */
function readTree(record: string): string | undefined {
  try {
    const options = { maxBytes: MAX_POINTER_BYTES, mayBeLink: true };
    const pointer = readOwnFile(join(record, 'gitdir'), options).toString().trim();
    return pointer === '' ? undefined : dirname(resolve(record, pointer));
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
