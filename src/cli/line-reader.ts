/** Lines typed at a terminal. Between two questions the terminal is left in its plain mode, so that Ctrl-C is a signal. */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface LineReaderOptions {
  input: Readable;
  output: Writable;
  isTerminal: boolean;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /** Ctrl-C on an empty line. */
  onInterrupt?: () => void;
  /** Keep the line for the arrow keys. */
  remember?: boolean;
  /** What was typed before the question stood there is not an answer to it. */
  dropTypedAhead?: boolean;
}

export interface LineReader {
  /** Undefined at the end of input, or when the signal aborts. */
  read(prompt: string, options?: ReadOptions): Promise<string | undefined>;
}

const TYPED_AHEAD_MS = 30;

export function createLineReader({ input, output, isTerminal }: LineReaderOptions): LineReader {
  let history: string[] = [];

  async function read(prompt: string, options: ReadOptions = {}): Promise<string | undefined> {
    if (options.dropTypedAhead && isTerminal) await discardPending(input);
    if (options.signal?.aborted || input.readableEnded) return undefined;
    return new Promise((resolve) => {
      let answer: string | undefined;
      const lines = createInterface({ input, output, terminal: isTerminal, history: [...history], prompt });
      const close = (): void => lines.close();
      lines.once('line', (line) => {
        answer = line;
        close();
      });
      lines.on('history', (kept) => {
        if (options.remember) history = kept;
      });
      lines.on('SIGINT', () => {
        if (lines.line !== '') {
          lines.write(null, { ctrl: true, name: 'e' });
          lines.write(null, { ctrl: true, name: 'u' });
          return;
        }
        output.write('\n');
        options.onInterrupt?.();
        if (!options.signal?.aborted) lines.prompt();
      });
      lines.once('close', () => {
        options.signal?.removeEventListener('abort', close);
        if (answer === undefined) output.write('\n');
        resolve(answer);
      });
      options.signal?.addEventListener('abort', close, { once: true });
      lines.prompt();
    });
  }

  return { read };
}

function discardPending(input: Readable): Promise<void> {
  return new Promise((resolve) => {
    const ignore = (): void => {};
    input.on('data', ignore);
    setTimeout(() => {
      input.off('data', ignore);
      input.pause();
      resolve();
    }, TYPED_AHEAD_MS);
  });
}
