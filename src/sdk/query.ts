import type { Logger, Message, UserMessage } from '../protocol/index.js';
import { Peer } from '../wire/index.js';
import { readAmbient } from './ambient.js';
import { answerPermission } from './answers.js';
import { type Options, toSessionConfig } from './options.js';
import { type Query, QueryHandle } from './query-handle.js';

/**
 * Runs an agent. Gives its messages as they come, from the first `system/init` to the `result` of the last prompt.
 * Throws a HeddleError for options that cannot be used.
 */
export function query(params: { prompt: string | AsyncIterable<UserMessage>; options?: Options }): Query {
  const { prompt, options = {} } = params;
  const config = toSessionConfig(options, readAmbient());
  const connect = async (onMessage: (message: Message) => void): Promise<Peer<'host'>> => {
    const { openInProcess } = await import('./in-process.js');
    const { channel, clock } = openInProcess(config, { ...options.heddle, logger: loggerOf(options) });
    const peer: Peer<'host'> = new Peer(channel, {
      side: 'host',
      clock,
      onMessage: (message) => {
        if (message.type === 'update_environment_variables') return;
        peer.messages.push(message);
        onMessage(message);
      },
    });
    const { canUseTool } = options;
    if (canUseTool) peer.handle('can_use_tool', (asked, { signal }) => answerPermission(canUseTool, asked, signal));
    return peer;
  };
  return new QueryHandle({ prompt, connect, initialize: {}, signal: options.abortController?.signal });
}

/** Diagnostics go to the caller's logger, or as lines to `stderr`. */
function loggerOf({ heddle, stderr }: Options): Logger {
  if (heddle?.logger) return heddle.logger;
  if (stderr === undefined) return () => {};
  return (level, text, data) => {
    if (level !== 'debug') stderr(`heddle: ${level}: ${text}${data === undefined ? '' : ` ${JSON.stringify(data)}`}\n`);
  };
}
