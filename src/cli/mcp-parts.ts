/** What the commands of `heddle mcp` share. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { LoadedSettings, McpApprovals, ResolvedServer, ResolvedServers, ServerConfig } from '../engine/index.js';
import { HeddleError } from '../protocol/plain.js';
import type { TrustParts } from './trust.js';
import { toVisible, toVisibleLine } from './visible.js';

export interface McpParts extends TrustParts {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** Variables for servers, as a session has them. */
  env: Readonly<Record<string, string>>;
  /** The width of the terminal; undefined: nothing is cut. */
  width?: number | undefined;
  /** Opens a page in the browser of the person. Must not throw. */
  openPage?: (url: URL) => void;
}

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface CommandInput {
  words: readonly string[];
  values: Values;
}

export type McpCommand = (input: CommandInput, parts: McpParts) => Promise<number>;

export const usage = (text: string): HeddleError =>
  new HeddleError('invalid_config', `${text}\nSee heddle mcp --help.`);

export const textOf = (values: Values, key: string): string | undefined => {
  const value = values[key];
  return typeof value === 'string' ? value : undefined;
};

export const listOf = (values: Values, key: string): readonly string[] => {
  const value = values[key];
  return Array.isArray(value) ? value : [];
};

export interface Loaded extends ResolvedServers {
  settings: LoadedSettings;
  approvals: McpApprovals;
  projectRoot: string;
  /** The environment with what settings add. */
  env: Record<string, string>;
}

/** All servers that a session in this folder would have. */
export async function loadServers({ cwd, configDir, home = homedir(), managedDir, env }: McpParts): Promise<Loaded> {
  const engine = await import('../engine/index.js');
  const { createMcpApprovals, createTrust, findProjectRoot, loadSettings, resolveMcpServers, settingsFiles } = engine;
  const projectRoot = findProjectRoot({ cwd, home });
  const files = settingsFiles({ configDir, projectRoot, home, ...(managedDir && { managedDir }) });
  const trusted = await createTrust({ configDir, home }).isTrusted(projectRoot);
  const settings = await loadSettings({ files, sources: ['user', 'project', 'local'], trusted });
  const approvals = createMcpApprovals({ configDir });
  const all = { ...env, ...settings.value.env };
  const resolved = await resolveMcpServers({
    flags: [],
    strict: false,
    settings,
    brought: await engine.findBroughtServers(settings, { cwd, configDir }),
    projectFile: join(projectRoot, '.mcp.json'),
    trusted,
    env: all,
    cwd,
    approvals,
  });
  return { ...resolved, settings, approvals, projectRoot, env: all };
}

/** Everything that is wrong with the files, once. */
export async function tellProblems({ problems, settings }: Loaded, { stderr }: McpParts): Promise<void> {
  const { describeProblem } = await import('../engine/index.js');
  const ofServers = settings.problems.filter(({ path, fatal }) => fatal || path.startsWith('mcpServers'));
  for (const problem of [...ofServers, ...problems]) {
    stderr.write(`${problem.severity}: ${toVisible(describeProblem(problem))}\n`);
  }
}

export function findServer({ servers }: Loaded, name: string): ResolvedServer {
  const server = servers.get(name);
  if (server !== undefined) return server;
  const known = [...servers.keys()].map((each) => `"${toVisibleLine(each)}"`);
  const hint = known.length === 0 ? 'There are none.' : `Known are ${known.join(', ')}.`;
  throw new HeddleError('invalid_config', `error: there is no MCP server "${toVisibleLine(name)}". ${hint}`);
}

/** One that may be started or reached. */
export function findUsable(loaded: Loaded, name: string): ResolvedServer {
  const server = findServer(loaded, name);
  if (server.blocked === undefined) return server;
  throw new HeddleError(
    'invalid_config',
    `error: "${toVisibleLine(name)}" may not be used: ${toVisibleLine(server.blocked)}`,
  );
}

/** The command or the address, on one line. */
export async function describeTarget(config: ServerConfig): Promise<string> {
  const { hasAddress, showConfig } = await import('../engine/index.js');
  const { url, command, args = [] } = showConfig(config) as { url?: string; command?: string; args?: string[] };
  return toVisibleLine(hasAddress(config) ? (url ?? '') : [command, ...args].join(' '));
}
