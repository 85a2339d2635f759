/** A program drives us over stdin and stdout: frames, and nothing but frames. */
import type { Readable, Writable } from 'node:stream';
import { type Engine, serveHost } from '../engine/core.js';
import type { Channel, Logger, SessionConfig } from '../protocol/index.js';
import { createStdioChannel } from '../wire/index.js';
import { watchSignals } from './signals.js';
import { toUserMessage } from './user-message.js';

export interface ServeParts {
  engine: Engine;
  config: SessionConfig;
  input: Readable;
  output: Writable;
  /** A prompt on the command line is answered before what comes on stdin. */
  firstPrompt?: string;
  logger?: Logger;
  pid: number;
}

/** The exit code. Throws when the input is not the protocol. */
export async function runServe({
  engine,
  config,
  input,
  output,
  firstPrompt,
  logger,
  pid,
}: ServeParts): Promise<number> {
  const stdio = createStdioChannel({ input, output });
  const channel = guardStart(stdio, firstPrompt);
  const served = serveHost({ engine, channel, config, logger, pid });
  const close = async (): Promise<void> => {
    stdio.close();
    await served.catch(() => undefined);
  };
  const signals = watchSignals({ onInterrupt: () => void close(), close });
  try {
    const code = await served;
    await stdio.flushed();
    return signals.exitCode ?? code;
  } catch (thrown) {
    await stdio.flushed();
    // A host that goes down may leave half a frame behind; the signal it sent says more.
    if (signals.exitCode !== undefined) return signals.exitCode;
    throw thrown;
  } finally {
    signals.stop();
  }
}

/**
 * The prompt comes before all other input. The end of input comes after a signal that arrived together with it: a host
 * that goes down wants no further work.
 */
function guardStart(channel: Channel, prompt: string | undefined): Channel {
  return {
    trusted: channel.trusted,
    final: channel.final,
    get buffered() {
      return channel.buffered;
    },
    receive(sink) {
      if (prompt !== undefined) sink.frame(toUserMessage(prompt, ''));
      let endNow = (): void => {};
      channel.receive({
        ...sink,
        end(error) {
          endNow = () => {
            endNow = () => {};
            sink.end(error);
          };
          // Two turns of the loop: a signal that is there already has been seen then.
          setImmediate(() => setImmediate(() => endNow()));
        },
        closed(reason) {
          endNow();
          sink.closed?.(reason);
        },
      });
    },
    send: (frame) => channel.send(frame),
    drained: (limit) => channel.drained(limit),
    end: () => channel.end(),
    close: (reason) => channel.close(reason),
  };
}
