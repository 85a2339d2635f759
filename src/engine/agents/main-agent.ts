/** The main thread as an agent: what its definition says counts where the caller says nothing. Pure. */
import type { PermissionMode, SessionConfig } from '../../protocol/index.js';
import { canonicalToolName, HeddleError, TOOL_SCHEMAS } from '../../protocol/plain.js';
import { agentLimits } from '../budget/options.js';
import type { ServerBounds } from '../mcp/bounds.js';
import type { Agent } from '../definitions/definition.js';
import { isLikeName } from '../mcp/names.js';
import type { Bringer } from '../mcp/sources/brought.js';
import type { SessionScope } from '../scope.js';
import { boundsOf, withinOf } from './agent-tools.js';
import { chooseMode } from './mode.js';
import { bringerOf } from './own-servers.js';

/** What it brings along as a bringer are its servers. */
export interface MainAgent extends Pick<SessionScope, 'within'>, Bringer {
  /** Its name, the only tools that it has, any when absent, and the skills that it knows from the start. */
  agent: Pick<Agent, 'name' | 'tools' | 'skills' | 'origin'>;
  config: SessionConfig;
  /** What counts where neither the caller nor the log says anything: a choice of before was made by a person. */
  model?: string;
  mode?: PermissionMode;
  /** What the session may use, those of servers included. */
  bounds: ServerBounds;
  /** What the model is told before the first prompt. */
  opening: string[];
}

/** The agent that `name` means. Throws `invalid_config` when there is none. */
export function findMainAgent(known: ReadonlyMap<string, Agent>, name: string): Agent {
  const agent = known.get(name);
  if (agent !== undefined) return agent;
  throw new HeddleError('invalid_config', `There is no agent "${name}".`, {
    hint: `Available: ${[...known.keys()].join(', ')}.`,
  });
}

/** Rules are about names: what was granted to a server of the session must not count for another one. */
export function refuseTaken({ mcpServers }: Pick<MainAgent, 'mcpServers'>, session: Iterable<string>): void {
  const names = [...session];
  const taken = Object.keys(mcpServers).filter((server) => names.some((each) => isLikeName(each, server)));
  if (taken.length === 0) return;
  throw new HeddleError('invalid_config', `The agent brings an MCP server that the session has: ${taken.join(', ')}.`, {
    hint: 'Give one of them another name, or let the agent name that of the session.',
  });
}

export function toMainAgent(config: SessionConfig, agent: Agent): MainAgent {
  const { maxTurns, systemPrompt } = config;
  const bounds = boundsOf(agent);
  const effort = config.effort ?? (typeof agent.effort === 'string' ? agent.effort : undefined);
  const append = typeof systemPrompt === 'object' && 'append' in systemPrompt ? systemPrompt.append : undefined;
  const tools = toolsFor(config.tools, agent, bounds.permits);
  const turns = maxTurns ?? agent.maxTurns;
  const { usd, tokens, seconds } = agentLimits({ ...agent, maxTurns: undefined }, agent.name);
  return {
    agent,
    ...(agent.model !== undefined && agent.model !== 'inherit' && { model: agent.model }),
    // As far as it counts for a subagent.
    ...(agent.permissionMode !== undefined && { mode: chooseMode({ mode: 'default', config }, { agent }) }),
    bounds,
    ...withinOf(agent),
    ...bringerOf(agent),
    opening: [agent.initialPrompt, agent.criticalSystemReminder_EXPERIMENTAL].filter((text) => text !== undefined),
    config: {
      ...config,
      systemPrompt: isOwnPrompt(systemPrompt) ? systemPrompt : [agent.prompt, ...(append ? [append] : [])],
      disallowedTools: [...(config.disallowedTools ?? []), ...(agent.disallowedTools ?? [])],
      ...(tools && { tools }),
      ...(turns !== undefined && { maxTurns: turns }),
      // The definition limits all that its agent starts, as the call does: both hold.
      ...(usd !== undefined && { maxBudgetUsd: Math.min(usd, config.maxBudgetUsd ?? usd) }),
      ...(tokens !== undefined && { taskBudget: Math.min(tokens, config.taskBudget ?? tokens) }),
      ...(seconds !== undefined && { maxSeconds: Math.min(seconds, config.maxSeconds ?? seconds) }),
      ...(effort !== undefined && { effort }),
    },
  };
}

/** Who says nothing leaves the prompt to the agent. */
const isOwnPrompt = (prompt: SessionConfig['systemPrompt']): boolean =>
  (typeof prompt === 'string' || Array.isArray(prompt)) && [prompt].flat().some((text) => text.trim() !== '');

/** The built-in tools that both the caller and the definition want; undefined: the default ones. */
function toolsFor(
  called: SessionConfig['tools'],
  { tools }: Agent,
  permits: (name: string) => boolean,
): string[] | undefined {
  const named = Array.isArray(called) && !called.includes('default') ? called.map(canonicalToolName) : undefined;
  if (tools === undefined || tools.some((name) => name.trim() === '*')) return named;
  return (named ?? Object.keys(TOOL_SCHEMAS)).filter((name) => permits(name));
}
