/** Starts an engine in a process of its own. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Channel } from '../protocol/index.js';
import { createProcessChannel, type ProcessChannelOptions, type SpawnedProcess } from './process.js';
import { describeStartFailure } from './process-failure.js';

/** What a custom spawner is given. */
export interface SpawnOptions {
  command: string;
  args: string[];
  cwd?: string;
  /** The whole environment of the child. */
  env: { [envVar: string]: string | undefined };
  signal: AbortSignal;
}

export interface EngineProcessOptions extends Omit<ProcessChannelOptions, 'command' | 'cwd' | 'signal'> {
  command: string;
  args: readonly string[];
  cwd?: string;
  env: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal;
  /** Starts the child somewhere else: in a container, on another machine. */
  spawn?: (options: SpawnOptions) => SpawnedProcess;
}

/** Throws `process_failed` when a custom spawner throws; a start that fails later ends the channel with that code. */
export function spawnEngineProcess(options: EngineProcessOptions): Channel {
  const { command, args, cwd, env, spawn = spawnLocally, signal = new AbortController().signal, ...rest } = options;
  const child = start(spawn, { command, args: [...args], cwd, env: { ...env }, signal });
  return createProcessChannel(child, { ...rest, command, cwd, signal });
}

function start(spawn: (options: SpawnOptions) => SpawnedProcess, options: SpawnOptions): SpawnedProcess {
  try {
    return spawn(options);
  } catch (thrown) {
    throw describeStartFailure(thrown instanceof Error ? thrown : new Error(String(thrown)), options);
  }
}

/** The signal is left out: the channel answers an abort, with TERM and then KILL. */
function spawnLocally({ command, args, cwd, env }: SpawnOptions): ChildProcessWithoutNullStreams {
  // Loaded here, because only a program that starts a child should pay for it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  return spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
}
