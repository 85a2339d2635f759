import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from '../workspace/folders.js';

export interface Keeper {
  /** Keeps a text; gives the path of its file. */
  keep(name: string, text: string): Promise<string>;
  /** Removes what was kept only for the life of the session. */
  release(): Promise<void>;
}

/**
 * Where output that is too long to show is kept: beside the log, or in a temporary folder when nothing of the session
 * is kept.
 */
export function createKeeper(logPath: string | undefined): Keeper {
  let folder: Promise<string> | undefined;
  const open = async (): Promise<string> => {
    if (logPath === undefined) return mkdtemp(join(tmpdir(), 'heddle-'));
    return join(logPath.replace(/\.jsonl$/, ''), 'tool-results');
  };
  return {
    async keep(name, text) {
      folder ??= open();
      const path = join(await folder, name.replace(/[^\w.-]/g, '_'));
      makeFolders(await folder);
      await writeFile(path, text, { mode: 0o600 });
      return path;
    },
    async release() {
      const kept = await folder?.catch(() => undefined);
      if (logPath === undefined && kept !== undefined) await rm(kept, { recursive: true, force: true });
    },
  };
}
