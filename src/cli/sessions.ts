/** `heddle sessions ...`: what is kept, in a table, and all that can be done with it. */
import { parseArgs } from 'node:util';
import { HeddleError } from '../protocol/plain.js';
import { describeFailure } from './failure.js';
import { type Command, type CommandInput, type SessionsParts, usage } from './sessions-parts.js';
import { toVisibleLine } from './visible.js';

export type { SessionsParts } from './sessions-parts.js';

const HELP = `Usage: heddle sessions <command> [options]

  list                          sessions of this folder, newest first
  show <session>                what was said: the last 20 messages (--limit <n>, --all)
  search <words>                sessions of all folders in which the words were said ("quoted": exactly so)
  export <session>              as a document: --format markdown|json, --output <file>
  rename <session> <title>      give it a title
  tag <session> [tag]           give it a tag; without one, take the tag away
  archive <session> ...         hide it from the list; the next prompt brings it back
  unarchive <session> ...
  delete <session> ...          with all that is kept for it; asks, or needs --yes
  fork <session>                a new session with the same conversation: --at <message>, --title <title>
  pending [session]             tool calls that wait for approval
  approve <session> [call]      let such a call run when the session is resumed (--all: all of them)
  deny <session> [call]         refuse it: --message <text> is told to the model (--all: all of them)
  import <file>                 take in the log of a session from elsewhere (.jsonl)

Options:
  --dir <folder>     sessions of another folder (list, search, pending)
  --all              sessions of all folders (list, pending)
  --archived         list those in the archive too
  --limit <n>        at most so many
  --json             for programs

<session> is an id, the start of one (4 characters or more), or a title. To go on with one: heddle --resume <session>
Exit codes: 0 done, 1 it could not be done.
`;

const OPTIONS = {
  all: { type: 'boolean' },
  archived: { type: 'boolean' },
  at: { type: 'string' },
  dir: { type: 'string' },
  format: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  limit: { type: 'string' },
  message: { type: 'string' },
  output: { type: 'string', short: 'o' },
  title: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

type OptionName = keyof typeof OPTIONS;

interface Row {
  /** Loaded when it is the one that was asked for. */
  load: () => Promise<Command>;
  options: readonly OptionName[];
  /** How many words it takes. */
  words: readonly [least: number, most: number];
}

const listing = () => import('./sessions-list.js');
const changing = () => import('./sessions-change.js');
const approving = () => import('./sessions-approve.js');
const MANY = Number.POSITIVE_INFINITY;

const COMMANDS: Readonly<Record<string, Row>> = {
  list: { load: async () => (await listing()).list, options: ['all', 'archived', 'dir', 'limit'], words: [0, 0] },
  show: { load: async () => (await listing()).show, options: ['all', 'limit'], words: [1, 1] },
  search: { load: async () => (await listing()).search, options: ['all', 'dir', 'limit'], words: [1, MANY] },
  export: { load: async () => (await listing()).exportOne, options: ['format', 'output'], words: [1, 1] },
  rename: { load: async () => (await changing()).rename, options: [], words: [2, MANY] },
  tag: { load: async () => (await changing()).tag, options: [], words: [1, 2] },
  archive: { load: async () => (await changing()).archive, options: [], words: [1, MANY] },
  unarchive: { load: async () => (await changing()).unarchive, options: [], words: [1, MANY] },
  delete: { load: async () => (await changing()).remove, options: ['yes'], words: [1, MANY] },
  fork: { load: async () => (await changing()).fork, options: ['at', 'title'], words: [1, 1] },
  import: { load: async () => (await changing()).importFile, options: [], words: [1, 1] },
  pending: { load: async () => (await approving()).pending, options: ['all', 'dir'], words: [0, 1] },
  approve: { load: async () => (await approving()).approve, options: ['all'], words: [1, 2] },
  deny: { load: async () => (await approving()).deny, options: ['all', 'message'], words: [1, 2] },
};

export const SESSION_COMMANDS = Object.keys(COMMANDS);

/** The exit code: 1 when it could not be done. */
export async function runSessions(argv: readonly string[], parts: SessionsParts): Promise<number> {
  try {
    const [name, ...words] = argv;
    const isHelp = name === undefined || ['--help', '-h', 'help'].includes(name);
    const row = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!isHelp && row === undefined) throw usage(`error: there is no "sessions ${toVisibleLine(name)}"`);
    const input = row === undefined ? undefined : readInput(name ?? '', words, row);
    if (row === undefined || input === undefined) {
      parts.stdout.write(HELP);
      return name === undefined ? 1 : 0;
    }
    const command = await row.load();
    return await command(input, parts);
  } catch (thrown) {
    parts.stderr.write(`${describeError(thrown)}\n`);
    return 1;
  }
}

/** What to do is a part of the answer; texts of usage have it already. */
function describeError(thrown: unknown): string {
  const text = toVisibleText(describeFailure(thrown));
  if (!(thrown instanceof HeddleError) || text.includes('\n')) return text;
  // Hints about functions are for programs.
  const isForPrograms = /\w\(\)/.test(thrown.hint);
  const hint = isForPrograms ? 'heddle sessions list --all shows every session.' : toVisibleLine(thrown.hint);
  return text.includes(hint) ? text : `${text}\n${hint}`;
}

const toVisibleText = (text: string): string => text.split('\n').map(toVisibleLine).join('\n');

/** Undefined when help is asked for. */
function readInput(name: string, words: readonly string[], { options, words: [least, most] }: Row) {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(words);
  } catch (thrown) {
    throw usage(`error: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  const { values, positionals } = parsed;
  if (values.help) return undefined;
  const known: readonly string[] = [...options, 'json'];
  const unknown = Object.keys(values).find((option) => !known.includes(option));
  if (unknown !== undefined) throw usage(`error: "sessions ${name}" takes no --${unknown}`);
  if (positionals.length < least) throw usage(`error: "sessions ${name}" needs ${NEEDS[name] ?? 'a session'}`);
  if (positionals.length > most) throw usage(`error: "sessions ${name}" takes no more than ${most} word(s)`);
  const input: CommandInput = { ...values, words: positionals, limit: readLimit(values.limit) };
  return input;
}

const NEEDS: Readonly<Record<string, string>> = {
  search: 'words to look for',
  rename: 'a session and its title',
  import: 'a file',
};

const parse = (words: readonly string[]) =>
  parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true });

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usage(`error: --limit takes a whole number, not "${toVisibleLine(text)}"`);
}
