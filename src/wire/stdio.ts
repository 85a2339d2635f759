/** A Channel over two byte streams, one JSON frame per line. The only place that writes to stdout. */
import type { Readable, Writable } from 'node:stream';
import type { Channel, Frame, FrameSink } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { createLineWriter, type LineWriter } from './line-writer.js';
import { createLineDecoder, type LineDecoder, parseLine } from './ndjson.js';

export interface StdioChannelOptions {
  /** Read from the moment `receive` is called; destroyed when the channel closes. */
  input: Readable;
  /** Ended, but never destroyed: what was written before reaches its reader. */
  output: Writable;
  /** The longest line accepted, in bytes: 64 MiB when absent. */
  maxLineBytes?: number;
  /** For the pipes of a child: when it stops reading, what it has written is still read to the end before we close. */
  readToEnd?: boolean;
  /** Decides about a line that is not JSON: an error ends the input with it, undefined skips the line. */
  onBadLine?: (line: string, error: HeddleError) => HeddleError | undefined;
}

/** `flushed` resolves when everything sent is handed to the operating system: only then is it safe to exit. */
export interface StdioChannel extends Channel {
  flushed(): Promise<void>;
}

export function createStdioChannel(options: StdioChannelOptions): StdioChannel {
  return new StreamChannel(options);
}

class StreamChannel implements StdioChannel {
  readonly trusted = false;
  readonly final = true;
  readonly #input: Readable;
  readonly #writer: LineWriter;
  readonly #decoder: LineDecoder;
  readonly #readToEnd: boolean;
  readonly #onBadLine: StdioChannelOptions['onBadLine'];
  /** Set when nobody reads our output any more, and the input is read to its end before we close. */
  #outputLoss: { reason: Error | undefined } | undefined;
  #sink: FrameSink | undefined;
  /** How the input ended, once it has. */
  #inputEnd: { error: Error | undefined } | undefined;
  #closing: { reason: Error | undefined } | undefined;
  #closeWaits = new Set<() => void>();

  constructor({ input, output, maxLineBytes, readToEnd = false, onBadLine }: StdioChannelOptions) {
    this.#input = input;
    this.#readToEnd = readToEnd;
    this.#onBadLine = onBadLine;
    this.#writer = createLineWriter(output, (cause) => this.#loseOutput(cause));
    this.#decoder = createLineDecoder({
      maxLineBytes,
      onLine: (line) => this.#takeLine(line),
      onError: (error) => this.#finishInput(error),
    });
    input.on('error', (cause) => this.#finishInput(gone('Reading the input failed.', cause)));
    input.on('close', () => this.#finishInput(gone('The input was closed before its end.')));
  }

  get buffered(): number {
    return this.#closing === undefined ? this.#writer.buffered : 0;
  }

  receive(sink: FrameSink): void {
    if (this.#sink !== undefined) throw new HeddleError('internal', 'This channel has a receiver already.');
    this.#sink = sink;
    if (this.#inputEnd !== undefined) sink.end(this.#inputEnd.error);
    if (this.#closing !== undefined) sink.closed?.(this.#closing.reason);
    if (this.#inputEnd !== undefined) return;
    if (this.#input.readableEnded) return this.#finishInput();
    if (this.#input.destroyed) return this.#finishInput(gone('The input was closed before its end.'));
    this.#input.on('data', this.#takeChunk);
    this.#input.on('end', () => {
      this.#decoder.end();
      this.#finishInput();
    });
  }

  send(frame: Frame): void {
    if (this.#closing === undefined) this.#writer.write(frame);
  }

  drained(limit: number): Promise<void> {
    if (this.#closing !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#closeWaits.delete(done);
        resolve();
      };
      this.#closeWaits.add(done);
      this.#writer.drained(limit).then(done, done);
    });
  }

  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  end(): void {
    this.#writer.end();
  }

  close(reason?: Error): void {
    if (this.#closing !== undefined) return;
    this.#closing = { reason };
    this.#writer.end();
    this.#finishInput(reason);
    this.#input.destroy();
    for (const done of this.#closeWaits) done();
    this.#sink?.closed?.(reason);
  }

  #loseOutput(cause: Error | undefined): void {
    const reason = gone('The reader of our output went away.', cause);
    if (!this.#readToEnd) return this.close(reason);
    // A child that exits closes its input, which is no failure in itself.
    this.#outputLoss = { reason: cause === undefined ? undefined : reason };
    if (this.#inputEnd !== undefined) this.close(this.#outputLoss.reason);
  }

  readonly #takeChunk = (chunk: Uint8Array | string): void => {
    this.#decoder.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  };

  #takeLine(line: string): void {
    let value: unknown;
    try {
      value = parseLine(line);
    } catch (thrown) {
      const error = toHeddleError(thrown);
      const verdict = this.#onBadLine === undefined ? error : this.#onBadLine(line, error);
      return verdict === undefined ? undefined : this.#finishInput(verdict);
    }
    this.#sink?.frame(value as Frame);
  }

  /** The first call counts. Whatever else the input holds is ignored. */
  #finishInput(error?: Error): void {
    if (this.#inputEnd !== undefined) return;
    this.#inputEnd = { error };
    this.#decoder.stop();
    this.#input.off('data', this.#takeChunk);
    this.#sink?.end(error);
    if (this.#outputLoss !== undefined) this.close(this.#outputLoss.reason);
  }
}

function gone(message: string, cause?: Error): HeddleError {
  const why = cause === undefined ? '' : ` (${cause.message})`;
  return new HeddleError('channel_closed', `${message}${why}`, { cause });
}
