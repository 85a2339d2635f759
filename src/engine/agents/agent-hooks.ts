/** Hooks in an agent: those of the session, told in which agent something happens, and those of its definition. */
import type { Settings } from '../../protocol/index.js';
import type { Agent } from '../definitions/definition.js';
import type { LoadedHookSource } from '../hooks/definition.js';
import type { SessionHooks } from '../hooks/session-hooks.js';
import type { SessionScope } from '../scope.js';
import type { AgentIdentity } from './identity.js';

/** The hooks of the session as the agent fires them (G9). */
export function hooksOf(
  { hooks }: SessionScope,
  { id, type }: AgentIdentity,
  state: SessionScope['state'],
): SessionHooks {
  return {
    has: (event, agentId = id) => hooks.has(event, agentId),
    fire: (event, fields, options) =>
      hooks.fire(event, fields, {
        ...options,
        // What an agent of this one says of itself stays.
        base: { agent_id: id, agent_type: type, cwd: state.cwd, permission_mode: state.mode, ...options.base },
      }),
    get turnSignal() {
      return hooks.turnSignal;
    },
    get list() {
      return hooks.list;
    },
    attach: (source) => hooks.attach(source),
    adopt: (agentId, source) => hooks.adopt(agentId, source),
    // These belong to the session, which outlives the agent.
    replaceSettings: () => Promise.resolve(),
    tellProblems: () => {},
    follow: () => {},
    listen: () => {},
    tellLater: () => {},
    close: () => {},
  };
}

const LAYERS = { managed: 'managed', flag: 'flag', project: 'project', user: 'user', plugin: 'user' } as const;

/** The hooks of a definition, as far as policy lets them count. What it wants at its end is what ends it, here a subagent. */
export function hooksOfDefinition(
  { hooks, origin }: Pick<Agent, 'hooks' | 'origin'>,
  { managedOnly, value }: Pick<SessionScope['guard']['settings'], 'managedOnly' | 'value'>,
  { isMain = false }: { isMain?: boolean } = {},
): LoadedHookSource | undefined {
  const { scope, pluginRoot } = origin;
  if (hooks === undefined || scope === 'builtin') return undefined;
  if (value.disableAllHooks === true || (managedOnly.hooks && scope !== 'managed')) return undefined;
  const declared = hooks as NonNullable<Settings['hooks']>;
  return {
    layer: LAYERS[scope],
    hooks: isMain ? declared : endedAsSubagent(declared),
    ...(pluginRoot !== undefined && { env: { CLAUDE_PLUGIN_ROOT: pluginRoot } }),
  };
}

function endedAsSubagent({ Stop: stop = [], SubagentStop: ends = [], ...rest }: NonNullable<Settings['hooks']>) {
  return stop.length + ends.length === 0 ? rest : { ...rest, SubagentStop: [...stop, ...ends] };
}
