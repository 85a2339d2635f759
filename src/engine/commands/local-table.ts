/** The commands that are answered without a turn of the model. Their names cannot be taken by files. */
import type { LocalCommand } from './commands.js';

const define = (name: string, description: string, more: Partial<LocalCommand> = {}): LocalCommand => ({
  kind: 'local',
  name,
  description,
  argumentHint: '',
  builtin: true,
  ...more,
});

export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  define('agents', 'Show the agents that can be started'),
  define('clear', 'Begin a new conversation; the log keeps the old one', { aliases: ['new', 'reset'] }),
  define('compact', 'Sum up the conversation so far and go on from the summary', {
    argumentHint: '[what the summary must heed]',
  }),
  define('context', 'Show what fills the context window'),
  define('cost', 'Show what the session has cost'),
  define('help', 'Show the commands', { argumentHint: '[command]' }),
  define('mcp', 'Show the MCP servers and how they are'),
  define('memory', 'Show the files of instructions that count'),
  define('model', 'Show or choose the model', { argumentHint: '[model]' }),
  define('permissions', 'Show the rules about tools', { aliases: ['allowed-tools'] }),
  define('release-notes', 'Show which version this is'),
  define('resume', 'Show the sessions that can be gone on with', { aliases: ['continue'] }),
];
