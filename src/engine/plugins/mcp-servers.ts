/** The MCP servers of a plugin: `.mcp.json`, and what its manifest names or holds. */
import type { DefinitionProblem } from '../definitions/definition.js';
import { isTable } from '../settings/table.js';
import { findLost } from './inside.js';
import { type JsonPart, partAt, problemAt } from './json-part.js';
import { toRest } from './manifest.js';
import { isServerName, pluginServerName } from './names.js';
import type { PluginServer } from './plugin.js';
import { expandValue } from './root-variable.js';

/** A server, and where it stands. */
export interface PlacedServer {
  /** `plugin_<plugin>_<server>`. */
  name: string;
  /** As the plugin calls it. */
  written: string;
  config: PluginServer;
  file: string;
  line: number;
}

export interface ReadServers {
  servers: PlacedServer[];
  problems: DefinitionProblem[];
}

/** A bare table of names is as good as one under `mcpServers`. */
function unwrap(part: JsonPart): JsonPart {
  const { value } = part;
  if (!isTable(value)) return part;
  if (value.mcpServers !== undefined) return partAt(part, '.mcpServers', value.mcpServers);
  const { $schema: _, ...servers } = value;
  return partAt(part, '', servers);
}

/** Servers that are not as they must be are left out and reported. */
export async function readServers(
  given: JsonPart,
  { plugin, root }: { plugin: string; root: string },
): Promise<ReadServers> {
  const part = unwrap(given);
  const problems: DefinitionProblem[] = [];
  if (!isTable(part.value)) {
    return { servers: [], problems: [problemAt(part, '', { text: 'servers must be an object of names to servers' })] };
  }
  const servers: PlacedServer[] = [];
  for (const [written, value] of Object.entries(part.value)) {
    const rest = toRest(written);
    const found = await checkServer(written, { value, root });
    problems.push(
      ...found.faults.map(({ path, severity, text }) =>
        problemAt(part, path === '' ? rest : `${rest}${path}`, {
          severity,
          text: `${JSON.stringify(written)}: ${text}`,
        }),
      ),
    );
    if (found.config === undefined) continue;
    const config = expandValue(found.config, root) as PluginServer;
    servers.push({
      name: pluginServerName(plugin, written),
      written,
      config,
      file: part.file,
      line: part.lineOf(rest),
    });
  }
  return { servers, problems };
}

interface ServerFault {
  /** Below the server: `.args[0]`. */
  path: string;
  severity: 'error' | 'warning';
  text: string;
}

interface CheckedServer {
  /** Absent when it cannot be used. */
  config?: Record<string, unknown>;
  faults: ServerFault[];
}

async function checkServer(name: string, { value, root }: { value: unknown; root: string }): Promise<CheckedServer> {
  const refuse = (text: string): CheckedServer => ({ faults: [{ path: '', severity: 'error', text }] });
  if (!isServerName(name)) return refuse('this is no name for a server; use letters, digits and hyphens');
  if (!isTable(value)) return refuse('a server must be an object with "command" or "url"');
  const { type, command, url } = value;
  if (type === 'sdk') return refuse('servers of type "sdk" live in a program, and a plugin cannot bring one');
  if (command === undefined && url === undefined) return refuse('a server needs "command" or "url"');
  const faults: ServerFault[] = [];
  const isUntyped = type === undefined && command === undefined;
  if (isUntyped) {
    faults.push({ path: '', severity: 'warning', text: 'it has "url" and no "type"; "type": "http" is taken' });
  }
  const { args } = value;
  for (const each of [command, ...(Array.isArray(args) ? args : [])]) {
    if (typeof each !== 'string') continue;
    for (const text of findLost(root, each)) faults.push({ path: '', severity: 'warning', text });
  }
  const config = isUntyped ? { type: 'http', ...value } : value;
  const { McpServerConfig, problemsOf } = await import('../../protocol/index.js');
  const outcome = McpServerConfig().safeParse(config);
  if (outcome.success) return { config, faults };
  const wrong = problemsOf(outcome.error.issues).map(({ path, problem }): ServerFault => {
    const isWhole = path === '(root)';
    const below = path.startsWith('[') ? path : `.${path}`;
    return { path: isWhole ? '' : below, severity: 'error', text: isWhole ? problem : `${path}: ${problem}` };
  });
  return { faults: [...faults, ...wrong] };
}
