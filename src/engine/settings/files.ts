/** Where the settings files of a session are. Nothing here runs git or looks at the environment. */
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInside } from '../permissions/path.js';
import { readOwnFile } from '../workspace/own-file.js';

export interface SettingsFiles {
  /** The folder of the session's project: path rules of every layer start here. */
  projectRoot: string;
  home: string;
  /** Folders of managed policy, the strongest first. */
  managed: readonly string[];
  user: string;
  /** Undefined where the user's own file stands in its place, as in the home folder. */
  project: string | undefined;
  local: string;
  /** In a git worktree: the local file of the main work tree, which counts as well. */
  mainLocal: string | undefined;
}

export interface SettingsPlaces {
  configDir: string;
  projectRoot: string;
  home: string;
  /** One folder or several, the strongest first. Absent: those of the platform. */
  managedDir?: string | readonly string[];
}

const PROJECT_FILE = join('.claude', 'settings.json');
const LOCAL_FILE = join('.claude', 'settings.local.json');
const MANAGED_FILE = 'managed-settings.json';
const MANAGED_PARTS = 'managed-settings.d';

export function settingsFiles({ configDir, projectRoot, home, managedDir }: SettingsPlaces): SettingsFiles {
  const managed = managedDir ?? managedFolders(process.platform);
  const user = join(configDir, 'settings.json');
  const project = join(projectRoot, PROJECT_FILE);
  const main = findMainTree(projectRoot);
  return {
    projectRoot,
    home,
    managed: typeof managed === 'string' ? [managed] : managed,
    user,
    project: isSameFile(project, user) ? undefined : project,
    local: join(projectRoot, LOCAL_FILE),
    mainLocal: main === undefined ? undefined : join(main, LOCAL_FILE),
  };
}

/** A folder that settings name, as an absolute path. */
export const folderIn = (folder: string, { projectRoot, home }: Pick<SettingsFiles, 'projectRoot' | 'home'>): string =>
  folder === '~' || folder.startsWith('~/') ? join(home, folder.slice(1)) : resolve(projectRoot, folder);

/** Where administrators put policy that users cannot change. */
export function managedFolders(platform: NodeJS.Platform): readonly string[] {
  if (platform === 'darwin') return ['Heddle', 'ClaudeCode'].map((name) => `/Library/Application Support/${name}`);
  if (platform === 'win32') return ['Heddle', 'ClaudeCode'].map((name) => `C:\\Program Files\\${name}`);
  return ['/etc/heddle', '/etc/claude-code'];
}

/**
 * Every file of managed policy, the strongest first: of a folder the parts from last to first, then the file itself.
 * A part that cannot be listed must not be overlooked, so whatever but "there is none" is thrown.
 */
export function managedFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const parts = join(folder, MANAGED_PARTS);
    const names = listFolder(parts).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    return [
      ...names
        .toSorted()
        .toReversed()
        .map((name) => join(parts, name)),
      join(folder, MANAGED_FILE),
    ];
  });
}

/** What has to be looked at to see that policy was added or taken away. */
export const managedParts = (folders: readonly string[]): string[] =>
  folders.map((folder) => join(folder, MANAGED_PARTS));

function listFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * The folder that a session started in `cwd` belongs to. Going up from there, at most to the root of the repository and
 * never to the home folder or above it: the nearest folder with a settings file; else the repository; else the nearest
 * folder with `.claude`; else `cwd`. Links are resolved, so that a link into a project does not lead past its rules.
 */
export function findProjectRoot({ cwd, home }: { cwd: string; home: string }): string {
  const start = realPathOf(cwd);
  const realHome = realPathOf(home);
  let marked: string | undefined;
  for (let folder = start; ; folder = dirname(folder)) {
    const isEdge = folder === dirname(folder) || folder === realHome || isInside(folder, realHome);
    if (isEdge && folder !== start) break;
    if ([PROJECT_FILE, LOCAL_FILE].some((file) => isNamed(join(folder, file)))) return folder;
    if (existsSync(join(folder, '.git'))) return folder;
    if (isNamed(join(folder, '.claude'))) marked ??= folder;
    if (isEdge) break;
  }
  return marked ?? start;
}

/** Also by a link that leads nowhere, of which a person must hear. */
export function isNamed(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The main work tree of a git worktree. Only where git's own record there names this worktree too: a `.git` file that
 * came with an archive must not lend a project the rules of another.
 */
export function findMainTree(root: string): string | undefined {
  const own = join(root, '.git');
  const gitDir = readPointer(own, /^gitdir: (.+)$/m);
  if (gitDir === undefined) return undefined;
  const record = resolve(root, gitDir);
  const named = readPointer(join(record, 'gitdir'), /^(.+)$/m);
  const common = readPointer(join(record, 'commondir'), /^(.+)$/m);
  if (named === undefined || common === undefined) return undefined;
  if (realPathOf(resolve(record, named)) !== realPathOf(own)) return undefined;
  const repository = resolve(record, common);
  return basename(repository) === '.git' ? dirname(repository) : undefined;
}

/** Of the files in which git says where something is. */
export const MAX_POINTER_BYTES = 4096;

function readPointer(path: string, pattern: RegExp): string | undefined {
  try {
    const text = readOwnFile(path, { maxBytes: MAX_POINTER_BYTES, mayBeLink: true }).toString();
    return pattern.exec(text)?.[1]?.trim();
  } catch {
    return undefined;
  }
}

/** The path with links resolved, or as it is where it leads to nothing. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Also where the file is not there yet. */
const isSameFile = (one: string, other: string): boolean =>
  realPathOf(one) === realPathOf(other) || realPathOf(dirname(one)) === realPathOf(dirname(other));

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
