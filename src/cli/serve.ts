/** A program drives us over stdin and stdout: frames, and nothing but frames. */
import type { Readable, Writable } from 'node:stream';
import { type Engine, serveHost } from '../engine/index.js';
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
  const channel = firstPrompt === undefined ? stdio : withFirstPrompt(stdio, firstPrompt);
  const served = serveHost({ engine, channel, config, logger, pid });
  const close = async (): Promise<void> => {
    stdio.close();
    await served.catch(() => undefined);
  };
  const signals = watchSignals({ onInterrupt: () => void close(), close });
  try {
    const code = await served;
    return signals.exitCode ?? code;
  } finally {
    await stdio.flushed();
    signals.stop();
  }
}

function withFirstPrompt(channel: Channel, prompt: string): Channel {
  return {
    trusted: channel.trusted,
    final: channel.final,
    get buffered() {
      return channel.buffered;
    },
    receive(sink) {
      sink.frame(toUserMessage(prompt, ''));
      channel.receive(sink);
    },
    send: (frame) => channel.send(frame),
    drained: (limit) => channel.drained(limit),
    end: () => channel.end(),
    close: (reason) => channel.close(reason),
  };
}
