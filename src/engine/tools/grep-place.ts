/** Where a Grep looks, and at which files. */
import { join } from 'node:path';
import type { GrepInput, ToolContext } from '../../protocol/index.js';
import { compilePattern, splitList, splitPattern, toTypeFilter } from './glob-pattern.js';
import { noteCwd, resolvePath, shortenPath } from './paths.js';

export interface GrepPlace {
  /** Where permission found it to be. */
  where: { folder: string } | { file: string };
  filters: Filters;
  /** The path for the model of what ripgrep found. */
  show(found: string): string;
}

export interface Filters {
  /** Arguments for ripgrep. They leave out no file that `matches` takes. */
  args: string[];
  /** Which of the found files count; absent when all do. */
  matches?: (name: string) => boolean;
}

/** Plain folders in front of a glob become the folder to search. */
export function narrow({ glob = '', type }: GrepInput): { folder: string; filters: Filters } {
  const patterns = splitList(glob);
  const without = patterns.filter((pattern) => pattern.startsWith('!'));
  const only = patterns.filter((pattern) => pattern !== '' && !pattern.startsWith('!'));
  const args = [...(type === undefined ? [] : [`--type=${type}`]), ...without.map((pattern) => `--glob=${pattern}`)];
  if (only.length === 0) return { folder: '.', filters: { args } };
  const { folder, rest } = splitPattern(only.length === 1 ? only.join() : `{${only.join()}}`);
  return {
    folder: folder === '' ? '.' : folder,
    filters: { args: type === undefined ? [...args, ...toTypeFilter(rest)] : args, matches: compilePattern(rest) },
  };
}

/** What is touched, for permission. */
export function placesOf(input: GrepInput, cwd: string): string[] {
  const path = resolvePath(cwd, input.path ?? '.');
  return [...new Set([path, resolvePath(path, narrow(input).folder)])];
}

/** Undefined when the folder that the glob names does not exist. */
export async function findPlace(input: GrepInput, context: ToolContext): Promise<GrepPlace | undefined> {
  const { cwd, workspace } = context;
  const path = resolvePath(cwd, input.path ?? '.');
  const real = context.judgedPath(path);
  const stat = await workspace.stat(real);
  if (stat === undefined) throw new Error(`Path does not exist: ${path}. ${noteCwd(cwd)}`);
  if (stat.kind === 'other')
    throw new Error(`${path} is a device, pipe or socket. Only files and folders are searched.`);
  if (stat.kind === 'file') {
    const shown = shortenPath(cwd, path);
    return { where: { file: real }, filters: { args: [] }, show: () => shown };
  }
  const { folder, filters } = narrow(input);
  const start = resolvePath(path, folder);
  const judged = context.judgedPath(start);
  if ((await workspace.stat(judged))?.kind !== 'directory') return undefined;
  return { where: { folder: judged }, filters, show: (found) => shortenPath(cwd, join(start, found)) };
}
