/** The messages of a single answer in one of the output formats. */
import { Readable, type Writable } from 'node:stream';
import type { Message, ResultMessage } from '../protocol/index.js';
import type { OutputFormat } from '../protocol/plain.js';
import { createView, type ViewOptions } from './render.js';

export interface PrinterOptions {
  format: OutputFormat;
  verbose: boolean;
  stdout: Writable;
  stderr: Writable;
  view: ViewOptions;
}

export interface Printer {
  readonly lastResult: ResultMessage | undefined;
  deliver(message: Message): void;
  /** Nobody reads the output any more. */
  readonly isBroken: boolean;
  /** Called at most once, when that happens. */
  onBroken(callback: () => void): void;
  /** Prints what is left. `quiet`: the error has been told already. */
  end(options: { quiet: boolean }): Promise<void>;
}

interface Format {
  take?(message: Message): void;
  end?(last: ResultMessage | undefined, options: { quiet: boolean }): Promise<void> | void;
}

export async function createPrinter(options: PrinterOptions): Promise<Printer> {
  const format = await chooseFormat(options);
  let lastResult: ResultMessage | undefined;
  let isBroken = false;
  return {
    get isBroken() {
      return isBroken;
    },
    get lastResult() {
      return lastResult;
    },
    deliver(message) {
      if (message.type === 'result') lastResult = message;
      format.take?.(message);
    },
    onBroken(callback) {
      options.stdout.once('error', () => {
        isBroken = true;
        callback();
      });
    },
    end: async (how) => format.end?.(lastResult, how),
  };
}

function chooseFormat(options: PrinterOptions): Format | Promise<Format> {
  switch (options.format) {
    case 'text':
      return asText(options);
    case 'json':
      return asJson(options);
    case 'stream-json':
      return asStream(options);
    case 'terminal':
      return asView(options.view, options.stdout);
  }
}

/** The last answer alone; with `verbose`, what leads to it is shown on stderr. */
function asText({ stdout, stderr, verbose, view }: PrinterOptions): Format {
  return {
    ...(verbose ? asView(view, stderr) : {}),
    end(last, { quiet }) {
      if (last === undefined || quiet) return;
      if (last.subtype === 'success' && !last.is_error) stdout.write(`${last.result}\n`);
      else stderr.write(`${last.subtype === 'success' ? last.result : describeErrors(last)}\n`);
    },
  };
}

function describeErrors(result: Exclude<ResultMessage, { subtype: 'success' }>): string {
  if (result.errors.length > 0) return `Error: ${result.errors.join('\n')}`;
  return result.terminal_reason?.startsWith('aborted') ? 'Interrupted.' : `Error: ${result.subtype}`;
}

/** One result; with `verbose`, a list of all messages. */
function asJson({ stdout, verbose }: PrinterOptions): Format {
  const all: Message[] = [];
  return {
    take: (message) => {
      if (verbose) all.push(message);
    },
    end: (last) => {
      if (last !== undefined) stdout.write(`${JSON.stringify(verbose ? all : last)}\n`);
    },
  };
}

async function asStream({ stdout }: PrinterOptions): Promise<Format> {
  const { createStdioChannel } = await import('../wire/index.js');
  const channel = createStdioChannel({ input: Readable.from([]), output: stdout });
  return { take: (message) => channel.send(message), end: () => channel.flushed() };
}

function asView(options: ViewOptions, output: Writable): Format {
  const view = createView(options);
  return {
    take(message) {
      const text = view.show(message);
      if (text !== '') output.write(text);
    },
  };
}
