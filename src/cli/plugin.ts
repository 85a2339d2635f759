/** `heddle plugin list|validate`: what plugins bring, and all that is wrong with them. Nothing of them is run. */
import { homedir } from 'node:os';
import { isAbsolute, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { DefinitionProblem, Examination, ExaminedPlugin, LoadedSettings } from '../engine/index.js';
import { HeddleError } from '../protocol/plain.js';
import { describeFailure } from './failure.js';
import { toTable } from './table.js';
import type { Output } from './trust.js';
import { toVisible, toVisibleJson, toVisibleLine } from './visible.js';

export interface PluginParts {
  stdout: Output & { isTTY?: boolean; columns?: number };
  stderr: Output;
  cwd: string;
  /** Where settings are, which may enable plugins. Absent: none are read. */
  configDir?: string;
  home?: string;
  /** Folders of managed policy; those of the platform when absent. */
  managedDir?: string | readonly string[];
}

const HELP = `Usage: heddle plugin list [--plugin-dir <folder> ...] [--json]
       heddle plugin validate <folder> [--strict] [--json]

list       what each plugin brings, where it comes from, and what is wrong with it: those that are named, and
           those that settings enable
validate   everything that is wrong in a plugin, with file and line: manifest, commands, agents, skills, output
           styles, hooks, MCP servers; in a marketplace, in all of its plugins

Options:
  --plugin-dir <folder>   a folder with a plugin or a marketplace, as for heddle itself; repeatable
  --strict                warnings count as errors
  --json                  for programs

A plugin is a folder with commands/, agents/, skills/, output-styles/, hooks/hooks.json or .mcp.json, and a manifest,
.claude-plugin/plugin.json, that gives it a name. A marketplace is a folder with .claude-plugin/marketplace.json, which
names plugins. Nothing of them is run here, and nothing is fetched.
Exit codes: 0 fine (or warnings only), 1 something is wrong.
`;

export const PLUGIN_COMMANDS = ['list', 'validate'];

/** The exit code: 1 when it could not be done, or there are errors. */
export async function runPlugin(argv: readonly string[], parts: PluginParts): Promise<number> {
  try {
    const [command, ...words] = argv;
    const isHelp = command === undefined || ['--help', '-h', 'help'].includes(command);
    if (!isHelp && !PLUGIN_COMMANDS.includes(command)) {
      throw usage(`error: there is no "plugin ${toVisibleLine(command)}"`);
    }
    const asked = isHelp ? undefined : readAsked(command, words);
    if (asked === undefined) {
      parts.stdout.write(HELP);
      return command === undefined ? 1 : 0;
    }
    return command === 'list' ? await list(asked, parts) : await validate(asked, parts);
  } catch (thrown) {
    parts.stderr.write(`${describeFailure(thrown)}\n`);
    return 1;
  }
}

const usage = (text: string): HeddleError => new HeddleError('invalid_config', `${text}\nSee heddle plugin --help.`);

interface Asked {
  folders: string[];
  json: boolean;
  strict: boolean;
}

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  'plugin-dir': { type: 'string', multiple: true },
  strict: { type: 'boolean' },
} as const;

const parse = (words: readonly string[]) =>
  parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true });

/** Undefined when help is asked for. */
function readAsked(command: string, words: readonly string[]): Asked | undefined {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(words);
  } catch (thrown) {
    throw usage(`error: ${toVisibleLine(thrown instanceof Error ? thrown.message : String(thrown))}`);
  }
  const { values, positionals } = parsed;
  if (values.help) return undefined;
  const { json = false, strict = false, 'plugin-dir': dirs = [] } = values;
  if (command === 'list') {
    const [word] = positionals;
    if (word !== undefined)
      throw usage(`error: "plugin list" takes no "${toVisibleLine(word)}"; name it with --plugin-dir`);
    if (strict) throw usage('error: "plugin list" takes no --strict');
    return { folders: dirs, json, strict };
  }
  if (dirs.length > 0) throw usage('error: "plugin validate" takes no --plugin-dir; name the folder alone');
  if (positionals.length !== 1) throw usage('error: "plugin validate" needs one folder');
  return { folders: positionals, json, strict };
}

/** The person named these folders, so nobody has to trust them first. */
async function examine({ folders }: Asked, cwd: string, settings?: LoadedSettings): Promise<Examination> {
  const { loadPluginFunctions } = await import('../engine/index.js');
  const { examinePlugins } = await loadPluginFunctions();
  return examinePlugins(
    folders.map((path) => ({ path, scope: 'flag' as const })),
    { cwd, ...(settings && { settings }) },
  );
}

// ---- list ----------------------------------------------------------------------------------------------------------

async function list(asked: Asked, parts: PluginParts): Promise<number> {
  const settings = await readSettings(parts);
  const examination = await examine(asked, parts.cwd, settings);
  const { plugins, marketplaces, problems } = examination;
  const { stdout, stderr } = parts;
  if (asked.json) stdout.write(`${toVisibleJson(toJson(examination))}\n`);
  else if (plugins.length > 0) stdout.write(toPluginTable(plugins, parts));
  else stdout.write(describeNone(asked, settings));
  if (!asked.json) {
    for (const problem of [...faultsOf(settings), ...problems]) stderr.write(`${describe(problem, parts.cwd)}\n`);
    for (const line of describeElsewhere(marketplaces, parts.cwd)) stderr.write(line);
    if (settings) await tellWaiting(settings, stderr);
  }
  return hasErrors(problems) ? 1 : 0;
}

/** As a session here would have them. */
async function readSettings({ cwd, configDir, home = homedir(), managedDir }: PluginParts) {
  if (configDir === undefined) return undefined;
  const { createTrust, findProjectRoot, loadSettings, refuseBrokenSettings, settingsFiles } = await import(
    '../engine/index.js'
  );
  const projectRoot = findProjectRoot({ cwd, home });
  const files = settingsFiles({ configDir, projectRoot, home, ...(managedDir && { managedDir }) });
  const trusted = await createTrust({ configDir, home }).isTrusted(projectRoot);
  const settings = await loadSettings({ files, sources: ['user', 'project', 'local'], trusted });
  refuseBrokenSettings(settings);
  return settings;
}

const PLUGIN_KEYS = ['enabledPlugins', 'extraKnownMarketplaces'];

/** What is wrong with these keys themselves, and keeps no session from starting. */
const faultsOf = (settings: LoadedSettings | undefined): DefinitionProblem[] =>
  (settings?.problems ?? [])
    .filter(({ path }) => PLUGIN_KEYS.includes(path.split(/[.[]/)[0] ?? ''))
    .map(({ severity, file, line, path, text }) => ({ severity, file, line, text: `${path}: ${text}` }));

async function tellWaiting({ inert, files }: LoadedSettings, stderr: Output): Promise<void> {
  const { describeInert } = await import('../engine/index.js');
  const waiting = describeInert(
    inert.filter(({ key }) => PLUGIN_KEYS.includes(key)),
    files.projectRoot,
  );
  if (waiting !== undefined) stderr.write(`note: ${toVisibleLine(waiting)}\n`);
}

/** Nothing is wrong with these; they are not here. */
const describeElsewhere = (marketplaces: Examination['marketplaces'], cwd: string): string[] =>
  marketplaces
    .flatMap(({ elsewhere }) => elsewhere)
    .map(({ name, where, file, line }) => {
      const text = `"${name}" is elsewhere (${where}), and nothing is fetched; get it, and name its folder`;
      return `note: ${describePlace({ file, line }, cwd)}: ${toVisibleLine(text)}\n`;
    });

const NONE_NAMED = 'No plugin is named or enabled. To see what one brings: heddle plugin list --plugin-dir <folder>\n';

function describeNone({ folders }: Asked, settings: LoadedSettings | undefined): string {
  if (folders.length > 0) return 'There is no plugin in what was named.\n';
  const isEnabled = Object.values(settings?.value.enabledPlugins ?? {}).includes(true);
  return isEnabled ? 'None of the plugins that settings enable can be used.\n' : NONE_NAMED;
}

function toPluginTable(plugins: readonly ExaminedPlugin[], { stdout }: PluginParts): string {
  const columns = [
    { title: 'NAME' },
    { title: 'VERSION' },
    { title: 'BRINGS', flexible: true },
    { title: 'FROM', flexible: true },
    { title: 'PROBLEMS' },
  ];
  const rows = plugins.map(({ plugin: { name, version = '-', root, source, marketplace }, brings, problems }) => [
    toVisibleLine(name),
    toVisibleLine(version),
    describeContents(brings),
    `${shortFolder(root)} (${marketplace === undefined ? '' : `${toVisibleLine(marketplace)}, `}${SOURCES[source]})`,
    countProblems(problems),
  ]);
  return toTable(columns, rows, stdout.isTTY ? (stdout.columns ?? 80) : undefined);
}

const SOURCES = {
  managed: 'managed settings',
  flag: '--plugin-dir',
  local: 'local settings',
  project: 'project settings',
  user: 'user settings',
} as const;

function shortFolder(folder: string): string {
  const home = homedir();
  const way = relative(home, folder);
  const isBelow = way !== '' && !way.startsWith('..') && !isAbsolute(way);
  return toVisibleLine(isBelow ? `~/${way}` : folder);
}

function describeContents({
  commands,
  agents,
  skills,
  outputStyles,
  hooks,
  mcpServers,
}: ExaminedPlugin['brings']): string {
  const parts = [
    count(commands.length, 'command'),
    count(agents.length, 'agent'),
    count(skills.length, 'skill'),
    count(outputStyles.length, 'output style'),
    hooks.length === 0 ? '' : `hooks (${hooks.join(', ')})`,
    count(mcpServers.length, 'MCP server'),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

const count = (number: number, noun: string): string =>
  number === 0 ? '' : `${number} ${noun}${number === 1 ? '' : 's'}`;

function countProblems(problems: readonly DefinitionProblem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const parts = [count(errors, 'error'), count(problems.length - errors, 'warning')].filter((part) => part !== '');
  return parts.length === 0 ? 'none' : parts.join(', ');
}

// ---- validate ------------------------------------------------------------------------------------------------------

async function validate(asked: Asked, parts: PluginParts): Promise<number> {
  const examination = await examine(asked, parts.cwd);
  const { plugins, marketplaces, problems } = examination;
  const { stdout } = parts;
  const isValid = asked.strict ? problems.length === 0 : !hasErrors(problems);
  if (asked.json) {
    const { plugins: all, marketplaces: of } = toJson(examination);
    const [marketplace = null] = of;
    const plugin = marketplace === null ? (all[0] ?? null) : null;
    const found = { plugin, ...(marketplace && { marketplace, plugins: all }) };
    stdout.write(`${toVisibleJson({ valid: isValid, ...found, problems })}\n`);
    return isValid ? 0 : 1;
  }
  for (const problem of problems) stdout.write(`${describe(problem, parts.cwd)}\n`);
  for (const line of describeElsewhere(marketplaces, parts.cwd)) stdout.write(line);
  for (const { name, elsewhere } of marketplaces) {
    const offered = [
      count(plugins.length, 'plugin') || 'no plugin',
      ...(elsewhere.length > 0 ? [`${elsewhere.length} elsewhere`] : []),
    ];
    stdout.write(`${toVisibleLine(name)} is a marketplace of ${offered.join(', and ')}.\n`);
  }
  for (const { plugin, brings } of plugins) {
    const title = [plugin.name, plugin.version ?? ''].join(' ').trim();
    stdout.write(`${toVisibleLine(title)} brings ${describeContents(brings)}.\n`);
  }
  const found = problems.length === 0 ? 'Nothing is wrong' : countProblems(problems);
  stdout.write(`${isValid ? 'Valid' : 'Not valid'}: ${found}.\n`);
  return isValid ? 0 : 1;
}

const hasErrors = (problems: readonly DefinitionProblem[]): boolean =>
  problems.some(({ severity }) => severity === 'error');

/** `error: file:line: text`, the file as short as it can be said from here. */
function describe({ severity, text, ...place }: DefinitionProblem, cwd: string): string {
  return toVisible(`${severity}: ${describePlace(place, cwd)}: ${toVisibleLine(text)}`);
}

function describePlace({ file, line }: { file: string; line: number }, cwd: string): string {
  const way = relative(cwd, file);
  const shown = way === '' || way.startsWith('..') || isAbsolute(way) ? file : way;
  return `${toVisibleLine(shown)}${line === 0 ? '' : `:${line}`}`;
}

function toJson({ plugins, marketplaces, problems }: Examination) {
  return {
    marketplaces: marketplaces.map(({ name, root, file, entries, elsewhere, renames }) => ({
      name,
      root,
      file,
      plugins: entries.map((entry) => entry.name),
      elsewhere: elsewhere.map((each) => ({ name: each.name, where: each.where, line: each.line })),
      ...(renames.size > 0 && { renames: Object.fromEntries(renames) }),
    })),
    plugins: plugins.map(({ plugin, brings, problems: own }) => {
      const { folders: _, hooks: __, mcpServers: ___, ...facts } = plugin;
      return { ...facts, brings, problems: own };
    }),
    problems,
  };
}
