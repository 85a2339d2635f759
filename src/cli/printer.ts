/** The messages of a single answer in one of the output formats. */
import { Readable, type Writable } from 'node:stream';
import type { Message, ResultMessage } from '../protocol/index.js';
import type { OutputFormat } from '../protocol/plain.js';
import { describeNotice } from './notices.js';
import { createView, type ViewOptions } from './render.js';
import { toVisible } from './visible.js';

export interface PrinterOptions {
  format: OutputFormat;
  verbose: boolean;
  stdout: Writable;
  stderr: Writable;
  /** Stdout is a terminal, which would obey what a model writes. */
  isTerminal: boolean;
  view: ViewOptions;
}

export interface Printer {
  readonly lastResult: ResultMessage | undefined;
  /** What the session has cost before. */
  startAt(spentUsd: number): void;
  deliver(message: Message): void;
  /** The result of a session that could not be opened; a person has been told the error already. */
  fail(result: ResultMessage): void;
  /** Nobody reads the output any more. */
  readonly isBroken: boolean;
  /** Called at most once, when that happens. */
  onBroken(callback: () => void): void;
  /** Prints what is left, and waits until all is written or lost. */
  end(): Promise<void>;
}

interface Format {
  startAt?(spentUsd: number): void;
  take?(message: Message): void;
  /** As `take` when absent. */
  fail?(result: ResultMessage): void;
  end?(last: ResultMessage | undefined): Promise<void> | void;
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
    startAt: (spentUsd) => format.startAt?.(spentUsd),
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
    fail(result) {
      lastResult = result;
      if (format.fail) format.fail(result);
      else format.take?.(result);
    },
    async end() {
      await format.end?.(lastResult);
      // An empty write comes back behind the others, with their failure.
      const error = await new Promise((resolve) => options.stdout.write('', resolve));
      if (error) isBroken = true;
    },
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
      return asTerminal(options);
  }
}

/** The answers alone, as they come: more than one when a background task ended. With `verbose`, what leads to them on stderr. */
function asText({ stdout, stderr, verbose, isTerminal, view }: PrinterOptions): Format {
  const around = verbose ? asView(view, stderr) : asNotices(stderr);
  const print = (result: ResultMessage): void => {
    if (result.subtype === 'success' && !result.is_error)
      stdout.write(`${isTerminal ? toVisible(result.result) : result.result}\n`);
    else stderr.write(`${result.subtype === 'success' ? result.result : describeErrors(result)}\n`);
  };
  return {
    ...around,
    take(message) {
      around.take?.(message);
      if (message.type === 'result') print(message);
    },
    fail: () => {},
  };
}

function describeErrors(result: Exclude<ResultMessage, { subtype: 'success' }>): string {
  if (result.errors.length > 0) return `Error: ${result.errors.join('\n')}`;
  return result.terminal_reason?.startsWith('aborted') ? 'Interrupted.' : `Error: ${result.subtype}`;
}

/** One result; with `verbose`, a list of all messages. */
function asJson({ stdout, stderr, verbose }: PrinterOptions): Format {
  const all: Message[] = [];
  const notices = asNotices(stderr);
  return {
    take: (message) => {
      notices.take?.(message);
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

/** The view of the chat. That nothing is kept is no part of the answer. */
function asTerminal({ view, stdout, stderr }: PrinterOptions): Format {
  const shown = asView(view, stdout);
  const notices = asNotices(stderr);
  const isLoss = (message: Message): boolean => message.type === 'system' && message.subtype === 'session_writes_lost';
  return { ...shown, take: (message) => (isLoss(message) ? notices : shown).take?.(message) };
}

function asNotices(stderr: Writable): Format {
  return {
    take(message) {
      const notice = describeNotice(message);
      if (notice !== undefined) stderr.write(notice);
    },
  };
}

function asView(options: ViewOptions, output: Writable): Format {
  const view = createView(options);
  return {
    startAt: (spentUsd) => view.startAt(spentUsd),
    take(message) {
      const text = view.show(message);
      if (text !== '') output.write(text);
    },
  };
}
