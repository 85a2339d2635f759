/** Which tools an agent may have. Pure. */
import { canonicalToolName } from '../../protocol/plain.js';
import type { Agent } from '../definitions/definition.js';
import type { ServerBounds } from '../mcp/bounds.js';
import { isToolOf as isToolOfServer, mcpToolName } from '../mcp/names.js';
import { matchesGlob, parseGlob } from '../permissions/rules/glob.js';
import type { SessionScope } from '../scope.js';

/**
 * A list of tools is a hard boundary, those of servers included; a list of servers is one for the tools of servers.
 * `Bash(git:*)` names the tool, whose calls keep to that, `mcp__server` all of a server, `mcp__server__get_*` some of it.
 */
export function isToolOf({ tools, mcpServers }: Pick<Agent, 'tools' | 'mcpServers'>): (name: string) => boolean {
  const isNamed = namedBy(tools);
  const servers = mcpServers?.flatMap((server) => (typeof server === 'string' ? [server] : Object.keys(server)));
  return (name) =>
    isNamed(name) && (!name.startsWith('mcp__') || !servers || servers.some((server) => isToolOfServer(server, name)));
}

/** Which servers it may reach: those that it names, and where it names tools of servers, only their servers. */
export function reachesOf({ tools, mcpServers }: Pick<Agent, 'tools' | 'mcpServers'>): ServerBounds['reaches'] {
  const servers = mcpServers?.flatMap((server) => (typeof server === 'string' ? [server] : Object.keys(server)));
  const prefixes = servers && new Set(servers.map((server) => mcpToolName(server, '')));
  const isAll = tools === undefined || tools.some((name) => /^(?:mcp__)?\*$/.test(name.trim()));
  const named = isAll ? [] : tools.map((name) => name.trim()).filter((name) => name.startsWith('mcp__'));
  return (server) => {
    const prefix = mcpToolName(server, '');
    return (
      (prefixes?.has(prefix) ?? true) && (named.length === 0 || named.some((name) => `${name}__`.startsWith(prefix)))
    );
  };
}

/** Nobody may use more than whoever starts it. */
export const boundsOf = (agent: Pick<Agent, 'tools' | 'mcpServers'>, above?: ServerBounds): ServerBounds => {
  const [isWanted, isReached] = [isToolOf(agent), reachesOf(agent)];
  return {
    permits: (name) => isWanted(name) && (above?.permits(name) ?? true),
    reaches: (server) => isReached(server) && (above?.reaches(server) ?? true),
  };
};

function namedBy(tools: Agent['tools']): (name: string) => boolean {
  if (tools === undefined || tools.some((name) => name.trim() === '*')) return () => true;
  const names = new Set(tools.map((text) => canonicalToolName(text.replace(/\(.*$/s, '').trim())));
  const servers = [...names].filter((name) => name.startsWith('mcp__')).map((name) => name.replace(/(__)?\*$/, ''));
  const some = [...names]
    .filter((name) => SOME_OF_SERVER.test(name))
    .map((name) => parseGlob(name, { onlyStars: true }));
  return (name) =>
    names.has(canonicalToolName(name)) ||
    servers.some((server) => isOf(server, name)) ||
    some.some((pattern) => matchesGlob(pattern, name));
}

const SOME_OF_SERVER = /^mcp__(?:(?!__)[^*])+__.*\*/;

/** A list that names uses of tools, as part of a scope. */
export const withinOf = (
  { name, tools = [] }: Pick<Agent, 'name' | 'tools'>,
  above: SessionScope['within'] = [],
): Pick<SessionScope, 'within'> => {
  const within = tools.some((tool) => tool.includes('(')) ? [...above, { agent: name, tools }] : above;
  return within.length === 0 ? {} : { within };
};

/** Of a whole server only: the name of a tool is no prefix of another's. */
const isOf = (server: string, name: string): boolean =>
  !server.slice('mcp__'.length).includes('__') && name.startsWith(`${server}__`);
