/** What commands must not change although it lies where they may write: whatever decides what runs outside the sandbox. */
import { lstatSync } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolveReal } from '../workspace/files.js';
import { isInside, isProtected } from '../permissions/path.js';

export interface Guarded {
  path: string;
  /** What to put there while commands run, if nothing is there: an empty folder unless it says otherwise. */
  stub?: FileStub;
  /** The stub stays for good where this has come to be true by the time that the commands end. */
  staysIf?: () => boolean;
}

/** Git reads these; an empty folder in their place would be an error to it. */
export interface FileStub {
  text: string;
  /** A folder out of reach of commands in which whoever needs the stub leaves a sign. */
  desk: string;
}

export interface ProtectedPlaces {
  guarded: Guarded[];
  /** What stays writable within. */
  openers: string[];
}

export interface ProtectionOptions {
  /** The working directories. Names in them are protected before they exist. */
  roots: readonly string[];
  /** Other folders that may be written: only what is there is protected. */
  allowed: readonly string[];
  /** Those of them that were repositories at the start, and stay it whatever commands take away from them. */
  bare?: readonly string[];
  home: string;
  configDir: string;
  /** Where the settings and plugins of the session come from, whatever that is called. */
  own?: readonly string[];
}

/** Policy, and the kernel's own settings, for whoever may write everywhere. */
const SYSTEM_PLACES = ['/etc/heddle', '/etc/claude-code', '/sys'];

export async function findProtected(options: ProtectionOptions): Promise<ProtectedPlaces> {
  const { roots, allowed, bare = [], home, configDir } = options;
  const guarded: Guarded[] = [configDir, ...SYSTEM_PLACES].map((path) => ({ path }));
  for (const root of roots) {
    for (const name of ['.claude', '.mcp.json']) guarded.push({ path: join(root, name) });
    guarded.push(...(await guardRepository(join(root, '.git'))));
  }
  for (const folder of new Set([...roots, ...allowed])) {
    for (const name of await list(folder)) {
      const path = join(folder, name);
      // A link could be replaced; that of a name which every project has is told by the plan, others are let be.
      if (name !== '.git' && isProtected(`/${name}`) && (await kindOf(path)) !== 'link') guarded.push({ path });
    }
    const inner = join(folder, '.git');
    const hasInner = (await kindOf(inner)) !== 'absent';
    if (hasInner) guarded.push(...(await guardRepository(inner)));
    if (bare.includes(folder) || (await isRepository(folder))) guarded.push(...(await guardRepository(folder)));
    else if (hasInner || roots.includes(folder)) guarded.push(guardTop(folder));
  }
  for (const path of options.own ?? []) {
    // Whoever works in such a folder must be able to; a link is let be, what it leads to is not.
    if (roots.some((root) => isInside(path, root)) || !['file', 'folder'].includes(await kindOf(path))) continue;
    if ([...roots, ...allowed].some((folder) => isInside(folder, path))) guarded.push({ path });
  }
  if (![...roots, ...allowed].some((folder) => isInside(folder, home))) return { guarded, openers: [...roots] };
  const ofHome = await guardHome(home);
  return { guarded: [...guarded, ...ofHome.guarded], openers: [...roots, ...ofHome.openers] };
}

/**
 * Git takes a folder itself for a repository, with the configuration in it, if that has the parts of one and what `.git` is
 * has none; and a command may take parts away from `.git`. A folder called `commondir` makes git give up instead, so it
 * stays beside such parts. They themselves cannot be kept from being made: a name `HEAD` would be in the way of `git log HEAD`.
 */
const guardTop = (folder: string): Guarded => {
  const has = (name: string): boolean => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  return { path: join(folder, 'commondir'), staysIf: () => has('HEAD') || (has('objects') && has('refs')) };
};

/**
 * Hooks run, configuration names programs, and `commondir` says where both are looked for. What is no repository, or not
 * yet, is protected as a whole: a link, the file that a worktree has, an empty folder.
 */
async function guardRepository(path: string): Promise<Guarded[]> {
  if (!(await isRepository(path))) return [{ path }];
  const hooks = join(path, 'hooks');
  const guarded: Guarded[] = [
    { path: hooks },
    { path: join(path, 'config'), stub: { text: '', desk: hooks } },
    // A dot means the repository itself, so git works with it as without.
    { path: join(path, 'commondir'), stub: { text: '.\n', desk: hooks } },
    // Here, too, names are given to other repositories, by which git finds them.
    ...['remotes', 'branches'].map((name) => ({ path: join(path, name) })),
  ];
  const trees = (await list(join(path, 'worktrees'))).map((name) => join(path, 'worktrees', name));
  for (const tree of trees) guarded.push({ path: join(tree, 'commondir') });
  // Counts only where the configuration, which commands cannot change, says so.
  const config = await readFile(join(path, 'config'), 'utf8').catch(() => '');
  if (/worktreeConfig/i.test(config)) {
    const stub = { text: '', desk: hooks };
    for (const tree of [path, ...trees]) guarded.push({ path: join(tree, 'config.worktree'), stub });
  }
  for (const name of await list(join(path, 'modules'))) {
    const module = join(path, 'modules', name);
    if (await isRepository(module)) guarded.push(...(await guardRepository(module)));
  }
  return guarded;
}

export const isRepository = async (folder: string): Promise<boolean> =>
  (await kindOf(folder)) === 'folder' &&
  (await kindOf(join(folder, 'HEAD'))) === 'file' &&
  (await kindOf(join(folder, 'objects'))) === 'folder';

/**
 * Shells read many names in the home folder, so nothing new can be made in it at all; what is there, and is no such
 * name, stays writable. The same with `.config`.
 */
async function guardHome(home: string): Promise<ProtectedPlaces> {
  const guarded: Guarded[] = [];
  const openers: string[] = [];
  for (const folder of [home, join(home, '.config')]) {
    guarded.push({ path: folder });
    for (const name of await list(folder)) {
      const path = join(folder, name);
      const isStartUp = isProtected(path.slice(home.length));
      const kind = await kindOf(path);
      if (!isStartUp && (kind === 'file' || kind === 'folder') && name !== '.config') openers.push(path);
      // The link itself is safe in a folder that cannot be changed; what it leads to need not be.
      if (isStartUp) guarded.push({ path: kind === 'link' ? resolveReal(path) : path });
    }
  }
  return { guarded, openers };
}

const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

async function kindOf(path: string): Promise<'folder' | 'file' | 'link' | 'absent'> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) return 'link';
    return stats.isDirectory() ? 'folder' : 'file';
  } catch {
    return 'absent';
  }
}
