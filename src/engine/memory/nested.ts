/** Instructions of folders below the working directory: told when a tool first touches something in there. */
import { dirname } from 'node:path';
import type { SettingSource } from '../../protocol/index.js';
import type { DefinitionProblem } from '../definitions/definition.js';
import { isInside } from '../tools/paths.js';
import { filterExisting, foldersBetween, type MemoryPlace, placesIn } from './find.js';
import type { MemoryFile, MemoryReader, MemoryReaderOptions } from './reader.js';

export interface NestedMemoryOptions extends MemoryReaderOptions {
  /** Folders that somebody vouches for, links resolved: nothing outside of them is looked at. None: nothing at all. */
  roots: readonly string[];
  /** Whose files count. */
  sources: readonly SettingSource[];
}

export interface NestedMemory {
  /**
   * A tool has read or changed this file; `path` has its links resolved. Gives what the model has not been
   * told yet, the higher folder first. Never rejects.
   */
  notice(path: string): Promise<MemoryFile[]>;
  /** All that was told, for a list of what is in force. */
  readonly told: readonly MemoryFile[];
  /** What was wrong since the last look. */
  takeProblems(): DefinitionProblem[];
}

const MAX_DEPTH = 64;
const MAX_FOLDERS = 20_000;
const MAX_PROBLEMS = 50;

export function createNestedMemory(options: NestedMemoryOptions): NestedMemory {
  const { workspace, roots, sources } = options;
  const looked = new Set<string>();
  const told: MemoryFile[] = [];
  let problems: DefinitionProblem[] = [];
  let reader: MemoryReader | undefined;
  /** One after the other: two calls that touch the same folder at once must not both be told. */
  let turn: Promise<unknown> = Promise.resolve();

  const counts = ({ scope }: MemoryPlace): boolean => sources.includes(scope === 'local' ? 'local' : 'project');

  const lookInto = async (folders: readonly string[]): Promise<MemoryFile[]> => {
    const fresh = folders.filter((folder) => !looked.has(folder));
    for (const folder of fresh) looked.add(folder);
    const places = await filterExisting(fresh.flatMap(placesIn).filter(counts), workspace);
    if (places.length === 0) return [];
    const { createMemoryReader } = await import('./reader.js');
    reader ??= createMemoryReader(options);
    const found = await reader.read(places);
    problems = [...problems, ...found.problems].slice(0, MAX_PROBLEMS);
    told.push(...found.files);
    return found.files;
  };

  return {
    async notice(path) {
      const folders = foldersOf(path, roots);
      const isNew = looked.size < MAX_FOLDERS && folders.some((folder) => !looked.has(folder));
      if (!isNew) return [];
      const files = turn.then(() => lookInto(folders)).catch(() => []);
      turn = files;
      return files;
    },
    get told() {
      return told;
    },
    takeProblems: () => problems.splice(0),
  };
}

/** Those that the file stands in, from the root on. */
function foldersOf(path: string, roots: readonly string[]): string[] {
  // Of roots within each other the outer one, whose folders in between count as well.
  const root = roots.filter((folder) => isInside(folder, path)).toSorted((one, other) => one.length - other.length)[0];
  if (root === undefined) return [];
  const folders = path === root ? [root] : foldersBetween(root, dirname(path));
  return folders.length > MAX_DEPTH ? [] : folders;
}
