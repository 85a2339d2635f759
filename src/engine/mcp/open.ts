/** The MCP servers of a session: where they come from, how they are reached, what they may ask of it. */
import { join } from 'node:path';
import type { SessionConfig } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { isElsewhere } from '../elsewhere.js';
import type { SessionScope } from '../scope.js';
import type { LoadedSettings } from '../settings/load.js';
import type { SettingsNotice } from '../settings/notice.js';
import { mayHave } from '../tools/registry.js';
import type { ServerDefinition } from './server-definition.js';
import { McpServers, type McpServersParts } from './servers.js';
import { hasMcpSources } from './sources/any.js';
import { type Bringer, toBrought, toServerFlags } from './sources/brought.js';
import { findNameDenial } from './sources/policy.js';

export interface ConfiguredServers {
  servers: ReadonlyMap<string, ServerDefinition>;
  notices: SettingsNotice[];
}

/** Reads what flags, settings and `.mcp.json` name. Throws when a flag cannot be read; other faults are notices. */
export async function findServers(
  config: SessionConfig,
  settings: LoadedSettings,
  plugins: readonly Bringer[],
): Promise<ConfiguredServers> {
  const isProjectRead = config.settingSources?.includes('project') === true;
  const strict = config.strictMcpConfig ?? false;
  // Of plugins only those of policy count then.
  const counted = plugins.filter(({ source }) => !strict || source === 'managed');
  const leftOut = plugins.flatMap((each) => (counted.includes(each) ? [] : Object.keys(each.mcpServers)));
  const left = leftOut.length === 0 ? [] : [toLeftOut(leftOut)];
  const sources = {
    flags: [...toServerFlags(counted), ...(config.mcpConfig ?? [])],
    brought: toBrought(counted),
    strict,
    settings,
    ...(isProjectRead && { projectFile: join(settings.files.projectRoot, '.mcp.json') }),
  };
  if (!hasMcpSources(sources)) return { servers: new Map(), notices: left };
  const [{ resolveMcpServers }, { createMcpApprovals }, { describeProblem }] = await Promise.all([
    import('./sources/resolve.js'),
    import('./sources/approvals.js'),
    import('../settings/problem.js'),
  ]);
  const { cwd, env, configDir } = config;
  const approvals = createMcpApprovals({ configDir });
  const { servers, problems } = await resolveMcpServers({
    ...sources,
    trusted: settings.trusted,
    env,
    cwd,
    approvals,
  });
  const fatal = problems.filter((problem) => problem.fatal);
  if (fatal.length > 0) {
    throw new HeddleError('invalid_config', `Invalid MCP configuration:\n${fatal.map(describeProblem).join('\n')}`);
  }
  return {
    servers,
    notices: [
      ...left,
      ...problems.map((problem) => ({
        level: problem.severity === 'error' ? ('error' as const) : ('warning' as const),
        content: describeProblem(problem),
      })),
    ],
  };
}

const toLeftOut = (names: readonly string[]): SettingsNotice => ({
  level: 'notice',
  content: `MCP servers of plugins and agents are left out, as strictMcpConfig says: ${names.join(', ')}`,
});

/** `scope` is asked for when something happens: the session is opened around its servers. */
export function openMcp(
  configured: ConfiguredServers['servers'],
  around: Pick<SessionScope, 'clock' | 'logger' | 'config'> & {
    scope: () => SessionScope;
    beside?: McpServers;
    bounds?: McpServersParts['bounds'] | undefined;
  },
): McpServers {
  const { clock, logger, config, scope, beside, bounds } = around;
  const servers: McpServers = new McpServers(clock, {
    configured,
    ...(beside ? { beside } : { waits: true }),
    ...(bounds && { bounds }),
    logger,
    isElsewhere: isElsewhere(config),
    toolSearch: config.env.ENABLE_TOOL_SEARCH,
    hasSearch: mayHave('ToolSearch', config),
    mayHave: (tool) => mayHave(tool, config),
    isDenied: async (tool) =>
      (await scope().guard.rules({ deny: scope().config.disallowedTools })).deny.tool(tool) !== undefined,
    admission: {
      admit: async (name, server) =>
        (await import('./sources/resolve.js')).admitServer(name, server, scope().guard.settings),
      deny: (name) => findNameDenial(name, scope().guard.settings.value),
    },
    ...callMsOf(config),
    connect: async (name, server, parts) => (await import('./reach.js')).reachServer(name, server, { parts, config }),
    linkParts: async (name) =>
      (await import('./link-parts.js')).toLinkParts(scope(), { name, scope: servers.configured.get(name)?.scope }),
    onChange: ({ what }) => scope().commands.noteChange(what),
  });
  return servers;
}

/** How long a call may take without progress, where the entry of its server does not say. */
function callMsOf({ env }: SessionConfig): { callMs?: number } {
  const ms = Number(env.MCP_TOOL_TIMEOUT);
  return Number.isInteger(ms) && ms > 0 ? { callMs: ms } : {};
}
