/** A Channel to a child process over its stdin and stdout, which also ends the child and says how it ended. */
import type { Readable, Writable } from 'node:stream';
import type { Channel, Clock, Frame, FrameSink, Logger } from '../protocol/index.js';
import { AbortError, HeddleError, toHeddleError } from '../protocol/plain.js';
import { createStderrTail, describeExit, describeGarbage, describeStartFailure, type Exit } from './process-failure.js';
import { createStdioChannel, type StdioChannel } from './stdio.js';

/** A running child, as a custom spawner returns it. That of Node fits. */
export interface SpawnedProcess {
  stdin: Writable;
  stdout: Readable;
  /** Read to the end when it is there: its tail goes into errors. */
  stderr?: Readable | null;
  readonly killed: boolean;
  readonly exitCode: number | null;
  kill(signal: NodeJS.Signals): boolean;
  on(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  once(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  once(event: 'error', listener: (error: Error) => void): void;
  off(event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
  off(event: 'error', listener: (error: Error) => void): void;
}

export interface ProcessChannelOptions {
  clock: Clock;
  logger?: Logger;
  /** What was started, for error texts. */
  command?: string;
  cwd?: string;
  /** An abort closes the channel, and with it the child. */
  signal?: AbortSignal;
  /** Receives all that the child writes to stderr. */
  stderr?: (data: string) => void;
  /** Skip lines of stdout that are not JSON and log them; without it the first one ends the channel. */
  lenient?: boolean;
  /** How long after TERM a child is killed (5 s). */
  killDelayMs?: number;
  /** The longest line accepted, in bytes: 64 MiB when absent. */
  maxLineBytes?: number;
}

const KILL_DELAY_MS = 5_000;
/** After the exit, output of grandchildren is waited for until nothing came for so long, twice. */
const QUIET_MS = 250;

/**
 * The input ends when the child has exited and its output is read: with `process_failed` unless it exited with 0, or
 * before it said anything although it was asked. `close` sends TERM, and KILL to a child that ignores it.
 */
export function createProcessChannel(child: SpawnedProcess, options: ProcessChannelOptions): Channel {
  return new ProcessChannel(child, options);
}

class ProcessChannel implements Channel {
  readonly trusted = false;
  readonly final = true;
  readonly #child: SpawnedProcess;
  readonly #options: ProcessChannelOptions;
  readonly #stdio: StdioChannel;
  readonly #tail = createStderrTail();
  #sink: FrameSink | undefined;
  #exit: Exit | undefined;
  /** How stdout ended, once it has. */
  #outputEnd: { error: Error | undefined } | undefined;
  #stderrIsOpen = false;
  #frames = 0;
  #activity = 0;
  #hasEnded = false;
  #closed: { reason: Error | undefined } | undefined;
  #stopKill: () => void = () => {};
  #stopQuiet: () => void = () => {};

  constructor(child: SpawnedProcess, options: ProcessChannelOptions) {
    this.#child = child;
    this.#options = options;
    child.on('error', (error) => this.#takeExit({ error }));
    child.on('exit', (code, signal) => this.#takeExit({ code, signal }));
    this.#stdio = createStdioChannel({
      input: child.stdout,
      output: child.stdin,
      readToEnd: true,
      maxLineBytes: options.maxLineBytes,
      onBadLine: (line, error) => this.#takeBadLine(line, error),
    });
    this.#readStderr();
    if (child.exitCode !== null) this.#takeExit({ code: child.exitCode, signal: null });
    options.signal?.addEventListener('abort', this.#abort, { once: true });
    if (options.signal?.aborted) this.#abort();
  }

  get buffered(): number {
    return this.#stdio.buffered;
  }

  receive(sink: FrameSink): void {
    if (this.#sink !== undefined) throw new HeddleError('internal', 'This channel has a receiver already.');
    this.#sink = sink;
    if (this.#closed !== undefined) return this.#tellClosed(this.#closed.reason);
    this.#stdio.receive({
      frame: (frame) => {
        this.#frames += 1;
        this.#activity += 1;
        sink.frame(frame);
      },
      end: (error) => this.#endOutput(error),
      backlog: () => sink.backlog?.() ?? { size: 0, belowLimit: () => Promise.resolve() },
    });
  }

  send(frame: Frame): void {
    this.#stdio.send(frame);
  }

  drained(limit: number): Promise<void> {
    return this.#stdio.drained(limit);
  }

  end(): void {
    this.#hasEnded = true;
    this.#stdio.end();
  }

  close(reason?: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = { reason };
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#stopQuiet();
    this.#stdio.close(reason);
    if (this.#exit === undefined) this.#terminate();
    this.#unref();
    if (this.#sink !== undefined) this.#tellClosed(reason);
  }

  #tellClosed(reason: Error | undefined): void {
    this.#sink?.end(reason);
    this.#sink?.closed?.(reason);
  }

  readonly #abort = (): void => {
    this.close(new AbortError('Heddle engine process aborted by user', this.#options.signal?.reason));
  };

  #terminate(): void {
    const { clock, killDelayMs = KILL_DELAY_MS } = this.#options;
    this.#stopKill();
    this.#kill('SIGTERM');
    this.#stopKill = clock.after(killDelayMs, () => this.#kill('SIGKILL'), { background: true });
  }

  /** Nobody waits for the child any more: this process may end before it does. */
  #unref(): void {
    const { stdin, stderr } = this.#child;
    for (const part of [this.#child, stdin, stderr] as ({ unref?: () => void } | null | undefined)[]) part?.unref?.();
  }

  #kill(signal: NodeJS.Signals): void {
    try {
      this.#child.kill(signal);
    } catch (thrown) {
      this.#log('warn', `The engine process could not be sent ${signal}. ${toHeddleError(thrown).message}`);
    }
  }

  #readStderr(): void {
    const { stderr } = this.#child;
    if (stderr === null || stderr === undefined) return;
    this.#stderrIsOpen = true;
    const end = (): void => {
      this.#stderrIsOpen = false;
      this.#finishIfOver();
    };
    stderr.setEncoding('utf8');
    stderr.on('data', (data: string) => {
      this.#activity += 1;
      this.#tail.add(data);
      this.#tell(data);
    });
    stderr.on('end', end);
    stderr.on('close', end);
    stderr.on('error', end);
  }

  /** The caller's callback may throw; the child's life must not depend on it. */
  #tell(data: string): void {
    try {
      this.#options.stderr?.(data);
    } catch (thrown) {
      this.#log('warn', `The stderr callback threw. ${toHeddleError(thrown).message}`);
    }
  }

  #takeBadLine(line: string, error: HeddleError): HeddleError | undefined {
    this.#activity += 1;
    if (this.#options.lenient !== true) return describeGarbage(line, error);
    this.#log('warn', 'The engine process printed a line that is not JSON.', { line: line.slice(0, 200) });
    return undefined;
  }

  #takeExit(exit: Exit): void {
    // An error after the start, such as a failed kill, does not mean that the child is gone.
    if (this.#exit !== undefined || (exit.error !== undefined && !isStartFailure(this.#child))) return;
    this.#exit = exit;
    this.#stopKill();
    if (exit.error !== undefined) return this.#finish(describeStartFailure(exit.error, this.#options));
    this.#awaitQuiet();
    this.#finishIfOver();
  }

  /** A pipe that the child's own children hold open gives no end; a pause of the event loop is no quiet. */
  #awaitQuiet(rounds = 2): void {
    if (this.#closed !== undefined) return;
    const before = this.#activity;
    const look = (): void => {
      if (this.#sink === undefined || before !== this.#activity) return this.#awaitQuiet();
      if (rounds > 1) return this.#awaitQuiet(rounds - 1);
      this.#finish(this.#toFailure());
    };
    this.#stopQuiet = this.#options.clock.after(QUIET_MS, look, { background: true });
  }

  #endOutput(error: Error | undefined): void {
    if (this.#closed !== undefined) return;
    this.#outputEnd = { error };
    if (error !== undefined && !isGone(error)) return this.#finish(error);
    if (this.#exit === undefined) {
      // It says nothing more, so it may go. One that stays is made to.
      const { clock, killDelayMs = KILL_DELAY_MS } = this.#options;
      this.#stopKill();
      this.#stopKill = clock.after(killDelayMs, () => this.#terminate(), { background: true });
    }
    this.#finishIfOver();
  }

  #finishIfOver(): void {
    if (this.#exit === undefined || this.#outputEnd === undefined || this.#stderrIsOpen) return;
    this.#finish(this.#toFailure());
  }

  #toFailure(): HeddleError | undefined {
    const { code = null, signal = null } = this.#exit ?? {};
    const isSilent = this.#frames === 0 && !this.#hasEnded;
    if (code === 0 && !isSilent) return undefined;
    return describeExit({ code, signal, stderr: this.#tail.text, command: this.#options.command });
  }

  /** Nothing more comes. */
  #finish(error: Error | undefined): void {
    if (this.#closed !== undefined) return;
    this.close(error);
  }

  #log(level: Parameters<Logger>[0], text: string, data?: Record<string, unknown>): void {
    this.#options.logger?.(level, text, data);
  }
}

/** A child that never started has no process id; a custom one without ids counts as never started. */
const isStartFailure = (child: SpawnedProcess): boolean => (child as { pid?: number }).pid === undefined;

/** The pipe broke, which says less than the exit that follows. */
const isGone = (error: Error): boolean => error instanceof HeddleError && error.code === 'channel_closed';
