/** Runs the built program the way a shell or an SDK does. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { removeFolder } from '../remove-folder.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const BIN = join(root, 'bin/heddle.js');

/** Builds only what is not there: the scripts of the package build first. */
export function ensureBuilt(): void {
  if (existsSync(join(root, 'dist/cli-bundle/main.js'))) return;
  const built = spawnSync(process.execPath, [join(root, 'scripts/build.js'), '--quiet'], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
}

export interface CliOutcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** Written to stdin, which then ends. Absent: stdin is empty. */
  input?: string;
  /** Stdin is a pipe that stays open. */
  keepsInputOpen?: boolean;
  nodeArgs?: string[];
  /** A descriptor to write the output to, instead of a pipe. */
  stdout?: number;
}

export interface StartedCli {
  child: ChildProcess;
  /** Resolves when stdout holds the text. */
  prints: (text: string) => Promise<void>;
  /** The same of stderr. */
  complains: (text: string) => Promise<void>;
  done: Promise<CliOutcome>;
}

/** A folder of its own for each test file, with a project and an empty configuration in it. */
export function createHome() {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-cli-'));
  return { folder, remove: () => removeFolder(folder) };
}

export function startCli(home: string, args: readonly string[], options: CliOptions = {}): StartedCli {
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), BIN, ...args], {
    cwd: options.cwd ?? home,
    stdio: [
      options.input === undefined && !options.keepsInputOpen ? 'ignore' : 'pipe',
      options.stdout ?? 'pipe',
      'pipe',
    ],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      // What it leaves in the temporary folder goes with the home.
      TMPDIR: home,
      HEDDLE_CONFIG_DIR: join(home, 'config'),
      CLAUDE_CODE_MAX_RETRIES: '0',
      ...options.env,
    },
  });
  if (options.input !== undefined) child.stdin?.end(options.input);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  return {
    child,
    prints: stdout.holds,
    complains: stderr.holds,
    done: new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, stdout: stdout.text, stderr: stderr.text }));
    }),
  };
}

function collect(stream: Readable | null) {
  let all = '';
  let waiting: { text: string; resolve: () => void }[] = [];
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    all += chunk;
    for (const { text, resolve } of waiting) if (all.includes(text)) resolve();
    waiting = waiting.filter(({ text }) => !all.includes(text));
  });
  return {
    get text() {
      return all;
    },
    holds: (text: string): Promise<void> =>
      new Promise((resolve) => {
        if (all.includes(text)) resolve();
        else waiting.push({ text, resolve });
      }),
  };
}

export const runCli = (home: string, args: readonly string[], options?: CliOptions): Promise<CliOutcome> =>
  startCli(home, args, options).done;

/** The lines of a stream, each of which must be JSON. */
export const framesOf = (stdout: string): Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
