/** `heddle mcp list` and `get`: what a session in this folder would have. Nothing is started or reached. */
import type { ResolvedServer } from '../engine/index.js';
import {
  type CommandInput,
  describeTarget,
  findServer,
  loadServers,
  type McpParts,
  tellProblems,
} from './mcp-parts.js';
import { toTable } from './table.js';
import { toVisibleJson, toVisibleLine } from './visible.js';

export async function list({ values }: CommandInput, parts: McpParts): Promise<number> {
  const loaded = await loadServers(parts);
  const { servers, waiting, problems } = loaded;
  // One that waits while another of its name serves is listed too.
  const hidden = [...waiting].filter(([name, server]) => servers.get(name) !== server);
  const all = [...servers, ...hidden];
  if (values.json === true) {
    parts.stdout.write(
      `${toVisibleJson({ servers: await Promise.all(all.map(([name, server]) => toRecord(name, server))), problems })}\n`,
    );
  } else {
    parts.stdout.write(all.length === 0 ? 'No MCP servers. To add one: heddle mcp add\n' : await describe(all, parts));
  }
  await tellProblems(loaded, parts);
  return 0;
}

async function toRecord(name: string, { scope, source, blocked, written }: ResolvedServer) {
  const { kindOf, showConfig } = await import('../engine/index.js');
  return {
    name,
    scope,
    source,
    status: blocked === undefined ? 'ready' : 'blocked',
    ...(blocked !== undefined && { reason: blocked }),
    config: { ...showConfig(written), type: kindOf(written) },
  };
}

async function describe(servers: readonly (readonly [string, ResolvedServer])[], { width }: McpParts): Promise<string> {
  const { kindOf } = await import('../engine/index.js');
  const rows = await Promise.all(
    servers.map(async ([name, { scope, blocked, written }]) => [
      toVisibleLine(name),
      kindOf(written),
      scope,
      blocked === undefined ? 'ready' : toVisibleLine(`no: ${blocked}`),
      await describeTarget(written),
    ]),
  );
  const columns = [
    { title: 'name', flexible: true },
    { title: 'type' },
    { title: 'scope' },
    { title: 'may run', flexible: true },
    { title: 'command or address', flexible: true },
  ];
  return toTable(columns, rows, width);
}

export async function get({ words, values }: CommandInput, parts: McpParts): Promise<number> {
  const [name = ''] = words;
  const loaded = await loadServers(parts);
  const server = findServer(loaded, name);
  if (values.json === true) {
    parts.stdout.write(`${toVisibleJson(await toRecord(name, server))}\n`);
    return 0;
  }
  const { kindOf, showConfig } = await import('../engine/index.js');
  const { written } = server;
  const rows: [string, string][] = [
    ['name', name],
    ['scope', server.scope],
    ['file', server.source],
    ['may run', server.blocked === undefined ? 'yes' : `no: ${server.blocked}`],
    ...Object.entries({ type: kindOf(written), ...showConfig(written) }).map(([key, value]): [string, string] => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ];
  const wide = Math.max(...rows.map(([key]) => key.length));
  for (const [key, value] of rows) parts.stdout.write(`${toVisibleLine(key).padEnd(wide)}  ${toVisibleLine(value)}\n`);
  return 0;
}
