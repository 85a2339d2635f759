/** Runs a program in a process of its own and tells which modules it loaded. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder } from '../remove-folder.js';

const RECORDER = join(import.meta.dirname, 'record-modules.cjs');

export interface LoadedModules {
  /** In the order in which they were loaded; Node's own are left out. */
  modules: { path: string; bytes: number }[];
  /** Those that were loaded when the first output was written. */
  beforeFirstOutput: { path: string; bytes: number }[];
}

interface Recording {
  modules: { url: string; bytes: number }[];
  beforeFirstOutput?: number;
}

/** `run` starts the program with these arguments for Node and this environment, and waits for its end. */
export async function recordModules(
  run: (nodeArgs: string[], env: Record<string, string>) => Promise<unknown>,
): Promise<LoadedModules> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-counts-'));
  try {
    const file = join(folder, 'modules.json');
    await run(['--require', RECORDER], { COUNTS_FILE: file });
    const recording = JSON.parse(readFileSync(file, 'utf8')) as Recording;
    const modules = recording.modules.map(({ url, bytes }) => ({ path: fileURLToPath(url), bytes }));
    return { modules, beforeFirstOutput: modules.slice(0, recording.beforeFirstOutput ?? 0) };
  } finally {
    removeFolder(folder);
  }
}

/** Modules with code of the schema library in them: its own files, or a bundle's. */
export const withZod = (modules: LoadedModules['modules']): string[] =>
  modules
    .map(({ path }) => path)
    .filter((path) => /[/\\]node_modules[/\\]zod[/\\]/.test(path) || readFileSync(path, 'utf8').includes('$ZodType'));

export const bytesOf = (modules: LoadedModules['modules']): number =>
  modules.reduce((sum, { bytes }) => sum + bytes, 0);
