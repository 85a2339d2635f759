/** The MCP servers that belong to an agent alone: they are there as long as it works. */
import type { Clock, Logger } from '../../protocol/index.js';
import type { McpServers } from '../mcp/servers.js';
import type { Agent } from '../definitions/definition.js';
import type { SessionScope } from '../scope.js';

export const ownServersOf = ({ mcpServers = [] }: Pick<Agent, 'mcpServers'>): Record<string, unknown> =>
  Object.fromEntries(mcpServers.flatMap((server) => (typeof server === 'object' ? Object.entries(server) : [])));

/** So long an agent waits for its servers before it begins; what comes later it has from then on. */
export const CONNECT_MS = 5_000;

export interface ConnectOptions {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Called when the last of them is connected or has failed, if nobody waited that long. */
  onLate(): void;
}

/** Resolves when each of them is connected or has failed, or after a while, or when nobody waits any more. */
export async function connectServers(
  mcp: McpServers,
  { clock, logger, signal, onLate }: ConnectOptions,
): Promise<void> {
  const giveUp = (): void => void mcp.close().catch(() => undefined);
  const waited = Promise.withResolvers<void>();
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  let isLate = false;
  const cancel = clock.after(CONNECT_MS, () => {
    isLate = true;
    waited.resolve();
  });
  mcp.begin();
  const connected = mcp
    .set(new Map())
    .then(() => (isLate ? onLate() : undefined))
    // It goes on with the tools that it has.
    .catch((error: unknown) => logger('warn', `Tools of an agent came too late: ${String(error)}`));
  await Promise.race([connected, waited.promise]);
  cancel();
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
  // Rules are about names: what was granted to a server of the session must not count for another one.
  const taken = names.filter((server) => mcp.has(server));
  if (taken.length > 0) refuse(`cannot be called as servers of the session are: ${taken.join(', ')}`);
  if (config.strictMcpConfig) refuse('a session with strictMcpConfig does not allow');
  const { findServers, openMcp } = await import('../mcp/open.js');
  // As if the call had named them: policy counts for them as for any other.
  const alone = {
    ...config,
    mcpConfig: [JSON.stringify({ mcpServers: own })],
    strictMcpConfig: true,
    settingSources: [],
  };
  const { servers, notices } = await findServers(alone, guard.settings, []);
  const allowed = new Map([...servers].filter(([server, { blocked }]) => names.includes(server) && !blocked));
  if (allowed.size < names.length) {
    const blocked = names.flatMap((server) => {
      const why = servers.get(server)?.blocked;
      return why === undefined ? [] : [`${server}: ${why}`];
    });
    const whys = [...blocked, ...notices.map(({ content }) => content)];
    refuse(`cannot be used here: ${whys.join(' ') || 'they are not as they must be'}`);
  }
  return openMcp(allowed, { clock, logger, config, scope, beside: mcp });
}
