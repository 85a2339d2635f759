/** Changes settings files: whole or not at all, one process at a time, comments and unknown keys kept. */
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../protocol/index.js';
import { HeddleError, systemClock } from '../../protocol/plain.js';
import { isInside } from '../permissions/path.js';
import { resolveReal } from '../workspace/files.js';
import { makeFolders } from '../workspace/folders.js';
import { isTable } from './table.js';
import { realPathOf } from './files.js';
import { parseJsonc } from './jsonc.js';
import { changeText, type ValueChange } from './jsonc-edit.js';
import { type Hold, withLock } from './lock.js';
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

/** One file of several that are changed together. */
export interface FileEdit {
  file: string;
  edit: SettingsEdit;
  options?: EditOptions;
}

/** Throws `invalid_settings` and leaves the file alone when it cannot be read, parsed or written. */
export async function editSettings(file: string, edit: SettingsEdit, options: EditOptions = {}): Promise<EditOutcome> {
  const [outcome] = await editTogether([{ file, edit, options }]);
  if (outcome === undefined) throw refusal(file, 'it was not found');
  return outcome;
}

/** All files or none: each is locked, read, parsed and checked before the first is written. */
export async function editTogether(edits: readonly FileEdit[]): Promise<EditOutcome[]> {
  const wanted: Wanted[] = [];
  for (const { file, edit, options = {} } of edits) {
    const target = await findTarget(file, options.within);
    // Links may make one of two files; its lock can be had once.
    const same = wanted.find((each) => each.target === target);
    if (same === undefined) wanted.push({ target, file, edits: [edit], options });
    else same.edits.push(edit);
  }
  for (const { target, file, options } of wanted) {
    await telling(file, async () => makeFolders(dirname(target), options.shared === true ? 0o777 : 0o700));
  }
  // Always in the same order, so that two who want the same files do not wait for each other.
  const ordered = wanted.toSorted((one, other) => (one.target < other.target ? -1 : 1));
  while (true) {
    const outcomes = await editLocked(ordered, []);
    if (outcomes !== undefined) return wanted.flatMap(({ target }) => outcomes.filter(({ file }) => file === target));
  }
}

interface Wanted {
  target: string;
  /** As it was named. */
  file: string;
  edits: SettingsEdit[];
  options: EditOptions;
}

/** What a file will say, with its lock held. */
interface Prepared extends EditOutcome {
  wanted: Wanted;
  /** There is a file. */
  exists: boolean;
  hold: Hold;
}

/** Undefined: a lock was lost on the way, and all must be done again. */
async function editLocked(
  [first, ...rest]: readonly Wanted[],
  prepared: readonly Prepared[],
): Promise<EditOutcome[] | undefined> {
  if (first === undefined) {
    if (!prepared.every(({ hold }) => hold.isHeld())) return undefined;
    replaceFiles(prepared.filter(({ changed }) => changed));
    return prepared.map(({ changed, file, before, after }) => ({ changed, file, before, after }));
  }
  const { target, file, options } = first;
  const { clock = systemClock, waitMs } = options;
  return telling(file, () =>
    withLock(
      target,
      async (hold) => editLocked(rest, [...prepared, { ...(await prepare(first)), wanted: first, hold }]),
      { clock, waitMs },
    ),
  );
}

async function prepare({ target: file, edits, options }: Wanted): Promise<EditOutcome & { exists: boolean }> {
  const read = await readText(file, options.maxBytes ?? MAX_SETTINGS_BYTES);
  if ('fault' in read) throw refusal(file, read.fault);
  const before = read.text ?? '';
  const exists = read.text !== undefined;
  const mark = before.startsWith('\uFEFF') ? '\uFEFF' : '';
  const old = exists ? before.slice(mark.length) : '{}\n';
  let text = old;
  for (const edit of edits) {
    const changes = edit(await parseTable(file, text));
    if (changes.length > 0) text = await changeText({ text, changes, file });
  }
  if (text === old) return { changed: false, file, before, after: before, exists };
  await parseTable(file, text);
  return { changed: true, file, before, after: `${mark}${text}`, exists };
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
    throw toRefusal(file, thrown);
  }
}

/** ENOENT, EACCES and the like; anything else is a fault of ours, or says already which file is meant. */
function toRefusal(file: string, thrown: unknown): unknown {
  const isOfSystem = /^E[A-Z0-9]+$/.test((thrown as NodeJS.ErrnoException).code ?? '');
  return isOfSystem ? refusal(file, `it cannot be written: ${(thrown as Error).message}`, thrown) : thrown;
}

/** Writes beside the files and renames, so that a reader finds the old text or the new one. */
function replaceFiles(files: readonly Prepared[]): void {
  const drafts: string[] = [];
  const done: Prepared[] = [];
  let current = files[0];
  try {
    for (const each of files) {
      current = each;
      drafts.push(writeDraft(each.file, { text: each.after, newMode: newModeOf(each) }));
    }
    for (const [at, each] of files.entries()) {
      current = each;
      renameSync(drafts[at] ?? '', each.file);
      done.push(each);
    }
  } catch (thrown) {
    for (const draft of drafts) rmSync(draft, { force: true });
    done.forEach(putBack);
    throw current === undefined ? thrown : toRefusal(current.wanted.file, thrown);
  }
}

const newModeOf = ({ wanted }: Prepared): number => (wanted.options.shared === true ? 0o666 : 0o600);

function putBack(prepared: Prepared): void {
  const { file, before, exists } = prepared;
  try {
    if (exists) renameSync(writeDraft(file, { text: before, newMode: newModeOf(prepared) }), file);
    else rmSync(file, { force: true });
  } catch {
    // What is told is the error that came first.
  }
}

/** A file beside the other, with its mode and owner. */
function writeDraft(file: string, { text, newMode }: { text: string; newMode: number }): string {
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
    if (existing === undefined) return draft;
    const own = statSync(draft);
    if (own.uid !== existing.uid || own.gid !== existing.gid) keepOwner(draft, existing);
    chmodSync(draft, existing.mode & 0o7777);
    return draft;
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
