import type { Clock, Logger, Workspace } from '../../protocol/index.js';
import { listFolder, readWhole, resolveReal, statFile, writeWhole } from './files.js';
import { createProcesses } from './processes.js';
import { findRipgrep } from './ripgrep.js';

export interface LocalWorkspaceOptions {
  clock: Clock;
  logger?: Logger;
  /** Where ripgrep is looked for (PATH) when the package does not hold it. */
  env?: Readonly<Record<string, string>>;
}

export interface LocalWorkspace extends Workspace {
  /** Ends what calls have left running in the background. Without it that lives until the host process ends. */
  close(): Promise<void>;
}

const LOCAL = new WeakSet<Workspace>();

/** Whether what is done in it is done to this machine. */
export const isLocal = (workspace: Workspace): boolean => LOCAL.has(workspace);

/** The machine this process runs on. */
export function createLocalWorkspace(options: LocalWorkspaceOptions): LocalWorkspace {
  const processes = createProcesses(options);
  let ripgrep: string | undefined;
  const workspace: LocalWorkspace = {
    readFile: readWhole,
    writeFile: writeWhole,
    stat: statFile,
    realPath: async (path) => resolveReal(path),
    list: listFolder,
    run: (spec) => processes.run(spec),
    async ripgrep() {
      ripgrep ??= await findRipgrep({ env: options.env });
      return ripgrep;
    },
    close: () => processes.close(),
  };
  LOCAL.add(workspace);
  return workspace;
}
