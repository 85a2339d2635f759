/** The MCP servers that belong to an agent alone: they are there as long as it works. */
import type { McpServers } from '../mcp/servers.js';
import type { Agent } from '../definitions/definition.js';
import type { SessionScope } from '../scope.js';

export const ownServersOf = ({ mcpServers = [] }: Pick<Agent, 'mcpServers'>): Record<string, unknown> =>
  Object.fromEntries(mcpServers.flatMap((server) => (typeof server === 'object' ? Object.entries(server) : [])));

/** Resolves when each of them is connected or has failed, or nobody waits any more. */
export async function connectServers(mcp: McpServers, signal: AbortSignal): Promise<void> {
  const giveUp = (): void => void mcp.close().catch(() => undefined);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  mcp.begin();
  await mcp.set(new Map());
  signal.removeEventListener('abort', giveUp);
}

/** Not connected yet, since they are asked through `scope`; undefined where the agent has none. Throws when one may not run. */
export async function openOwnServers(
  { mcpServers, name }: Pick<Agent, 'mcpServers' | 'name'>,
  { config, clock, logger, guard, mcp }: SessionScope,
  scope: () => SessionScope,
): Promise<McpServers | undefined> {
  const own = ownServersOf({ mcpServers });
  const names = Object.keys(own);
  if (names.length === 0) return undefined;
  const refuse = (why: string): never => {
    throw new Error(`The agent ${name} brings MCP servers of its own (${names.join(', ')}), which ${why}.`);
  };
  if (config.strictMcpConfig) refuse('a session with strictMcpConfig does not allow');
  const { findServers, openMcp } = await import('../mcp/open.js');
  // As if the call had named them: policy counts for them as for any other.
  const alone = {
    ...config,
    mcpConfig: [JSON.stringify({ mcpServers: own })],
    strictMcpConfig: true,
    settingSources: [],
  };
  const { servers } = await findServers(alone, guard.settings, []);
  const allowed = new Map([...servers].filter(([server, { blocked }]) => names.includes(server) && !blocked));
  if (allowed.size < names.length) refuse('the policy of this machine does not allow, or which are not well-formed');
  return openMcp(allowed, { clock, logger, config, scope, beside: mcp });
}
