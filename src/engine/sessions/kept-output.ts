import { closeSync, existsSync, mkdtempSync, openSync, realpathSync, writeSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolders } from '../workspace/folders.js';

/** A file that can be read while it grows. */
export interface OutputFile {
  readonly path: string;
  /** Never throws: what cannot be written is lost, and the file says so where it can. */
  write(chunk: Uint8Array): void;
  close(): void;
}

export interface Keeper {
  /** Where things are kept, links resolved, once there is something. The model may read there without asking. */
  readonly folder: string | undefined;
  /** Keeps a whole; gives the path of its file. */
  keep(name: string, data: string | Uint8Array): Promise<string>;
  openOutput(name: string): OutputFile;
  /** Removes what was kept only for the life of the session. */
  release(): Promise<void>;
}

/** A command in the background may print for days. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const CUT_NOTE = '\n\n[What was printed after this is not kept: the file has reached its limit of 64 MB]\n';

/** Beside the log, or in a temporary folder when nothing of the session is kept. */
export function createKeeper(logPath: string | undefined): Keeper {
  const beside = logPath?.replace(/\.jsonl$/, '');
  // A resumed session finds what it kept before.
  let folder = beside !== undefined && existsSync(beside) ? realpathSync(beside) : undefined;
  const pathFor = (kind: 'tool-results' | 'tasks', name: string): string => {
    if (folder === undefined) {
      const made = beside ?? mkdtempSync(join(tmpdir(), 'heddle-'));
      makeFolders(made);
      folder = realpathSync(made);
    }
    makeFolders(join(folder, kind));
    return join(folder, kind, name.replace(/[^\w.-]/g, '_').slice(-100));
  };
  return {
    get folder() {
      return folder;
    },
    async keep(name, data) {
      const path = pathFor('tool-results', name);
      // In the place of a link or a pipe, never through it.
      await rm(path, { force: true });
      await writeFile(path, data, { mode: 0o600, flag: 'wx' });
      return path;
    },
    openOutput: (name) => openOutputFile(pathFor('tasks', name)),
    async release() {
      if (logPath === undefined && folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function openOutputFile(path: string): OutputFile {
  let file: number | undefined = openSync(path, 'wx', 0o600);
  let left = MAX_OUTPUT_BYTES;
  return {
    path,
    write(chunk) {
      if (file === undefined || left <= 0) return;
      try {
        writeSync(file, chunk.length > left ? chunk.subarray(0, left) : chunk);
        left -= chunk.length;
        if (left <= 0) writeSync(file, CUT_NOTE);
      } catch {
        left = 0;
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
