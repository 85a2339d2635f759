/** Hooks in an agent: those of the session, told in which agent something happens, and those of definitions. */
import type { Agent } from '../definitions/definition.js';
import { layerOf } from '../definitions/layer.js';
import type { LoadedHookSource } from '../hooks/definition.js';
import { type HookLimits, mayHaveHooks } from '../hooks/hook-settings.js';
import type { SessionHooks } from '../hooks/session-hooks.js';
import type { SessionScope } from '../scope.js';
import type { AgentIdentity } from './identity.js';

export interface AgentHooksParts {
  identity: AgentIdentity;
  state: SessionScope['state'];
  handedDown: readonly LoadedHookSource[];
}

/** The hooks of the session as the agent fires them (G9). */
export function hooksOf({ hooks }: SessionScope, { identity, state, handedDown }: AgentHooksParts): SessionHooks {
  const { id, type } = identity;
  return {
    handedDown,
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
    adopt: (agentId, sources) => hooks.adopt(agentId, sources),
    // These belong to the session, which outlives the agent.
    replaceSettings: () => Promise.resolve(),
    tellProblems: () => {},
    follow: () => {},
    listen: () => {},
    tellLater: () => {},
    close: () => {},
  };
}

/** The hooks of a definition, as far as policy lets them count. */
export function hooksOfDefinition(
  { hooks, origin }: Pick<Agent, 'hooks' | 'origin'>,
  settings: HookLimits,
): LoadedHookSource | undefined {
  const { pluginRoot } = origin;
  const layer = layerOf(origin);
  if (hooks === undefined || !mayHaveHooks(layer, settings)) return undefined;
  return {
    layer,
    hooks,
    ...(pluginRoot !== undefined && { env: { CLAUDE_PLUGIN_ROOT: pluginRoot } }),
  };
}

/**
 * What counts in a subagent: its own hooks and, as with rules and modes, those of the agents that it was started by, which may
 * be over by then. `Stop` is the end of whoever declares it, and so stays there; here that is the end of a subagent.
 */
export function hooksInAgent(
  { handedDown }: Pick<SessionHooks, 'handedDown'>,
  own: LoadedHookSource | undefined,
): { inForce: LoadedHookSource[]; handedDown: LoadedHookSource[] } {
  if (own === undefined) return { inForce: [...handedDown], handedDown: [...handedDown] };
  const { Stop: stop = [], ...rest } = own.hooks ?? {};
  const { SubagentStop: ends = [] } = rest;
  const ofItself = stop.length === 0 ? rest : { ...rest, SubagentStop: [...stop, ...ends] };
  return {
    inForce: [...handedDown, { ...own, hooks: ofItself }],
    handedDown: [...handedDown, { ...own, hooks: rest }],
  };
}
