/** Shell lines as processes, in the foreground and in the background. */
import { constants } from 'node:os';
import type { ProcessExit, ToolContext } from '../../protocol/index.js';
import type { Sandbox, SandboxedSpec, Wrapped } from '../sandbox/sandbox.js';
import { createOutputBuffer } from './output-buffer.js';

const KEPT = { headBytes: 5 * 1024 * 1024, tailBytes: 5 * 1024 * 1024 };

const REPORT = '{ builtin printf "\\0"; builtin pwd -P; builtin printf "\\0"; } >&19 2>/dev/null';

/**
 * Runs `$1`. Both its streams go to stdout, which alone keeps their order; what was stderr is the way by which the
 * working directory comes back, between two NULs, whether the command ends or exits, and whatever it does to traps.
 * Descriptor 19 is one that scripts do not use. All in one line, so that bash counts the lines of the command from 1.
 */
const WRAPPER = [
  'exec 19>&2 2>&1',
  `trap '${REPORT}' EXIT`,
  '__heddle_command=$1',
  'shift',
  'eval "$__heddle_command"',
  '__heddle_status=$?',
  REPORT,
  'builtin exit "$__heddle_status"',
].join('; ');

const BACKGROUND_WRAPPER = 'exec 2>&1; __heddle_command=$1; shift; eval "$__heddle_command"';

export interface ShellRun {
  command: string;
  cwd: string;
  timeoutMs: number;
  /** The command runs in there. */
  sandbox?: Sandbox | undefined;
}

export interface ShellOutcome {
  exit: ProcessExit;
  output: string;
  /** What of it came before the command began. */
  stray: string;
  /** Bytes in the midst of the output that were not kept. */
  dropped: number;
  /** The folder in which the command ended, if it said so. */
  cwd: string | undefined;
}

/** Runs a command to its end. Its output is held in bounded memory. */
export async function runShell(
  { command, cwd, timeoutMs, sandbox }: ShellRun,
  context: ToolContext,
): Promise<ShellOutcome> {
  const output = createOutputBuffer(KEPT);
  const report = createOutputBuffer({ headBytes: 32 * 1024, tailBytes: 32 * 1024 });
  const { argv, env, release } = await wrap(sandbox, {
    argv: ['bash', '-c', WRAPPER, 'bash', command],
    cwd,
    env: context.env,
    roots: context.roots,
  });
  const exit = await context.workspace
    .run({
      argv,
      cwd,
      env,
      signal: context.signal,
      timeoutMs,
      onOutput: (chunk, stream) => (stream === 'stdout' ? output : report).append(chunk),
    })
    .finally(release);
  const { stray, reported } = readReport(report.text());
  return { exit, output: `${stray}${output.text()}`, stray, dropped: output.dropped(), cwd: reported };
}

/** Takes the last folder out of the report; anything else in it bash said before the command began. */
function readReport(report: string): { stray: string; reported: string | undefined } {
  const parts = report.split('\0');
  const folders = parts.filter((_, i) => i % 2 === 1 && i < parts.length - 1);
  const stray = parts.filter((_, i) => i % 2 === 0).join('');
  return { stray, reported: folders.at(-1)?.replace(/\n$/, '') };
}

/** The process as it is, or in the sandbox. */
const wrap = (sandbox: Sandbox | undefined, spec: SandboxedSpec): Promise<Wrapped> =>
  sandbox?.wrap(spec) ?? Promise.resolve({ argv: spec.argv, env: spec.env, release: () => Promise.resolve() });

/** Runs a command until it ends or the signal aborts; its output goes where it is told. */
export async function runDetached(
  run: Omit<ShellRun, 'timeoutMs'> & { timeoutMs: number | undefined; onOutput: (chunk: Uint8Array) => void },
  context: Pick<ToolContext, 'workspace' | 'env' | 'signal' | 'roots'>,
): Promise<ProcessExit> {
  const { command, cwd, timeoutMs, onOutput, sandbox } = run;
  const { workspace, signal, roots } = context;
  const spec = { argv: ['bash', '-c', BACKGROUND_WRAPPER, 'bash', command] as const, cwd, env: context.env, roots };
  const { argv, env, release } = await wrap(sandbox, spec);
  return workspace
    .run({ argv, cwd, env, signal, ...(timeoutMs !== undefined && { timeoutMs }), onOutput })
    .finally(release);
}

const signalNumbers: Readonly<Record<string, number>> = constants.signals;

/** As a shell would report it: 128 and the number of the signal. */
export function exitCodeOf({ code, signal, timedOut }: ProcessExit): number {
  if (timedOut) return 143;
  return code ?? 128 + (signalNumbers[signal ?? ''] ?? 0);
}

/** What a signal ended, the shell or the last program in it; undefined when none did. */
export function signalOf(exit: ProcessExit): string | undefined {
  if (exit.signal !== null) return exit.signal;
  const number = (exit.code ?? 0) - 128;
  // Git and others end so where they are called in a wrong way.
  if (number === signalNumbers.SIGHUP) return undefined;
  return Object.keys(signalNumbers).find((name) => signalNumbers[name] === number);
}
