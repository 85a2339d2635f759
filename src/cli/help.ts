/** The help text, from the table of flags. */
import { FLAG_GROUPS, FLAGS, type FlagRow } from '../protocol/plain.js';
import { VERSION } from './version.js';

const COLUMN = 34;
const WIDTH = 100;

const EXAMPLES = `Examples:
  heddle                                          chat in this folder
  heddle "explain this project"                   the same, with a first message
  heddle -p "what does src/a.ts do?"              one answer, then leave
  git diff | heddle -p "review this change"       the diff follows the prompt
  heddle -p "fix the test" --permission-mode acceptEdits --allowedTools "Bash(npm test)"
  heddle -p "list the todos" --output-format json
  heddle -p "hello" --model embedded              offline, without a key

Flags that take several words end at the next flag or at --:
  heddle -p --allowedTools Read Grep -- "find the bug"
`;

const COMMANDS = `Commands:
  sessions <command>              List, search, export, rename, delete ... (heddle sessions --help)
  mcp <command>                   MCP servers: add, list, test, log in ... (heddle mcp --help)
  plugin list|validate            What plugins bring and what is wrong (heddle plugin --help)
  permissions <command>           List, add and remove rules (heddle permissions --help)
  trust [folder]                  Let the settings of a folder count (heddle trust --help)
  doctor [--json]                 Check keys, network, programs and settings
  completion bash|zsh|fish        Print a script that completes flags in your shell
`;

const ENVIRONMENT = `Environment:
  ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN   the key or token of the model API
  ANTHROPIC_BASE_URL              another server that speaks this API
  HEDDLE_CONFIG_DIR               sessions and settings (else CLAUDE_CONFIG_DIR, else ~/.claude)
  CLAUDE_CODE_MAX_RETRIES         how often a failed model call is tried again
  NO_COLOR, FORCE_COLOR           colours off, colours on
  DEBUG=heddle                    the same as --debug

Exit codes: 0 success, 1 error, 130 after SIGINT, 143 after SIGTERM.
`;

export function helpText(): string {
  const shown = FLAGS.filter((row) => !row.hidden);
  const groups = FLAG_GROUPS.map((group) => {
    const rows = shown.filter((row) => row.group === group).map(toLines);
    return `${group}:\n${rows.join('')}`;
  });
  const usage = 'Usage: heddle [flags] [prompt]\n       heddle doctor [--json]\n';
  return [
    `Heddle ${VERSION}: an agent for your terminal and your programs.\n`,
    usage,
    ...groups,
    COMMANDS,
    ENVIRONMENT,
    EXAMPLES,
  ].join('\n');
}

function toLines(row: FlagRow): string {
  const flags = row.names.some((name) => name.length === 2) ? row.spec : `    ${row.spec}`;
  const words = describe(row).split(' ');
  const lines = [''];
  for (const word of words) {
    const last = lines[lines.length - 1] as string;
    if (COLUMN + last.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  const left = `  ${flags}`;
  const pad = ' '.repeat(COLUMN);
  const first = left.length < COLUMN - 1 ? left.padEnd(COLUMN) : `${left}\n${pad}`;
  return `${first}${lines.join(`\n${pad}`)}\n`;
}

function describe(row: FlagRow): string {
  const choices = row.choices === undefined || row.choices.every((choice) => row.help.includes(choice));
  const listed = choices ? '' : ` (${row.choices?.join(', ')})`;
  return `${row.help}${listed}${row.later === undefined ? '' : ' (not supported yet)'}`;
}
