/** Changes a settings file: whole or not at all, one process at a time, comments and unknown keys kept. */
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../protocol/index.js';
import { HeddleError, systemClock } from '../../protocol/plain.js';
import { isInside } from '../permissions/path.js';
import { resolveReal } from '../workspace/files.js';
import { makeFolders } from '../workspace/folders.js';
import { isTable } from './check.js';
import { realPathOf } from './files.js';
import { parseJsonc } from './jsonc.js';
import { changeText, type ValueChange } from './jsonc-edit.js';
import { withLock } from './lock.js';
import { MAX_SETTINGS_BYTES, readText } from './read.js';

export interface EditOptions {
  /** A link of the file must not lead out of this folder: a project must not choose which file we change. */
  within?: string;
  /** Others may read the file if it has to be made; an existing one keeps its mode. */
  shared?: boolean;
  maxBytes?: number;
  clock?: Clock;
  /** How long another process that changes the file is waited for. */
  waitMs?: number;
}

export interface EditOutcome {
  changed: boolean;
  /** The file that was changed, links resolved. */
  file: string;
  before: string;
  after: string;
}

/** From what the file says now to what is to change in it. Called with the lock held; may throw. */
export type SettingsEdit = (settings: Readonly<Record<string, unknown>>) => readonly ValueChange[];

/** Throws `invalid_settings` and leaves the file alone when it cannot be read, parsed or written. */
export async function editSettings(file: string, edit: SettingsEdit, options: EditOptions = {}): Promise<EditOutcome> {
  const { clock = systemClock, shared = false, waitMs } = options;
  const target = await findTarget(file, options.within);
  return telling(file, async () => {
    makeFolders(dirname(target), shared ? 0o777 : 0o700);
    while (true) {
      const outcome = await withLock(target, (hold) => editLocked(target, { edit, options, hold }), { clock, waitMs });
      if (outcome !== undefined) return outcome;
    }
  });
}

interface Change {
  edit: SettingsEdit;
  options: EditOptions;
  hold: { isHeld(): boolean };
}

/** Undefined: the lock was lost on the way, and all must be done again. */
async function editLocked(file: string, { edit, options, hold }: Change): Promise<EditOutcome | undefined> {
  const read = await readText(file, options.maxBytes ?? MAX_SETTINGS_BYTES);
  if ('fault' in read) throw refusal(file, read.fault);
  const before = read.text ?? '';
  const mark = before.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = read.text === undefined ? '{}\n' : before.slice(mark.length);
  const changes = edit(await parseTable(file, text));
  const after = `${mark}${await changeText({ text, changes, file })}`;
  if (changes.length === 0 || after === before) return { changed: false, file, before, after: before };
  await parseTable(file, after.slice(mark.length));
  if (!hold.isHeld()) return undefined;
  replaceFile(file, { text: after, newMode: options.shared === true ? 0o666 : 0o600 });
  return { changed: true, file, before, after };
}

async function parseTable(file: string, text: string): Promise<Record<string, unknown>> {
  const { value, faults } = await parseJsonc(text);
  const [fault] = faults;
  if (fault !== undefined) throw refusal(`${file}:${fault.line}:${fault.column}`, fault.text);
  if (!isTable(value)) throw refusal(`${file}:1:1`, 'it must be one JSON object: { ... }');
  return value;
}

const refusal = (place: string, text: string, cause?: unknown): HeddleError =>
  new HeddleError('invalid_settings', `${place}: ${text}. It was not changed.`, {
    hint: 'Correct the file by hand, then try again.',
    cause,
  });

/** Where the file really is. */
async function findTarget(file: string, within: string | undefined): Promise<string> {
  const target = await telling(file, () => Promise.resolve(resolveReal(file)));
  if (within !== undefined && !isInside(realPathOf(within), target)) {
    throw refusal(file, `it is a link that leads out of ${within}, to ${target}`);
  }
  return target;
}

/** What the file system says, as an error about the file. */
async function telling<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    // ENOENT, EACCES and the like; anything else is a fault of ours.
    const isOfSystem = /^E[A-Z0-9]+$/.test((thrown as NodeJS.ErrnoException).code ?? '');
    throw isOfSystem ? refusal(file, `it cannot be written: ${(thrown as Error).message}`, thrown) : thrown;
  }
}

/** Writes beside the file and renames, so that a reader finds the old text or the new one. */
function replaceFile(file: string, { text, newMode }: { text: string; newMode: number }): void {
  const existing = statSync(file, { throwIfNoEntry: false });
  const draft = join(dirname(file), `.${basename(file)}.${randomUUID()}.tmp`);
  try {
    const fd = openSync(draft, 'wx', existing === undefined ? newMode : 0o600);
    try {
      writeAll(fd, Buffer.from(text, 'utf8'));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (existing !== undefined) {
      const own = statSync(draft);
      if (own.uid !== existing.uid || own.gid !== existing.gid) keepOwner(draft, existing);
      chmodSync(draft, existing.mode & 0o7777);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function writeAll(fd: number, data: Uint8Array): void {
  for (let at = 0; at < data.length; ) at += writeSync(fd, data, at);
}

/** Only a privileged process may give a file away; for others the owner changes, as with any editor that renames. */
function keepOwner(draft: string, { uid, gid }: { uid: number; gid: number }): void {
  try {
    chownSync(draft, uid, gid);
  } catch {
    // The new file is ours.
  }
}
