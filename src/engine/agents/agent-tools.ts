/** Which tools an agent may have. Pure. */
import { canonicalToolName } from '../../protocol/plain.js';
import type { Agent } from '../definitions/definition.js';
import { isToolOf as isToolOfServer } from '../mcp/names.js';

/**
 * A list of tools is a hard boundary, those of servers included; a list of servers is one for the tools of servers.
 * `Bash(git:*)` names the tool, `mcp__server` all of a server.
 */
export function isToolOf({ tools, mcpServers }: Pick<Agent, 'tools' | 'mcpServers'>): (name: string) => boolean {
  const isNamed = namedBy(tools);
  const servers = mcpServers?.flatMap((server) => (typeof server === 'string' ? [server] : Object.keys(server)));
  return (name) =>
    isNamed(name) && (!name.startsWith('mcp__') || !servers || servers.some((server) => isToolOfServer(server, name)));
}

function namedBy(tools: Agent['tools']): (name: string) => boolean {
  if (tools === undefined || tools.some((name) => name.trim() === '*')) return () => true;
  const names = new Set(tools.map((text) => canonicalToolName(text.replace(/\(.*$/s, '').trim())));
  const servers = [...names].filter((name) => name.startsWith('mcp__')).map((name) => name.replace(/(__)?\*$/, ''));
  return (name) => names.has(canonicalToolName(name)) || servers.some((server) => isOf(server, name));
}

/** Of a whole server only: the name of a tool is no prefix of another's. */
const isOf = (server: string, name: string): boolean =>
  !server.slice('mcp__'.length).includes('__') && name.startsWith(`${server}__`);
