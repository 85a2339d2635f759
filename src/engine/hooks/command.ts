/** Runs the command of a hook: its input on standard input, what it prints kept within bounds. */
import type { ProcessExit, ProcessSpec } from '../../protocol/index.js';
import { LOST_WHEN_ASYNC, MAX_OUTPUT } from './answer.js';

export interface CommandSpec {
  command: string;
  /** JSON. */
  input: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

export interface Printed {
  stdout: string;
  stderr: string;
  /** Both, in the order in which they came. */
  output: string;
  tooLong: boolean;
  /** The last of standard output, whatever was printed before it. */
  lastOfStdout: string;
}

export interface RunningCommand {
  /** Rejects when it cannot be started. */
  ended: Promise<ProcessExit>;
  /** Resolves when its first line says that nobody should wait for it; what it prints after that line is its answer. */
  wentAsync: Promise<{ timeoutMs?: number }>;
  printed(): Printed;
}

export type RunProcess = (spec: ProcessSpec) => Promise<ProcessExit>;

const MAX_FIRST_LINE = 1_000;

export function startCommand(runProcess: RunProcess, spec: CommandSpec): RunningCommand {
  const stdout = collectText();
  const stderr = collectText();
  const both = collectText();
  const wentAsync = Promise.withResolvers<{ timeoutMs?: number }>();
  let firstLine: 'open' | 'answer' | 'async' = 'open';

  const lookAtFirstLine = (): void => {
    const text = stdout.text();
    const end = text.indexOf('\n');
    if (end < 0 && text.length <= MAX_FIRST_LINE) return;
    const said = parseAsync(end < 0 ? '' : text.slice(0, end));
    firstLine = said === undefined ? 'answer' : 'async';
    if (said !== undefined) wentAsync.resolve(said);
  };

  const ended = (async () =>
    runProcess({
      argv: ['bash', '-c', spec.command],
      cwd: spec.cwd,
      env: spec.env,
      signal: spec.signal,
      input: new TextEncoder().encode(`${spec.input}\n`),
      onOutput(chunk, stream) {
        (stream === 'stdout' ? stdout : stderr).append(chunk);
        both.append(chunk);
        if (stream === 'stdout' && firstLine === 'open') lookAtFirstLine();
      },
    }))();

  return {
    ended,
    wentAsync: wentAsync.promise,
    printed() {
      const text = stdout.text();
      const answer = firstLine === 'async' ? text.slice(text.indexOf('\n') + 1) : text;
      const { tooLong, last } = stdout;
      return { stdout: answer, stderr: stderr.text(), output: both.text(), tooLong: tooLong(), lastOfStdout: last() };
    },
  };
}

/** `{"async": true, "asyncTimeout"?: ms}`; undefined for any other line. */
function parseAsync(line: string): { timeoutMs?: number } | undefined {
  if (line.length > MAX_FIRST_LINE || !line.trimStart().startsWith('{')) return undefined;
  try {
    const value = JSON.parse(line) as { async?: unknown; asyncTimeout?: unknown };
    if (value.async !== true || LOST_WHEN_ASYNC.some((field) => field in value)) return undefined;
    const { asyncTimeout } = value;
    return typeof asyncTimeout === 'number' && asyncTimeout > 0 ? { timeoutMs: asyncTimeout } : {};
  } catch {
    return undefined;
  }
}

/** So much of the end of a long output is looked at. */
const MAX_LAST = 64 * 1024;

/** The beginning of a stream as text, and the last of it. */
function collectText() {
  const decoder = new TextDecoder();
  const lastDecoder = new TextDecoder();
  let text = '';
  let last = '';
  let bytes = 0;
  return {
    append(chunk: Uint8Array): void {
      const room = MAX_OUTPUT - Math.min(bytes, MAX_OUTPUT);
      bytes += chunk.byteLength;
      if (room > 0) text += decoder.decode(chunk.subarray(0, room), { stream: true });
      last = (last + lastDecoder.decode(chunk, { stream: true })).slice(-MAX_LAST);
    },
    text: (): string => text,
    last: (): string => last,
    tooLong: (): boolean => bytes > MAX_OUTPUT,
  };
}
