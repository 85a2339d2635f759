import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Where output that is too long to show is kept: beside the log, or in a temporary folder when nothing of the session
 * is kept.
 */
export function createKeeper(logPath: string | undefined): (name: string, text: string) => Promise<string> {
  let folder: Promise<string> | undefined;
  const open = async (): Promise<string> => {
    if (logPath === undefined) return mkdtemp(join(tmpdir(), 'heddle-'));
    const beside = join(logPath.replace(/\.jsonl$/, ''), 'tool-results');
    await mkdir(beside, { recursive: true, mode: 0o700 });
    return beside;
  };
  return async (name, text) => {
    folder ??= open();
    const path = join(await folder, name.replace(/[^\w.-]/g, '_'));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
}
