/** Which files of instructions there are. Cheap: a session without any loads nothing more than this. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SettingSource, Workspace } from '../../protocol/index.js';
import { isInside } from '../tools/paths.js';

export type MemoryScope = 'managed' | 'user' | 'project' | 'local';

export interface MemoryPlace {
  path: string;
  scope: MemoryScope;
}

export interface MemoryPlaces {
  workspace: Pick<Workspace, 'stat'>;
  /** Links resolved, like `projectRoot`. */
  cwd: string;
  projectRoot: string;
  /** In a git worktree: the main work tree, where the file that is not shared stands. */
  mainTree?: string | undefined;
  configDir: string;
  /** Folders of managed policy, the strongest first. */
  managed: readonly string[];
  /** Whose files count; those of managed policy always do. */
  sources: readonly SettingSource[];
}

const OWN_NAMES = ['AGENTS.md', 'CLAUDE.md'];
const LOCAL_NAME = 'CLAUDE.local.md';

const ofProject = (path: string): MemoryPlace => ({ path, scope: 'project' });

/** Those of one folder of a project, in the order in which they are told. */
export const placesIn = (folder: string): MemoryPlace[] => [
  ...['AGENTS.md', 'CLAUDE.md', join('.claude', 'CLAUDE.md')].map((name) => ofProject(join(folder, name))),
  { path: join(folder, LOCAL_NAME), scope: 'local' },
];

/** From `top` down to `folder`, both included; `folder` alone when it is elsewhere. */
export function foldersBetween(top: string, folder: string): string[] {
  if (folder === top || !isInside(top, folder) || dirname(folder) === folder) return [folder];
  return [...foldersBetween(top, dirname(folder)), folder];
}

/** The more general first: policy, the user's, then from the root of the project down to the working directory. */
export async function findMemory(places: MemoryPlaces): Promise<MemoryPlace[]> {
  const { workspace, cwd, projectRoot, mainTree, configDir, managed, sources } = places;
  const own: MemoryPlace[] = [
    ...managed.toReversed().flatMap((folder) => OWN_NAMES.map((name) => place(folder, name, 'managed'))),
    ...(sources.includes('user') ? OWN_NAMES.map((name) => place(configDir, name, 'user')) : []),
  ];
  const main = mainTree === undefined ? [] : [place(mainTree, LOCAL_NAME, 'local')];
  const theirs = [...main, ...foldersBetween(projectRoot, cwd).flatMap(placesIn)].filter(({ scope }) =>
    sources.includes(scope === 'local' ? 'local' : 'project'),
  );
  return [...own.filter(({ path }) => isOwnFile(path)), ...(await filterExisting(theirs, workspace))];
}

const place = (folder: string, name: string, scope: MemoryScope): MemoryPlace => ({ path: join(folder, name), scope });

/** Where it cannot even be looked at, it stays in the list: whoever reads it says what is wrong. */
export async function filterExisting(
  places: readonly MemoryPlace[],
  workspace: Pick<Workspace, 'stat'>,
): Promise<MemoryPlace[]> {
  const isThere = await Promise.all(
    places.map(({ path }) =>
      workspace.stat(path).then(
        (stat) => stat !== undefined && stat.kind !== 'directory',
        () => true,
      ),
    ),
  );
  return places.filter((_, at) => isThere[at]);
}

function isOwnFile(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats !== undefined && !stats.isDirectory();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR';
  }
}
