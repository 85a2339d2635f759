/** The folders that a session may use without asking: of its call, of settings files as they are now, and of answers. */
import { join, resolve } from 'node:path';
import type { Workspace } from '../protocol/index.js';

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
  const toReal = (folder: string): Promise<string> =>
    workspace.realPath(/^~(?:\/|$)/.test(folder) ? join(home, folder.slice(1)) : resolve(cwd, folder));
  const pair = (folders: readonly string[]): Promise<[string, string][]> =>
    Promise.all(folders.map(async (folder) => [folder, await toReal(folder)] as [string, string]));

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
