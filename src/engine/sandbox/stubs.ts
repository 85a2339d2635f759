/**
 * Something for names that do not exist and must not come to be: only what is there can be covered. Empty folders, which
 * git does not see; they go when the last command that needs them ends, also of other processes in the same folder.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../protocol/index.js';
import type { Guarded } from './protected.js';

const SIGN = '.heddle-hold-';
const FOLDER_SIGN = `${SIGN}folder-`;
/** A process that was killed leaves its sign. Where its number means nothing to us, this is how long we believe in it. */
const STALE_MS = 24 * 60 * 60 * 1000;
const MAX_TRIES = 20;
const MAX_LABEL = 100;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const isForbidden = (error: unknown): boolean => ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(codeOf(error) ?? '');

/** True when there is nothing, or nothing but a stub. */
export function isFree({ path, stub }: Guarded): boolean {
  try {
    if (stub !== undefined) return lstatSync(path).isFile() && readFileSync(path, 'utf8') === stub.text;
    const names = readdirSync(path);
    // What should be a file and is an empty folder was left by us.
    if (names.length === 0) return ['.mcp.json', 'commondir'].includes(basename(path));
    return names.every((name) => name.startsWith(SIGN)) && names.some((name) => name.startsWith(FOLDER_SIGN));
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

export interface HeldStubs {
  /** Names at which something is now. Where nothing can be made, a command cannot make anything either. */
  readonly paths: ReadonlySet<string>;
  /** Takes away what nobody needs any more. */
  release(): Promise<void>;
}

/** Has something at every name where that is possible. */
export async function holdStubs(wanted: readonly Guarded[], clock: Pick<Clock, 'now'>): Promise<HeldStubs> {
  const undo: (() => Promise<void>)[] = [];
  const paths = new Set<string>();
  for (const guarded of wanted) {
    try {
      undo.push(await hold(guarded, clock));
      paths.add(guarded.path);
    } catch (error) {
      if (isForbidden(error)) continue;
      await undoAll(undo);
      throw error;
    }
  }
  return { paths, release: () => undoAll(undo) };
}

/** The last first, so that folders are empty when their turn comes. */
async function undoAll(undo: (() => Promise<void>)[]): Promise<void> {
  for (const step of undo.splice(0).toReversed()) await step().catch(() => undefined);
}

async function hold({ path, stub, staysIf }: Guarded, clock: Pick<Clock, 'now'>): Promise<() => Promise<void>> {
  const made = await makeFolders(dirname(path));
  const desk = stub?.desk ?? path;
  // Files of the same name in several folders may share a desk.
  const label = `${basename(dirname(path)).slice(-MAX_LABEL)}-${basename(path)}-`;
  const prefix = stub === undefined ? FOLDER_SIGN : `${SIGN}${label}`;
  const sign = join(desk, `${prefix}${namespace()}-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    await makeSign(desk, sign);
  } catch (error) {
    // Whoever cannot sign needs the file all the same.
    if (stub === undefined || !isForbidden(error)) throw error;
  }
  if (stub !== undefined) await writeFile(path, stub.text, { flag: 'wx' }).catch(ignore('EEXIST'));
  return async () => {
    await rmdir(sign).catch(ignore('ENOENT'));
    await removeStale(desk, clock.now() - STALE_MS);
    if (staysIf?.() === true) return;
    if (stub !== undefined) await removeFile({ path, stub }, await readdir(desk).catch(() => []), prefix);
    for (const folder of stub === undefined ? [path, ...made] : made) await rmdir(folder).catch(() => undefined);
  };
}

/** Someone else may take the folder away between the two steps. */
async function makeSign(desk: string, sign: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await makeFolder(desk);
      await mkdir(sign);
      return;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || tries === MAX_TRIES) throw error;
    }
  }
}

async function removeFile(guarded: Guarded, signed: readonly string[], prefix: string): Promise<void> {
  if (signed.some((name) => name.startsWith(prefix)) || !isFree(guarded)) return;
  await unlink(guarded.path).catch(ignore('ENOENT'));
}

async function removeStale(desk: string, before: number): Promise<void> {
  for (const name of await readdir(desk).catch(() => [])) {
    const [, place, pid] = /-(\d+)-(\d+)-[0-9a-f]+$/.exec(name) ?? [];
    if (!name.startsWith(SIGN) || place === undefined) continue;
    const sign = join(desk, name);
    const isStale = place === namespace() ? !isRunning(Number(pid)) : (await stat(sign)).mtimeMs < before;
    if (isStale) await rmdir(sign);
  }
}

/** Among whom the numbers of processes are unique: containers may share a folder. */
const namespace = (): string => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Makes what is missing of a folder; gives what it made, the inner first. */
async function makeFolders(folder: string): Promise<string[]> {
  const made: string[] = [];
  const make = async (each: string): Promise<void> => {
    try {
      if (await makeFolder(each)) made.unshift(each);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      await make(dirname(each));
      if (await makeFolder(each)) made.unshift(each);
    }
  };
  await make(folder);
  return made;
}

const makeFolder = (folder: string): Promise<boolean> =>
  mkdir(folder).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    },
  );

const ignore =
  (code: string) =>
  (error: unknown): void => {
    if (codeOf(error) !== code) throw error;
  };
