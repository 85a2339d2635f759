/** `heddle trust`, and the question that a terminal asks once about a folder. */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { InertKey, LoadedSettings } from '../engine/index.js';
import { HeddleError } from '../protocol/plain.js';
import type { ReadLine } from './ask.js';
import { describeFailure } from './failure.js';
import { toVisible, toVisibleLine } from './visible.js';

export interface Output {
  write(text: string): unknown;
}

export interface TrustParts {
  stdout: Output;
  stderr: Output;
  cwd: string;
  configDir: string;
  home?: string;
  /** Folders of managed policy; those of the platform when absent. */
  managedDir?: string | readonly string[];
}

const HELP = `Usage: heddle trust [folder]            trust a folder and those below it (default: this project)
       heddle trust --remove [folder]   take that back
       heddle trust --list [--json]     the folders that are trusted

Until a folder is trusted, its .claude/settings.json and settings.local.json may only restrict: rules that deny or ask
count; hooks, variables, MCP servers, plugins, helpers and rules that allow wait. Commands see only the basic variables
of the environment. The home folder, / and folders that everyone may write to are trusted for themselves alone. What is
trusted is kept in .claude.json of the configuration folder.
`;

const OPTIONS = new Set(['--help', '-h', '--json', '--list', '--remove']);

/** The exit code: 1 when it could not be done. */
export async function runTrust(argv: readonly string[], parts: TrustParts): Promise<number> {
  try {
    return await run(argv, parts);
  } catch (thrown) {
    parts.stderr.write(`${describeFailure(thrown)}\n`);
    return 1;
  }
}

async function run(argv: readonly string[], parts: TrustParts): Promise<number> {
  const { stdout, cwd, configDir, home = homedir() } = parts;
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const options = argv.slice(0, end).filter((word) => word.startsWith('-'));
  const folders = [...argv.slice(0, end).filter((word) => !word.startsWith('-')), ...argv.slice(end + 1)];
  const unknown = options.find((word) => !OPTIONS.has(word));
  if (unknown !== undefined) throw usage(`error: unknown option '${toVisibleLine(unknown)}'`);
  if (options.includes('--help') || options.includes('-h')) {
    stdout.write(HELP);
    return 0;
  }
  if (folders.length > 1) throw usage('error: heddle trust takes one folder');
  const { createTrust, findProjectRoot } = await import('../engine/index.js');
  const trust = createTrust({ configDir, home });
  if (options.includes('--list')) {
    if (folders.length > 0 || options.includes('--remove')) throw usage('error: --list takes nothing else');
    const all = await trust.list();
    stdout.write(options.includes('--json') ? `${JSON.stringify(all, null, 2)}\n` : describeList(all));
    return 0;
  }
  const [named] = folders;
  const folder = named === undefined ? findProjectRoot({ cwd, home }) : resolve(cwd, named);
  if (options.includes('--remove')) {
    const { folder: real, changed } = await trust.untrust(folder);
    stdout.write(changed ? `No longer trusted: ${toVisibleLine(real)}\n` : `Was not trusted: ${toVisibleLine(real)}\n`);
    if (await trust.isTrusted(real)) {
      stdout.write('It still counts as trusted, because of a folder above it or its main work tree.\n');
    }
    return 0;
  }
  const waiting = await loadUntrusted(folder, { ...parts, home });
  const { folder: real, changed } = await trust.trust(folder);
  stdout.write(changed ? `Trusted: ${toVisibleLine(real)}\n` : `Was trusted already: ${toVisibleLine(real)}\n`);
  const lines = describeWaiting(waiting.inert);
  if (changed && lines.length > 0) stdout.write(`From now on these count:\n${lines.join('')}`);
  await tellProblems(waiting, parts.stderr);
  return 0;
}

const usage = (text: string): HeddleError => new HeddleError('invalid_config', `${text}\nSee heddle trust --help.`);

const describeList = (folders: readonly string[]): string =>
  folders.length === 0 ? 'No folder is trusted.\n' : folders.map((folder) => `${toVisibleLine(folder)}\n`).join('');

async function loadUntrusted(folder: string, parts: TrustParts & { home: string }): Promise<LoadedSettings> {
  const { configDir, home, managedDir } = parts;
  const { loadSettings, settingsFiles } = await import('../engine/index.js');
  const files = settingsFiles({ configDir, projectRoot: folder, home, ...(managedDir && { managedDir }) });
  return loadSettings({ files, sources: ['user', 'project', 'local'], trusted: false });
}

async function tellProblems({ problems }: LoadedSettings, stderr: Output): Promise<void> {
  const { describeProblem } = await import('../engine/index.js');
  for (const problem of problems) stderr.write(`${problem.severity}: ${toVisible(describeProblem(problem))}\n`);
}

export interface TrustQuestion {
  folder: string;
  /** What of the folder's settings waits. */
  inert: readonly InertKey[];
  /** Other things that wait, one line each, such as the servers of `.mcp.json`. */
  more?: readonly string[];
  write: (text: string) => void;
  readLine: ReadLine;
}

/** Shows all that would count, whole, and asks. Anything but yes means no. */
export async function askTrust({ folder, inert, more = [], write, readLine }: TrustQuestion): Promise<boolean> {
  const lines = [...describeWaiting(inert), ...more.map((line) => `  ${toVisibleLine(line)}\n`)];
  write(`\nIs this folder yours, or do you trust who made it?\n  ${toVisibleLine(folder)}\n`);
  write(
    lines.length === 0
      ? 'Its settings ask for nothing that would need it now; later ones would count without asking.\n'
      : `Its settings would then count, which can run commands and send data:\n${lines.join('')}`,
  );
  const answer = (await readLine('Trust it? y / N: '))?.trim() ?? '';
  return /^y(es)?$/i.test(answer);
}

/** One line for each thing that waits for trust. */
export function describeWaiting(inert: readonly InertKey[]): string[] {
  return inert
    .filter(({ waits }) => waits)
    .flatMap(({ key, value }) => describeKey(key, value))
    .map((line) => `  ${toVisibleLine(line)}\n`);
}

function describeKey(key: string, value: unknown): string[] {
  const entries = Object.entries((value ?? {}) as Record<string, unknown>);
  if (key === 'hooks') return entries.flatMap(([event, matchers]) => describeHooks(event, matchers));
  if (key === 'env') return entries.map(([name, text]) => `variable ${name}=${String(text)}`);
  if (key === 'mcpServers') return entries.map(([name, server]) => `MCP server ${name}: ${describeServer(server)}`);
  if (key === 'enabledPlugins') return entries.map(([name, isOn]) => describePlugin(name, isOn));
  if (key === 'extraKnownMarketplaces') {
    return entries.map(([name, market]) => `marketplace ${name}: ${describeMarketplace(market)}`);
  }
  if (key === 'permissions.allow') return entries.map(([, rule]) => `runs unasked: ${toText(rule)}`);
  if (key === 'permissions.additionalDirectories') return entries.map(([, folder]) => `opens ${toText(folder)}`);
  return [`${key}: ${toText(value)}`];
}

const describePlugin = (name: string, isOn: unknown): string =>
  isOn === false ? `plugin ${name} is switched off` : `plugin ${name}, which may run commands`;

function describeMarketplace(market: unknown): string {
  const { source: kind, path } = (market as { source?: { source?: unknown; path?: unknown } } | null)?.source ?? {};
  return toText((kind === 'directory' || kind === 'file') && typeof path === 'string' ? path : market);
}

interface WrittenHook {
  command?: string;
  url?: string;
  prompt?: string;
}

function describeHooks(event: string, matchers: unknown): string[] {
  return (matchers as { matcher?: string; hooks: WrittenHook[] }[]).flatMap(({ matcher, hooks }) =>
    hooks.map(({ command, url, prompt }) => {
      const of = matcher ? ` on ${matcher}` : '';
      return `hook ${event}${of}: ${command ?? url ?? prompt ?? ''}`;
    }),
  );
}

function describeServer(server: unknown): string {
  const {
    command,
    args = [],
    url,
    type: _,
    ...rest
  } = server as { command?: string; args?: string[]; url?: string; type?: string };
  const more = Object.keys(rest).length === 0 ? '' : ` with ${JSON.stringify(rest)}`;
  return `${url ?? [command, ...args].join(' ')}${more}`;
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
