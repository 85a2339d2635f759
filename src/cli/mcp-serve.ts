/** `heddle mcp serve`: our tools for another program, over stdin and stdout. Nothing but the protocol is printed there. */
import type { Readable, Writable } from 'node:stream';
import { createToolServer, openToolSession, RPC_ERRORS } from '../engine/index.js';
import type { Logger, SessionConfig } from '../protocol/index.js';
import { systemClock } from '../protocol/plain.js';
import { createLineDecoder } from '../wire/index.js';
import { watchSignals } from './signals.js';

export interface McpServeParts {
  config: SessionConfig;
  input: Readable;
  output: Writable;
  logger?: Logger;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** A reader that does not keep up is not sent more: nothing further is read until it does. */
const PAUSE_ABOVE_BYTES = 16 * 1024 * 1024;

/** The exit code, when the input has ended or a signal came. */
export async function runMcpServe({ config, input, output, logger }: McpServeParts): Promise<number> {
  const session = await openToolSession(config, { clock: systemClock, ...(logger && { logger }) });
  const ended = Promise.withResolvers<void>();
  const send = (message: object): void => {
    if (output.writable) output.write(`${JSON.stringify(message)}\n`);
    if (output.writableLength <= PAUSE_ABOVE_BYTES || input.isPaused()) return;
    input.pause();
    output.once('drain', () => input.resume());
  };
  const server = createToolServer(session, send);
  const open = new Set<Promise<void>>();
  const fail = (code: number, message: string) => send({ jsonrpc: '2.0', id: null, error: { code, message } });
  const decoder = createLineDecoder({
    maxLineBytes: MAX_LINE_BYTES,
    onLine(line) {
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        return fail(RPC_ERRORS.parse, 'Parse error');
      }
      const taken = server.take(message).finally(() => open.delete(taken));
      open.add(taken);
    },
    onError(error) {
      fail(RPC_ERRORS.invalidRequest, error.message);
      ended.resolve();
    },
  });
  input.on('data', (chunk: Uint8Array) => decoder.write(chunk));
  input.once('end', () => {
    decoder.end();
    ended.resolve();
  });
  input.once('error', () => ended.resolve());
  output.once('error', () => ended.resolve());
  const close = async (): Promise<void> => {
    ended.resolve();
    server.close();
    await Promise.all(open);
    await session.close();
  };
  const signals = watchSignals({ onInterrupt: () => void close(), close });
  await ended.promise;
  // Whoever ended the input may still wait for answers; a signal waits for nothing.
  await Promise.all(open);
  await close();
  signals.stop();
  return signals.exitCode ?? 0;
}
