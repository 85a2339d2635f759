import { appendFileSync } from 'node:fs';
import type { Logger, SessionConfig } from '../protocol/index.js';
import { printToStderr } from './ambient.js';
import type { Options } from './options.js';

/**
 * Where diagnostics go: to the caller's logger alone if there is one; else to `stderr`, to `debugFile`, and with
 * `DEBUG_CLAUDE_AGENT_SDK` to the standard error of this process. `debug` adds what is of use only to developers.
 */
export function createLogger(options: Options, config: SessionConfig): Logger {
  if (options.heddle?.logger) return options.heddle.logger;
  const { stderr, debugFile } = options;
  const isDebugging = Boolean(config.env.DEBUG_CLAUDE_AGENT_SDK);
  const sinks: ((line: string) => void)[] = [];
  if (stderr) sinks.push(stderr);
  else if (isDebugging) sinks.push(printToStderr);
  const isVerbose = isDebugging || options.debug === true;
  return (level, text, data) => {
    const line = `heddle: ${level}: ${text}${data === undefined ? '' : ` ${JSON.stringify(data)}`}\n`;
    if (debugFile !== undefined) quietly(() => appendFileSync(debugFile, line));
    if (level !== 'debug' || isVerbose) for (const sink of sinks) quietly(() => sink(line));
  };
}

/** Diagnostics that cannot be told are lost; the run they tell about goes on. */
export function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // There is nowhere left to say so.
  }
}
