/** Real processes that run agents, and are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build, type OutputFile } from 'esbuild';
import type { MessageParam } from '../../src/protocol/index.js';
import type { AgentOrder, Said } from './child/order.js';
import { removeFolder } from '../remove-folder.js';

export interface Agent {
  pid: number;
  /** All that it has said so far. */
  said: Said[];
  /** Resolves when it says that it is at this point. Rejects when it ends without. */
  reaches(point: string): Promise<void>;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Resolves when it has ended by itself. Rejects when that was no clean end. */
  ended: Promise<Said[]>;
}

export interface Agents {
  start(order: AgentOrder, options?: StartOptions): Agent;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** As whom it runs. */
  uid?: number;
  /** A program with its arguments that starts it. */
  via?: readonly string[];
}

let built: Promise<OutputFile[]> | undefined;

/** The program, built once for all tests of this process. */
function buildProgram(): Promise<OutputFile[]> {
  built ??= build({
    entryPoints: { agent: join(import.meta.dirname, 'child/agent.ts') },
    outdir: '/',
    outExtension: { '.js': '.mjs' },
    write: false,
    bundle: true,
    // What is loaded late stays apart, as in the package: a process starts in the time that it needs there.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'silent',
    external: ['sharp'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  }).then(({ outputFiles }) => outputFiles);
  return built;
}

export async function createAgents(): Promise<Agents> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-agents-'));
  // Others must be able to run it too.
  chmodSync(folder, 0o755);
  for (const { path, contents } of await buildProgram()) writeFileSync(join(folder, basename(path)), contents);
  const program = join(folder, 'agent.mjs');
  const children = new Set<ChildProcess>();
  return {
    start(order, { uid, via = [] } = {}) {
      const [command, ...args] = [...via, process.execPath, program, JSON.stringify(order)];
      const child = spawn(command ?? '', args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env.PATH, TMPDIR: tmpdir(), NODE_COMPILE_CACHE: join(folder, 'compiled'), ...order.env },
        ...(uid !== undefined && { uid, gid: uid }),
      });
      children.add(child);
      return toAgent(child);
    },
    async stop() {
      await Promise.all([...children].map(end));
      removeFolder(folder);
    },
  };
}

function toAgent(child: ChildProcess): Agent {
  const said: Said[] = [];
  const waiting: { point: string; resolve: () => void; reject: (error: Error) => void }[] = [];
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const one = JSON.parse(line) as Said;
      said.push(one);
      if ('at' in one) for (const wait of waiting) if (wait.point === one.at) wait.resolve();
    });
  }
  const ended = new Promise<Said[]>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const story = `${JSON.stringify(said).slice(-1500)}\n${stderr}`;
      for (const wait of waiting) wait.reject(new Error(`It never came to "${wait.point}": ${story}`));
      if (code === 0) resolve(said);
      else reject(new Error(`The process ended with ${code ?? signal}: ${story}`));
    });
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? 0,
    said,
    ended,
    reaches: (point) =>
      new Promise((resolve, reject) => {
        if (said.some((one) => 'at' in one && one.at === point)) resolve();
        else waiting.push({ point, resolve, reject });
      }),
    kill: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'close');
  child.kill('SIGKILL');
  await gone;
}

export const messagesOf = (said: readonly Said[]) => said.flatMap((one) => ('message' in one ? [one.message] : []));
export const requestsOf = (said: readonly Said[]): MessageParam[][] =>
  said.flatMap((one) => ('request' in one ? [one.request] : []));
export const askedOf = (said: readonly Said[]): string[] => said.flatMap((one) => ('asked' in one ? [one.asked] : []));
export const errorOf = (said: readonly Said[]) => said.flatMap((one) => ('error' in one ? [one.error] : []))[0];
