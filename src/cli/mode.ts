/** What this start is: serving a program, answering once, or a chat. */
import type { CliOptions } from '../protocol/plain.js';

export type Mode = 'serve' | 'print' | 'chat';

export interface Surroundings {
  stdinIsTerminal: boolean;
  stdoutIsTerminal: boolean;
}

export function decideMode(cli: CliOptions, { stdinIsTerminal, stdoutIsTerminal }: Surroundings): Mode {
  if (cli.inputFormat === 'stream-json') return 'serve';
  if (cli.print || cli.outputFormat !== undefined) return 'print';
  return stdinIsTerminal && stdoutIsTerminal ? 'chat' : 'print';
}
