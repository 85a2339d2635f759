/** The MCP servers that belong to an agent alone: they are there as long as it works. */
import type { Clock, Logger } from '../../protocol/index.js';
import type { Agent } from '../definitions/definition.js';
import { layerOf } from '../definitions/layer.js';
import type { ServerBounds } from '../mcp/bounds.js';
import { showName } from '../mcp/names.js';
import type { RemoteServer, ServerDefinition } from '../mcp/server-definition.js';
import type { McpServers } from '../mcp/servers.js';
import type { Bringer } from '../mcp/sources/brought.js';
import type { SessionScope } from '../scope.js';
import type { LoadedSettings } from '../settings/load.js';

const ownServersOf = ({ mcpServers = [] }: Pick<Agent, 'mcpServers'>): Record<string, unknown> =>
  Object.fromEntries(mcpServers.flatMap((server) => (typeof server === 'object' ? Object.entries(server) : [])));

/** Whoever has written the definition answers for its servers, as the one who enables a plugin does for those of that. */
export const bringerOf = (agent: Pick<Agent, 'mcpServers' | 'origin'>): Bringer => {
  const { file } = agent.origin;
  return { mcpServers: ownServersOf(agent), source: layerOf(agent.origin), ...(file !== undefined && { root: file }) };
};

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

export interface OwnServers {
  /** Not connected yet, since they are asked through their scope. Absent where there is none that may run. */
  mcp?: McpServers;
  /** In words, which it does without: whoever starts the agent is told. */
  leftOut: string[];
}

export interface OwnServersParts {
  scope: () => SessionScope;
  /** What whoever starts the agent may use. */
  above: Pick<ServerBounds, 'reaches'>;
}

/**
 * They are judged by where the definition comes from, as any other server from there: one of a project that nobody has
 * approved is left out. Throws where one of them can never run so.
 */
export async function openOwnServers(
  agent: Pick<Agent, 'mcpServers' | 'name' | 'origin'>,
  { config, clock, logger, guard, mcp }: SessionScope,
  { scope, above }: OwnServersParts,
): Promise<OwnServers> {
  const bringer = bringerOf(agent);
  const names = Object.keys(bringer.mcpServers);
  if (names.length === 0) return { leftOut: [] };
  const { name } = agent;
  const refuse = (why: string): never => {
    throw new Error(`The agent ${name} brings MCP servers of its own (${names.join(', ')}), which ${why}.`);
  };
  // Rules are about names: what was granted to a server of the session must not count for another one.
  const taken = names.filter((server) => mcp.hasLike(server));
  if (taken.length > 0) refuse(`cannot be called as servers of the session are: ${taken.join(', ')}`);
  if (config.strictMcpConfig) refuse('a session with strictMcpConfig does not allow');
  const { findServers, openMcp } = await import('../mcp/open.js');
  // Nothing but these; policy and choices about servers count for them as for any other.
  const alone = { ...config, mcpConfig: [], settingSources: [] };
  const { servers, notices } = await findServers(alone, withoutServers(guard.settings), [bringer]);
  const known = new Map([...servers].filter(([server]) => names.includes(server)));
  const broken = names.filter((server) => {
    const { blocked, isOff } = toBlock(known.get(server));
    return blocked !== undefined && !isOff;
  });
  if (broken.length > 0) {
    const blocked = broken.flatMap((server) => {
      const why = known.get(server)?.blocked;
      return why === undefined ? [] : [`${server}: ${why}`];
    });
    const whys = [...blocked, ...notices.map(({ content }) => content)];
    refuse(`cannot be used here: ${whys.join(' ') || 'they are not as they must be'}`);
  }
  const leftOut: string[] = [];
  const allowed = new Map<string, ServerDefinition>();
  for (const [server, definition] of known) {
    // Nothing of it could be used: it is not even started.
    const why = above.reaches(server) ? definition.blocked : 'the agent above reaches no such server';
    if (why === undefined) allowed.set(server, definition);
    else leftOut.push(`The agent ${name} works without its MCP server ${showName(server)}: ${why}.`);
  }
  return {
    leftOut,
    ...(allowed.size > 0 && { mcp: openMcp(allowed, { clock, logger, config, scope, beside: mcp }) }),
  };
}

const NOT_READ: Pick<RemoteServer, 'blocked' | 'isOff'> = { blocked: 'it is not as it must be' };
const toBlock = (server: ServerDefinition | undefined): Pick<RemoteServer, 'blocked' | 'isOff'> => server ?? NOT_READ;

/** What they say of servers stays, but for servers themselves. */
function withoutServers(settings: LoadedSettings): LoadedSettings {
  const layers = settings.layers.map((layer) => {
    const { mcpServers: _, ...rest } = layer.settings;
    return { ...layer, settings: rest };
  });
  return { ...settings, layers };
}
