/** What is in the folders of a session before a command runs, so that it can be told afterwards what the command did. */
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Clock, Workspace } from '../../protocol/index.js';
import { isInside } from '../tools/paths.js';
import { makeFolders } from '../workspace/folders.js';
import { readOwnFile, replaceOwnFile } from '../workspace/own-file.js';
import { type Baseline, type Change, findChanges, type KeptFile, MAX_UNSEEN, parentsOf } from './changes.js';
import { type CopyIndex, createCopies } from './copies.js';
import { hashOf, lookAt } from './file-state.js';
import { type Git, openGit } from './git.js';
import { createPauses, isWalked, type Place, walk } from './walk.js';

export interface SurveyLimits {
  /** Files and folders of each root. In a git folder: of those that are not as git has them. */
  entries: number;
  /** Copies of each root. */
  bytes: number;
  /** Of a copy, for files that git does not have. */
  fileBytes: number;
}

export const SURVEY_LIMITS: SurveyLimits = { entries: 5_000, bytes: 32 * 1024 * 1024, fileBytes: 1024 * 1024 };

/** Files that git has may be larger: they are somebody's work, not something that was made from it. */
const MAX_TRACKED_BYTES = 16 * 1024 * 1024;

const MAX_NAMED = 1_000;

export interface Survey {
  /** Looks, and copies what is not known yet. `named` is what a command is known to write. */
  take(roots: readonly string[], named?: readonly string[]): Promise<void>;
  /** Whether a change of that path would be found and could be taken back, or is not to be. */
  covers(path: string): boolean;
  /** What is different since the last look; this one counts as the last look from here on. */
  changes(): AsyncGenerator<Change>;
  /** Folders of which too much was there to look at all of it. */
  unseen(): string[];
  /** A turn whose command was running when the process ended; a look at its folders is still kept. */
  interrupted(): string | undefined;
  /** A command of that turn runs from here on; undefined: no more. */
  setRunning(promptUuid: string | undefined): void;
}

export interface SurveyParts {
  /** A folder of the session for it alone. */
  folder: string;
  workspace: Workspace;
  clock: Clock;
  env: Readonly<Record<string, string>>;
  isExcluded(path: string): boolean;
  limits: SurveyLimits;
}

export function createSurvey(parts: SurveyParts): Survey {
  const { folder, workspace, clock, limits } = parts;
  const table = join(folder, 'table.json');
  const running = join(folder, 'running');
  const saved = load(table);
  const copies = createCopies(join(folder, 'copies'), saved?.copies);
  const repositories = new Map<string, Promise<Git | undefined>>();
  let baselines = saved?.baselines ?? [];
  let isRunning = false;
  let named: readonly string[] = [];

  const gitOf = (root: string): Promise<Git | undefined> => {
    const known = repositories.get(root);
    if (known !== undefined) return known;
    const place = join(folder, `git-${hashOf(Buffer.from(root)).slice(0, 12)}`);
    const opened = openGit({ root, place, workspace, env: parts.env });
    repositories.set(root, opened);
    return opened;
  };

  /** How the folder is now, against the index that was copied last. */
  const scan = async (root: string, git: Git | undefined): Promise<Baseline> => {
    const view = await git?.view();
    const { isExcluded } = parts;
    const options = { maxEntries: limits.entries, isExcluded, now: () => clock.now() };
    const found = await walk(view ? [...view.places, ...specialsIn(root, named)] : [{ path: root }], options);
    const position = view === undefined ? '' : ((await git?.position()) ?? '');
    const tracked: Baseline['tracked'] = view?.changed ?? new Map();
    const gone = [...tracked.keys()].filter((path) => !found.files.has(path));
    const absent = [...parentsOf(gone, root)].filter((path) => lookAt(path) === undefined);
    return { ...found, root, tracked, isGit: view !== undefined, absent, position };
  };

  const copyOf = async (path: string, file: KeptFile, { room, isTracked }: { room: number; isTracked: boolean }) => {
    const most = isTracked ? MAX_TRACKED_BYTES : limits.fileBytes;
    if (file.odd) return { reason: 'Its name is not UTF-8.' };
    if (file.size > most) return { reason: `It was larger than ${most / (1024 * 1024)} MB.` };
    if (file.size > room) return { reason: `More than ${limits.bytes / (1024 * 1024)} MB would have to be copied.` };
    try {
      const content = await workspace.readFile(path, { maxBytes: most, exact: true });
      const hash = hashOf(content);
      copies.add(hash, content);
      return { hash };
    } catch (error) {
      return { reason: `It could not be read: ${error instanceof Error ? error.message : String(error)}` };
    }
  };

  /** Takes over what is known of files that are as they were, and copies the others. */
  const fill = async (now: Baseline, old: Baseline | undefined): Promise<void> => {
    const pause = createPauses(20);
    let room = limits.bytes;
    for (const [path, file] of now.files) {
      if (file.kind !== 'file') continue;
      const before = old?.files.get(path);
      const isSame = before?.sign === file.sign && !before.fresh;
      const kept: Pick<KeptFile, 'hash' | 'reason'> =
        isSame && before.hash !== undefined && copies.has(before.hash)
          ? { hash: before.hash }
          : await copyOf(path, file, { room, isTracked: now.tracked.has(path) });
      if (!isSame) await pause();
      Object.assign(file, kept);
      if (kept.hash !== undefined) room -= file.size;
    }
  };

  const save = (): void => {
    const hashes = new Set(baselines.flatMap(({ files }) => [...files.values()].flatMap(({ hash }) => hash ?? [])));
    copies.retain(hashes);
    makeFolders(folder);
    replaceOwnFile(table, JSON.stringify({ copies: copies.index(), baselines }, toPlain));
  };

  return {
    async take(roots, more = []) {
      named = [...new Set([...(isRunning ? named : []), ...more])].slice(-MAX_NAMED);
      const taken: Baseline[] = [];
      const earlier = baselines;
      // A look that fails must not leave an old one in its place.
      baselines = [];
      for (const root of outermost(roots)) {
        const git = await gitOf(root);
        const isCopied = (await git?.copyIndex()) ?? false;
        const now = await scan(root, isCopied ? git : undefined);
        await fill(
          now,
          earlier.find((old) => old.root === root),
        );
        taken.push(now);
      }
      baselines = taken;
      save();
    },
    async *changes() {
      let hasChanged = false;
      for (const [index, old] of baselines.entries()) {
        const git = old.isGit ? await gitOf(old.root) : undefined;
        const now = await scan(old.root, git);
        for (const [path, file] of now.files) {
          const before = old.files.get(path);
          if (before?.sign === file.sign) Object.assign(file, before);
        }
        baselines[index] = now;
        if (old.isGit !== now.isGit) {
          yield { path: old.root, hint: 'Git could not be asked: what a command changed is not known.' };
          continue;
        }
        for await (const change of findChanges({ old, now, git, workspace, readCopy: (hash) => copies.read(hash) })) {
          hasChanged = true;
          yield change;
        }
      }
      if (hasChanged) save();
    },
    covers(path) {
      const baseline = baselines.find(({ root }) => isInside(root, path));
      if (parts.isExcluded(path)) return true;
      if (baseline === undefined || !isWalked(relative(baseline.root, path))) return false;
      const file = baseline.files.get(path);
      if (file !== undefined) return file.kind !== 'file' || file.hash !== undefined;
      return !baseline.unseen.some((place) => isInside(place, path));
    },
    unseen: () => baselines.flatMap(({ root, unseen }) => (unseen.length > MAX_UNSEEN ? [root] : unseen)),
    interrupted: () => readText(running),
    setRunning(promptUuid) {
      isRunning = promptUuid !== undefined;
      if (promptUuid === undefined) rmSync(running, { force: true });
      else if (readText(running) !== promptUuid) replaceOwnFile(running, promptUuid);
    },
  };
}

/** The folders to look at: those that are not inside of another one. */
const outermost = (roots: readonly string[]): string[] =>
  [...new Set(roots)].filter((root) => !roots.some((other) => other !== root && isInside(other, root)));

/** Git tells of no pipe, socket or device, so they are looked for where a command is known to write. */
const specialsIn = (root: string, paths: readonly string[]): Place[] =>
  paths.flatMap((path) => {
    const stats = isInside(root, path) ? lookAt(path) : undefined;
    const isOrdinary = stats === undefined || stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
    return isOrdinary ? [] : [{ path }];
  });

const readText = (path: string): string | undefined => {
  try {
    return readOwnFile(path).toString();
  } catch {
    return undefined;
  }
};

const toPlain = (_key: string, value: unknown): unknown => (value instanceof Map ? [...value] : value);

interface Saved {
  copies: CopyIndex;
  baselines: Baseline[];
}

/** What an earlier process has left. What cannot be read is as if it were not there. */
function load(path: string): Saved | undefined {
  try {
    const saved = JSON.parse(readText(path) ?? '') as Saved;
    const baselines = saved.baselines.map((baseline) => ({
      ...baseline,
      files: new Map(baseline.files),
      folders: new Map(baseline.folders),
      skipped: new Map(baseline.skipped),
      tracked: new Map(baseline.tracked),
    }));
    return { copies: saved.copies, baselines };
  } catch {
    return undefined;
  }
}
