/** What is different between two looks at a folder. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Workspace } from '../../protocol/index.js';
import { isInside } from '../tools/paths.js';
import { type FileNow, type FileState, hashOf, inspectFile, refuseState } from './file-state.js';
import type { Git } from './git.js';
import type { Tracked } from './git-output.js';
import { createPauses, type SeenFile, type Walk } from './walk.js';

export interface KeptFile extends SeenFile {
  hash?: string;
  /** Why there is no copy of its content. */
  reason?: string;
}

/** A folder as it was. */
export interface Baseline extends Omit<Walk, 'files'> {
  root: string;
  files: Map<string, KeptFile>;
  /** In a git folder: what differs from the index. All else that the index has is as it says. */
  tracked: Map<string, Tracked>;
  isGit: boolean;
  /** Folders of files that the index has, and that are gone with them. */
  absent: string[];
  /** Where git stood. */
  position: string;
}

/** As a path was before; a reason where that is not known, or its content not kept. */
export type Past = { state: FileState; mode?: number; content?: Uint8Array } | { reason: string };

export type Change =
  | { path: string; before: Past; after: FileNow }
  /** Something has changed that is not looked at more closely. */
  | { path: string; hint: string };

export interface Looks {
  old: Baseline;
  now: Baseline;
  git: Git | undefined;
  workspace: Workspace;
  readCopy(hash: string): Uint8Array | undefined;
}

export async function* findChanges(looks: Looks): AsyncGenerator<Change> {
  yield* findHints(looks);
  yield* findFolders(looks);
  const { old, now, workspace } = looks;
  const pause = createPauses(20);
  const clean: { path: string; file: Tracked; after: FileNow }[] = [];
  const paths = [old.files, now.files, old.tracked, now.tracked].flatMap((map) => [...map.keys()]);
  for (const path of new Set(paths)) {
    const [was, is] = [old.files.get(path), now.files.get(path)];
    if (was !== undefined && was.sign === is?.sign && !(was.fresh && was.hash !== undefined)) continue;
    if (was?.odd || is?.odd) {
      yield { path, hint: 'Its name is not UTF-8.' };
      continue;
    }
    await pause();
    const after = await inspectFile(workspace, path);
    const file = now.tracked.get(path);
    if (was === undefined && !old.tracked.has(path) && file !== undefined) {
      if (!isAsIndexed(file, after)) clean.push({ path, file, after });
      continue;
    }
    const before = was === undefined ? pastOfMissing(looks, path) : pastOf(was, looks);
    if (isSame(before, after)) continue;
    yield { path, before, after };
  }
  yield* findUncleaned(looks, clean);
}

function pastOf(was: KeptFile, { readCopy }: Looks): Past {
  if (was.kind !== 'file') return { reason: refuseState(was.kind) ?? '' };
  const content = was.hash === undefined ? undefined : readCopy(was.hash);
  if (was.hash === undefined) return { reason: was.reason ?? 'It was not kept.' };
  return { state: was.hash, mode: was.mode, ...(content && { content }) };
}

/** Nothing was there, unless nobody had looked. */
function pastOfMissing({ old }: Looks, path: string): Past {
  const mode = old.folders.get(path);
  if (mode !== undefined) return { state: 'folder', mode };
  if (old.unseen.some((folder) => isInside(folder, path))) return { reason: TOO_MUCH };
  return { state: null };
}

export const TOO_MUCH = 'There is more than is looked at: what commands change here is not known.';

const isSame = (before: Past, after: FileNow): boolean =>
  'state' in before && before.state === after.state && (before.mode === undefined || before.mode === after.mode);

/** Touched, or written again as it was. */
function isAsIndexed({ oid, mode }: Tracked, { content, mode: now = 0 }: FileNow): boolean {
  if (content === undefined || isExecutable(mode) !== ((now & 0o100) !== 0)) return false;
  const hash = createHash(oid.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex') === oid;
}

const isExecutable = (mode: string): boolean => mode === '100755';

/** Files that were as the index has them: git still knows what was in them. */
async function* findUncleaned({ git }: Looks, files: readonly { path: string; file: Tracked; after: FileNow }[]) {
  const ordinary = files.filter(({ file }) => file.mode.startsWith('100'));
  for (const { path, file, after } of files) {
    if (file.mode === '120000') yield { path, before: { reason: refuseState('link') ?? '' }, after };
  }
  const byPath = new Map(ordinary.map((each) => [each.path, each]));
  const wanted = ordinary.map(({ path, file }) => ({ path, oid: file.oid }));
  for await (const [path, content] of git?.contents(wanted) ?? []) {
    const known = byPath.get(path);
    if (known === undefined) continue;
    const before: Past =
      typeof content === 'string'
        ? { reason: content }
        : { state: hashOf(content), mode: modeOf(known.file, known.after), content };
    if (!isSame(before, known.after)) yield { path, before, after: known.after };
  }
}

/** Git knows only whether a file is a program: then its mode is as it is now, or the usual one. */
function modeOf({ mode }: Tracked, { mode: now }: FileNow): number {
  if (now !== undefined && isExecutable(mode) === ((now & 0o100) !== 0)) return now;
  return isExecutable(mode) ? 0o755 : 0o644;
}

function* findHints({ old, now, git }: Looks): Generator<Change> {
  for (const path of new Set([...old.skipped.keys(), ...now.skipped.keys()])) {
    if (old.skipped.get(path) !== now.skipped.get(path)) yield { path, hint: 'What is in such a folder is not kept.' };
  }
  if (git !== undefined && old.position !== now.position) {
    yield { path: join(git.top, '.git'), hint: 'Commits, branches and the index of git stay as they are.' };
  }
  const unseen = now.unseen.filter((path) => !old.unseen.includes(path));
  for (const path of unseen.length > MAX_UNSEEN ? [now.root] : unseen) yield { path, hint: TOO_MUCH };
}

export const MAX_UNSEEN = 20;

async function* findFolders({ old, now, workspace }: Looks): AsyncGenerator<Change> {
  const parents = new Set(parentsOf(old.files.keys(), old.root));
  for (const path of now.folders.keys()) {
    const isKnown = old.folders.has(path) || parents.has(path) || path === old.root;
    if (old.files.has(path) || now.tracked.has(path)) continue;
    if (isKnown || old.unseen.some((folder) => isInside(folder, path))) continue;
    yield { path, before: { state: null }, after: { state: 'folder' } };
  }
  for (const path of old.absent) {
    if (now.absent.includes(path) || (await inspectFile(workspace, path)).state !== 'folder') continue;
    yield { path, before: { state: null }, after: { state: 'folder' } };
  }
  for (const path of now.absent) {
    if (!old.absent.includes(path)) yield { path, before: { state: 'folder' }, after: { state: null } };
  }
  for (const [path, mode] of old.folders) {
    if (now.folders.has(path)) continue;
    const after = await inspectFile(workspace, path);
    if (after.state === null) yield { path, before: { state: 'folder', mode }, after };
  }
}

/** The folders below `root` on the way to files. */
export function* parentsOf(paths: Iterable<string>, root: string): Generator<string> {
  const told = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(path); at.length > root.length && !told.has(at); at = dirname(at)) {
      told.add(at);
      yield at;
    }
  }
}
