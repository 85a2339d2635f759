import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { HeddleError } from '../../protocol/plain.js';

const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The program that comes with the package. It throws on import where its optional part is not installed. */
const findPackaged = async (): Promise<string | undefined> => {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    return (await isExecutable(rgPath)) ? rgPath : undefined;
  } catch {
    return undefined;
  }
};

const findOnPath = async (searchPath: string): Promise<string | undefined> => {
  for (const folder of searchPath.split(delimiter)) {
    if (folder === '') continue;
    const candidate = join(folder, process.platform === 'win32' ? 'rg.exe' : 'rg');
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
};

export interface RipgrepSearch {
  /** Its PATH is searched when the package holds no program. */
  env?: Readonly<Record<string, string>>;
  packaged?: () => Promise<string | undefined>;
}

/** Finds ripgrep: the packaged program, else `rg` on PATH, else `ripgrep_missing`. */
export async function findRipgrep(search: RipgrepSearch = {}): Promise<string> {
  const packaged = await (search.packaged ?? findPackaged)();
  if (packaged !== undefined) return packaged;
  const found = await findOnPath(search.env?.PATH ?? '');
  if (found !== undefined) return found;
  throw new HeddleError('ripgrep_missing', 'ripgrep was not found, so Glob and Grep cannot search.');
}
