/** How a child process failed, in words that say what to do. */
import { existsSync } from 'node:fs';
import { HeddleError } from '../protocol/plain.js';

const TAIL_CHARS = 4_096;
const GARBAGE_CHARS = 200;

/** Either how a child ended, or why it could not be started. */
export interface Exit {
  code?: number | null;
  signal?: NodeJS.Signals | null;
  error?: Error;
}

export interface StderrTail {
  readonly text: string;
  add(data: string): void;
}

/** Keeps the end of what is added, and no more. */
export function createStderrTail(): StderrTail {
  let tail = '';
  return {
    get text() {
      return tail.trim();
    },
    add(data) {
      tail = `${tail}${data}`.slice(-TAIL_CHARS);
    },
  };
}

export interface ExitFacts {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
  command: string | undefined;
}

export function describeExit({ code, signal, stderr, command }: ExitFacts): HeddleError {
  const words = stderr === '' ? '' : `. stderr: ${stderr}`;
  return new HeddleError('process_failed', `Heddle engine process ${howItEnded(code, signal)}${words}`, {
    hint: hintFor(signal, stderr),
    data: { exitCode: code, signal, stderr, ...(command !== undefined && { command }) },
  });
}

function howItEnded(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `was terminated by signal ${signal}`;
  return code === 0 ? 'exited with code 0 before it answered' : `exited with code ${code ?? 'unknown'}`;
}

function hintFor(signal: NodeJS.Signals | null, stderr: string): string {
  if (signal === 'SIGKILL') return 'Something killed it; the system does so when memory runs out.';
  if (stderr !== '') return 'What it wrote to stderr says why.';
  return 'It wrote nothing to stderr. Run the same command in a terminal to see why.';
}

export function describeGarbage(line: string, cause: HeddleError): HeddleError {
  const start = line.slice(0, GARBAGE_CHARS);
  return new HeddleError('invalid_frame', `Heddle engine process printed a line that is not JSON: ${start}`, {
    cause,
    hint: 'Check that the executable is an engine that speaks stream-json, and that nothing else writes to its stdout.',
    data: { start, length: line.length },
  });
}

const EXECUTABLE_HINT = 'Set pathToClaudeCodeExecutable or CLAUDE_CODE_EXECUTABLE to an executable that exists.';

/** Why a child could not be started. A missing folder looks like a missing executable to the system. */
export function describeStartFailure(
  cause: Error & { code?: string },
  { command = 'the engine', cwd }: { command?: string; cwd?: string },
): HeddleError {
  const fail = (message: string, hint?: string): HeddleError =>
    new HeddleError('process_failed', message, { cause, hint, data: { command, errno: cause.code } });
  if (cause.code !== 'ENOENT' && cause.code !== 'EACCES') {
    return fail(`Heddle engine process could not be started: ${cause.message}`);
  }
  if (cwd !== undefined && !existsSync(cwd)) {
    return fail(
      `Heddle engine process could not be started: the folder ${cwd} does not exist.`,
      'Set cwd to a folder.',
    );
  }
  if (cause.code === 'EACCES') {
    return fail(`Heddle engine executable may not be run: ${command}`, `Make it executable. ${EXECUTABLE_HINT}`);
  }
  return fail(`Heddle engine executable not found: ${command}`, EXECUTABLE_HINT);
}
