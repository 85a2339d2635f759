import { basename, dirname } from 'node:path';
import type { ToolContext } from '../../protocol/index.js';
import { findNearestName } from './nearest.js';
import { noteCwd } from './paths.js';
import { runSearch } from './search.js';

export interface OrdinaryFile {
  /** As the model names it, absolute. */
  path: string;
  /** Where permission found that it leads. */
  real: string;
  maxBytes: number;
  action: 'read' | 'edit';
  /** What to do about a file that is too large. */
  advice: string;
}

const PAST = { read: 'read', edit: 'edited' };

export const showSize = (bytes: number): string => {
  if (bytes < 103) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return bytes < 1024 * 1024
    ? `${Number((bytes / 1024).toFixed(1))}KB`
    : `${Number((bytes / 1024 / 1024).toFixed(1))}MB`;
};

/** A size beyond a limit, which must not look as if it were the limit. */
export const showExcess = (bytes: number, limit: number): string =>
  showSize(bytes) === showSize(limit) ? `over ${showSize(limit)}` : showSize(bytes);

/** Reads the file that permission has judged. Looks at the path again only to say in words why it cannot be read. */
export async function readOrdinary(file: OrdinaryFile, context: ToolContext): Promise<Uint8Array> {
  try {
    return await context.workspace.readFile(file.real, { maxBytes: file.maxBytes, exact: true });
  } catch (error) {
    throw await explain(file, { error, context });
  }
}

async function explain(file: OrdinaryFile, at: { error: unknown; context: ToolContext }): Promise<unknown> {
  const { path, action, maxBytes } = file;
  const { error, context } = at;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ELOOP') return error;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new Error(await explainMissing(file, context));
  const stat = await context.workspace.stat(path).catch(() => undefined);
  if (stat?.kind === 'directory') {
    const advice = action === 'read' ? '. Use Glob to list its files.' : '';
    return new Error(`EISDIR: illegal operation on a directory, ${action} '${path}'${advice}`);
  }
  if (stat?.kind === 'other') {
    return new Error(`${path} is a device, pipe or socket. Only ordinary files can be ${PAST[action]}.`);
  }
  if (code !== 'EFBIG') return error;
  const size = stat === undefined ? '' : ` (${showExcess(stat.size, maxBytes)})`;
  return new Error(
    `File content${size} is too large: at most ${showSize(maxBytes)} can be ${PAST[action]}. ${file.advice}`,
  );
}

async function explainMissing(file: OrdinaryFile, context: ToolContext): Promise<string> {
  const similar = await findSimilar(file, context).catch(() => undefined);
  const guess = similar === undefined ? '' : ` Did you mean ${similar}?`;
  return `File does not exist. ${noteCwd(context.cwd)}${guess}`;
}

/** A file of the same folder with a similar name. */
async function findSimilar({ path, real }: OrdinaryFile, context: ToolContext): Promise<string | undefined> {
  const folder = dirname(path);
  if ((await context.workspace.stat(dirname(real)))?.kind !== 'directory') return undefined;
  const names: string[] = [];
  await runSearch(context, {
    folder: dirname(real),
    args: ['--files', '--no-ignore', '--max-depth=1'],
    onName: (name) => names.push(name) < 5_000,
  });
  const name = findNearestName(basename(path), names.toSorted());
  return name === undefined ? undefined : `${folder === '/' ? '' : folder}/${name}`;
}
