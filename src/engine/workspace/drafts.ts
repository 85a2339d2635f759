/** Drafts stand beside the file that they are to replace, named after their process, so that those of a dead one are known. */
import { lstatSync, opendirSync, readFileSync, readlinkSync, unlinkSync } from 'node:fs';
import type { ExactFolder } from './exact-folder.js';
import { startTimeOf } from './process-table.js';
import { createSha256 } from './sha256.js';

/** So many names of a folder are looked at. */
const MAX_NAMES = 1_000;
/** Of a draft whose process cannot be asked for: it may be of another machine, or of a container. No write takes as long. */
const MAX_AGE_MS = 24 * 60 * 60 * 1_000;

const NAME = /^\.heddle-(?:([0-9a-f]{8})-(\d+)-(\d+)|unknown)-[0-9a-f]{16}\.tmp$/;

let owner: string | undefined;

/**
 * The pids that this process can ask for, as a hash: those of one run of one machine, outside of containers or in one.
 * Behind it the pid and the start time of this process, for pids are used again. On systems without /proc `unknown`.
 */
function nameOwner(): string {
  const startedAt = startTimeOf(process.pid);
  if (startedAt === undefined) return 'unknown';
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1');
    const pids = createSha256().update(boot).update(readlinkSync('/proc/self/ns/pid')).digest('hex');
    return `${pids.slice(0, 8)}-${process.pid}-${startedAt}`;
  } catch {
    return 'unknown';
  }
}

export function createDraftName(): string {
  owner ??= nameOwner();
  const chance = Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex');
  return `.heddle-${owner}-${chance}.tmp`;
}

/** Removes what killed processes have left in a folder into which something was written just now. Never throws. */
export function removeStaleDrafts(folder: ExactFolder): void {
  try {
    for (const name of findDrafts(folder)) if (isStale(folder, name)) unlinkSync(folder.at(name));
  } catch {
    // A folder that cannot be listed, or another process that was quicker.
  }
}

function findDrafts(folder: ExactFolder): string[] {
  const names: string[] = [];
  const listing = opendirSync(folder.at('.'), { bufferSize: 100 });
  try {
    for (let count = 0; count < MAX_NAMES; count += 1) {
      const entry = listing.readSync();
      if (entry === null) break;
      if (NAME.test(entry.name)) names.push(entry.name);
    }
  } finally {
    listing.closeSync();
  }
  return names;
}

function isStale(folder: ExactFolder, name: string): boolean {
  const stats = lstatSync(folder.at(name), { throwIfNoEntry: false });
  // The processes of others may be hidden.
  if (stats === undefined || !stats.isFile() || stats.uid !== process.geteuid?.()) return false;
  const [, pids, pid, startedAt] = NAME.exec(name) ?? [];
  if (pids !== undefined && owner?.startsWith(`${pids}-`)) return startTimeOf(Number(pid)) !== Number(startedAt);
  // Something was put into the folder just now, so it tells the time of its disk.
  return lstatSync(folder.at('.')).mtimeMs - stats.mtimeMs > MAX_AGE_MS;
}
