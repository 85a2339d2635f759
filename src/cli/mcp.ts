/** `heddle mcp ...`: the MCP servers of a person and of a project, and our own tools as one. */
import { parseArgs } from 'node:util';
import { describeFailure } from './failure.js';
import { type CommandInput, type McpCommand, type McpParts, usage } from './mcp-parts.js';
import { toVisible, toVisibleLine } from './visible.js';

export type { McpParts } from './mcp-parts.js';

const HELP = `Usage: heddle mcp <command> [options]

  add <name> <command> [words...]    a server that is started here; with --, words may look like options
  add <name> <url>                   a server that is reached by HTTP (--transport sse for the older kind)
  add-json <name> <json>             a server as it stands in a file: '{"command":"npx","args":["-y","x"]}'
  list                               all servers of this folder, and whether they may run
  get <name>                         one of them, with its file
  remove <name>                      take it out of its file
  test [name...]                     start or reach servers, and say what they offer (all that may run, without names)
  auth <name>                        log in to a server: prints a page, and opens it (--logout: forget the login)
  approve <name...>                  let servers of this project's .mcp.json run, as they are now (--all)
  reject <name...>                   keep them from running, and from being asked about
  serve [flags]                      Bash, Edit, Glob, Grep, Read and Write as an MCP server on stdin and stdout

Options:
  -s, --scope local|project|user     the file: .claude/settings.local.json (default), .mcp.json, settings of the user
  -t, --transport stdio|http|sse     how it is reached
  -e, --env NAME=value               a variable for a server that is started (several)
  -H, --header "Name: value"         a header for a server that is reached by HTTP (several)
      --timeout <ms>                 how long one call may take without progress
      --client-id <id>               of a client that was registered by hand (add, auth); its secret is in
                                     MCP_CLIENT_SECRET when you log in
      --callback-port <port>         where its login comes back to: http://localhost:<port>/callback
      --oauth-scope <scopes>         what to ask for at the login
      --no-browser                   print the page of a login, and open nothing
      --json                         for programs (list, get, test)

Values may name variables: \${NAME}, \${NAME:-default}. Servers of a project run once the folder is trusted (heddle trust)
and each is approved; a server that changes must be approved again. serve takes the flags of a session, such as
--allowedTools and --permission-mode; what would be asked is denied.
Exit codes: 0 done, 1 it could not be done.
`;

const OPTIONS = {
  all: { type: 'boolean' },
  'callback-port': { type: 'string' },
  'client-id': { type: 'string' },
  env: { type: 'string', short: 'e', multiple: true },
  header: { type: 'string', short: 'H', multiple: true },
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  logout: { type: 'boolean' },
  'no-browser': { type: 'boolean' },
  'oauth-scope': { type: 'string' },
  scope: { type: 'string', short: 's' },
  timeout: { type: 'string' },
  transport: { type: 'string', short: 't' },
} as const;

type OptionName = keyof typeof OPTIONS;

interface Row {
  /** Loaded when it is the one that was asked for. */
  load: () => Promise<McpCommand>;
  options: readonly OptionName[];
  /** How many words it takes. */
  words: readonly [least: number, most: number];
  needs: string;
}

const MANY = Number.POSITIVE_INFINITY;
const changing = () => import('./mcp-add.js');
const listing = () => import('./mcp-list.js');
const approving = () => import('./mcp-approve.js');
const LOGIN: readonly OptionName[] = ['client-id', 'callback-port', 'oauth-scope'];

const COMMANDS: Readonly<Record<string, Row>> = {
  add: {
    load: async () => (await changing()).add,
    options: ['scope', 'transport', 'env', 'header', 'timeout', ...LOGIN],
    words: [2, MANY],
    needs: 'a name, and a command or an address',
  },
  'add-json': {
    load: async () => (await changing()).addJson,
    options: ['scope'],
    words: [2, 2],
    needs: 'a name and its JSON',
  },
  list: { load: async () => (await listing()).list, options: ['json'], words: [0, 0], needs: '' },
  get: { load: async () => (await listing()).get, options: ['json'], words: [1, 1], needs: 'a name' },
  remove: { load: async () => (await changing()).remove, options: ['scope'], words: [1, 1], needs: 'a name' },
  test: {
    load: async () => (await import('./mcp-test.js')).test,
    options: ['json', 'timeout'],
    words: [0, MANY],
    needs: '',
  },
  auth: {
    load: async () => (await import('./mcp-auth.js')).auth,
    options: ['logout', 'no-browser', ...LOGIN],
    words: [1, 1],
    needs: 'a name',
  },
  approve: { load: async () => (await approving()).approve, options: ['all'], words: [0, MANY], needs: 'a name' },
  reject: { load: async () => (await approving()).reject, options: ['all'], words: [0, MANY], needs: 'a name' },
};

export const MCP_COMMANDS = [...Object.keys(COMMANDS), 'serve'];

/** The exit code: 1 when it could not be done. */
export async function runMcp(argv: readonly string[], parts: McpParts): Promise<number> {
  try {
    const [name, ...words] = argv;
    const isHelp = name === undefined || ['--help', '-h', 'help', 'serve'].includes(name);
    const row = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!isHelp && row === undefined) throw usage(`error: there is no "mcp ${toVisibleLine(name)}"`);
    const input = row === undefined ? undefined : readInput(name ?? '', words, row);
    if (row === undefined || input === undefined) {
      parts.stdout.write(HELP);
      return name === undefined ? 1 : 0;
    }
    return await (await row.load())(input, parts);
  } catch (thrown) {
    parts.stderr.write(`${toVisible(describeFailure(thrown))}\n`);
    return 1;
  }
}

/** Undefined when help is asked for. */
function readInput(name: string, words: readonly string[], row: Row): CommandInput | undefined {
  const [own, rest] = name === 'add' ? splitAdd(words) : [words, []];
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(own);
  } catch (thrown) {
    throw usage(`error: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  const { values, positionals } = parsed;
  if (values.help) return undefined;
  const unknown = Object.keys(values).find((option) => !(row.options as readonly string[]).includes(option));
  if (unknown !== undefined) throw usage(`error: "mcp ${name}" takes no --${unknown}`);
  const all = [...positionals, ...rest];
  const [least, most] = row.words;
  if (all.length < least) throw usage(`error: "mcp ${name}" needs ${row.needs}`);
  if (all.length > most) throw usage(`error: "mcp ${name}" takes no more than ${most} word(s)`);
  const meant = rest.find((word) => OURS.has(word));
  if (meant !== undefined && !words.includes('--')) {
    const text = `error: ${meant} after the command would go to the command. Write it before the name, or mean it so: `;
    throw usage(`${text}heddle mcp add ${toVisibleLine(all[0] ?? '')} -- ${toVisibleLine(all.slice(1).join(' '))}`);
  }
  return { words: all, values };
}

const parse = (words: readonly string[]) =>
  parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true });

const TAKES_VALUE = new Set(
  Object.entries(OPTIONS).flatMap(([name, option]) =>
    option.type === 'string' ? [`--${name}`, ...('short' in option ? [`-${option.short}`] : [])] : [],
  ),
);

/** Behind a command these are misplaced more often than meant; `-e` and `--env` are what many commands take. */
const OURS = new Set(['--scope', '--transport', '--header', '--client-id', '--callback-port']);

/** What follows the command of a server is the command's own, whatever it looks like. */
function splitAdd(words: readonly string[]): [own: readonly string[], rest: readonly string[]] {
  let plain = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return [words.slice(0, at), words.slice(at + 1)];
    if (word.startsWith('-') && word.length > 1) {
      if (TAKES_VALUE.has(word)) at += 1;
      continue;
    }
    plain += 1;
    if (plain < 2) continue;
    return /^https?:\/\//i.test(word) ? [words, []] : [words.slice(0, at + 1), withoutDashes(words.slice(at + 1))];
  }
  return [words, []];
}

const withoutDashes = (words: readonly string[]): readonly string[] => (words[0] === '--' ? words.slice(1) : words);
