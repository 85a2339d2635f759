/** A server that is a process of ours: messages on its standard input and output, one a line. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Clock, McpStdioServerConfig, ProcessExit, ProcessInput, Workspace } from '../../../protocol/index.js';
import { HeddleError } from '../../../protocol/plain.js';
import type { Carrier, Note } from './carrier.js';
import { createLineReader, MAX_MESSAGE_BYTES } from './lines.js';
import type { Outstanding } from './outstanding.js';
import { type Evidence, NO_ANSWER } from './phase-error.js';
import { isRecord } from './text.js';

export interface ProcessCarrierOptions {
  config: McpStdioServerConfig;
  workspace: Workspace;
  clock: Clock;
  env: Readonly<Record<string, string>>;
  cwd: string;
  outstanding: Outstanding;
  note: Note;
}

/** A server that is told to go by the end of its input has this long before it is sent TERM. */
const FAREWELL_MS = 300;
const STDERR_BYTES = 8 * 1024;
/** More than this is not kept for a server that does not read. */
const UNREAD_BYTES = 4 * MAX_MESSAGE_BYTES;
/** How often the same complaint is worth a note. */
const GARBAGE_NOTES = 5;

export class ProcessCarrier implements Carrier {
  onmessage?: Carrier['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  failure: Error | undefined;
  isStarted = false;
  readonly #options: ProcessCarrierOptions;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #stderr = Buffer.alloc(0);
  #input: ProcessInput | undefined;
  #exit: ProcessExit | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ProcessCarrierOptions) {
    this.#options = options;
  }

  get evidence(): Evidence {
    const stderr = this.#stderr.toString('utf8');
    const exited = this.#exit !== undefined && (this.#exit.code !== null || this.#exit.signal !== null);
    return {
      ...(exited && { exitCode: this.#exit?.code, signal: this.#exit?.signal }),
      ...(stderr !== '' && { stderr }),
    };
  }

  start(): Promise<void> {
    const { config, workspace, env, cwd } = this.#options;
    const started = Promise.withResolvers<void>();
    const read = createLineReader({
      message: (message) => this.#receive(message as JSONRPCMessage),
      garbage: (text, count) => this.#noteGarbage(text, count),
      flood: (error) => this.#giveUp(error),
    });
    const running = workspace.run({
      argv: [config.command, ...(config.args ?? [])],
      cwd,
      env: { ...env, ...config.env },
      signal: this.#stop.signal,
      onStart: (input) => {
        this.isStarted = true;
        this.#input = input;
        started.resolve();
      },
      onOutput: (chunk, stream) => (stream === 'stdout' ? read(chunk) : this.#keepStderr(chunk)),
    });
    running.then(
      (exit) => this.#end(describeExit(exit), exit),
      (error: unknown) => {
        const failure = error instanceof Error ? error : new Error(String(error));
        started.reject(failure);
        this.#end(failure);
      },
    );
    return started.promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#input === undefined || this.#exit !== undefined || this.#closing !== undefined) {
      return Promise.reject(new HeddleError('channel_closed', 'the connection is closed', { retryable: true }));
    }
    const line = `${JSON.stringify(message)}\n`;
    if (line.length > MAX_MESSAGE_BYTES) {
      return Promise.reject(new HeddleError('frame_too_large', 'what it was to be sent is more than 16 MB'));
    }
    if (this.#input.buffered + line.length > UNREAD_BYTES) {
      return Promise.reject(new HeddleError('request_failed', 'it does not read what it is sent', { retryable: true }));
    }
    this.#options.outstanding.sent(message);
    this.#input.write(line);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closing ??= this.#sayFarewell();
    return this.#closing;
  }

  async #sayFarewell(): Promise<void> {
    if (this.#input === undefined) return this.#stop.abort();
    this.#input.end();
    const cancel = this.#options.clock.after(FAREWELL_MS, () => this.#stop.abort());
    await this.#ended.promise;
    cancel();
  }

  #receive(message: JSONRPCMessage): void {
    if (this.#options.outstanding.admits(message)) this.onmessage?.(toWhole(message));
  }

  #keepStderr(chunk: Uint8Array): void {
    this.#stderr = Buffer.concat([this.#stderr, chunk.subarray(-STDERR_BYTES)]).subarray(-STDERR_BYTES);
  }

  #noteGarbage(text: string, count: number): void {
    if (count > GARBAGE_NOTES) return;
    const more = count === GARBAGE_NOTES ? ' More of them are skipped without a note.' : '';
    this.#options.note(`It printed a line that is no message; it was skipped.${more}`, { line: text, count });
  }

  /** Nothing good comes any more: it is ended at once. */
  #giveUp(error: Error): void {
    this.failure ??= error;
    this.#stop.abort();
  }

  #end(failure: Error, exit: ProcessExit = { code: null, signal: null, timedOut: false, aborted: false }): void {
    this.#exit = exit;
    if (this.#closing === undefined) this.failure ??= failure;
    this.#ended.resolve();
    this.onclose?.();
  }
}

/** The library drops an answer that is none, and whoever waits for it would wait on. */
function toWhole(message: JSONRPCMessage): JSONRPCMessage {
  if ('method' in message || ('result' in message && isRecord(message.result))) return message;
  const { id } = message;
  const error = 'error' in message && isRecord(message.error) ? message.error : undefined;
  if (error !== undefined && Number.isInteger(error.code) && typeof error.message === 'string') return message;
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message: 'its answer has neither a result nor an error' } };
}

function describeExit({ code, signal }: ProcessExit): HeddleError {
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  return new HeddleError('process_failed', `its process ended ${how}`, { retryable: true });
}
