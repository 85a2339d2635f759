/** The folders that a session may use without asking: of its call, of settings files as they are now, and of answers. */
import { join, resolve } from 'node:path';
import type { SessionConfig, Workspace } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';

export interface OpenFolders {
  /** All but the working directory, as they were named. */
  readonly named: readonly string[];
  /** With links resolved, the working directory first. */
  roots(): Promise<string[]>;
  /** `isKept`: a settings file that counts names them from now on. */
  open(folders: readonly string[], options: { isKept: boolean }): Promise<void>;
  /** `isKept`: settings files say whether they stay open. The working directory always does. */
  close(folders: readonly string[], options: { isKept: boolean }): Promise<void>;
}

export interface OpenFoldersParts {
  cwd: string;
  home: string;
  workspace: Workspace;
  /** Those of the call. */
  called: readonly string[];
  /** Those of settings files that count now. */
  ofSettings: () => readonly string[];
}

export function createOpenFolders({ cwd, home, workspace, called, ofSettings }: OpenFoldersParts): OpenFolders {
  let own = [...new Set(called)];
  const closed = new Set<string>();
  let named: readonly string[] = [];
  /** One whose links cannot be followed opens nothing. */
  const pair = async (folders: readonly string[]): Promise<[string, string][]> => {
    const reals = folders.map((folder) => toReal(folder, { cwd, home, workspace }).catch(() => undefined));
    const found = await Promise.all(reals);
    return folders.flatMap((folder, at) => {
      const real = found[at];
      return real === undefined ? [] : [[folder, real]];
    });
  };

  return {
    get named() {
      return named;
    },
    async roots() {
      const open = (await pair([...new Set([...own, ...ofSettings()])])).filter(([, real]) => !closed.has(real));
      named = open.map(([folder]) => folder);
      return [...new Set([await workspace.realPath(cwd), ...open.map(([, real]) => real)])];
    },
    async open(folders, { isKept }) {
      for (const [folder, real] of await pair(folders)) {
        closed.delete(real);
        if (!isKept && !own.includes(folder)) own.push(folder);
      }
    },
    async close(folders, { isKept }) {
      const gone = new Set((await pair(folders)).map(([, real]) => real));
      own = (await pair(own)).filter(([, real]) => !gone.has(real)).map(([folder]) => folder);
      if (!isKept) for (const real of gone) closed.add(real);
    },
  };
}

const toReal = async (
  folder: string,
  { cwd, home, workspace }: Pick<OpenFoldersParts, 'cwd' | 'home' | 'workspace'>,
): Promise<string> =>
  workspace.realPath(/^~(?:\/|$)/.test(folder) ? join(home, folder.slice(1)) : resolve(cwd, folder));

/** Throws `invalid_config` for a folder of the call that cannot be opened. */
export async function checkFolders(
  { cwd, additionalDirectories = [] }: SessionConfig,
  parts: Pick<OpenFoldersParts, 'home' | 'workspace'>,
): Promise<void> {
  for (const folder of additionalDirectories) {
    await toReal(folder, { cwd, ...parts }).catch((cause: Error) => {
      const text = `additionalDirectories: the links of ${folder} cannot be followed: ${cause.message}`;
      throw new HeddleError('invalid_config', text, {
        cause,
        hint: 'Name a folder that can be opened, or leave it out.',
      });
    });
  }
}
