/** The main thread as an agent: what its definition says counts where the caller says nothing. Pure. */
import type { PermissionMode, SessionConfig } from '../../protocol/index.js';
import { canonicalToolName, HeddleError, TOOL_SCHEMAS } from '../../protocol/plain.js';
import type { Agent } from '../definitions/definition.js';
import type { SessionScope } from '../scope.js';
import { isToolOf, withinOf } from './agent-tools.js';
import { chooseMode } from './mode.js';
import { ownServersOf } from './own-servers.js';

export interface MainAgent extends Pick<SessionScope, 'within'> {
  /** Its name, the only tools that it has, any when absent, and the skills that it knows from the start. */
  agent: Pick<Agent, 'name' | 'tools' | 'skills' | 'origin'>;
  config: SessionConfig;
  /** What counts where neither the caller nor the log says anything: a choice of before was made by a person. */
  model?: string;
  mode?: PermissionMode;
  /** Which tools the session may have, those of servers included. */
  permits: (toolName: string) => boolean;
  /** What the model is told before the first prompt. */
  opening: string[];
  /** Servers that it brings along, by name. */
  mcpServers: Record<string, unknown>;
}

/** The agent that `name` means. Throws `invalid_config` when there is none. */
export function findMainAgent(known: ReadonlyMap<string, Agent>, name: string): Agent {
  const agent = known.get(name);
  if (agent !== undefined) return agent;
  throw new HeddleError('invalid_config', `There is no agent "${name}".`, {
    hint: `Available: ${[...known.keys()].join(', ')}.`,
  });
}

export function toMainAgent(config: SessionConfig, agent: Agent): MainAgent {
  const { maxTurns, systemPrompt } = config;
  const permits = isToolOf(agent);
  const effort = config.effort ?? (typeof agent.effort === 'string' ? agent.effort : undefined);
  const append = typeof systemPrompt === 'object' && 'append' in systemPrompt ? systemPrompt.append : undefined;
  const tools = toolsFor(config.tools, agent, permits);
  const turns = maxTurns ?? agent.maxTurns;
  return {
    agent,
    ...(agent.model !== undefined && agent.model !== 'inherit' && { model: agent.model }),
    // As far as it counts for a subagent.
    ...(agent.permissionMode !== undefined && { mode: chooseMode({ mode: 'default', config }, { agent }) }),
    permits,
    ...withinOf(agent),
    mcpServers: ownServersOf(agent),
    opening: [agent.initialPrompt, agent.criticalSystemReminder_EXPERIMENTAL].filter((text) => text !== undefined),
    config: {
      ...config,
      systemPrompt: isOwnPrompt(systemPrompt) ? systemPrompt : [agent.prompt, ...(append ? [append] : [])],
      disallowedTools: [...(config.disallowedTools ?? []), ...(agent.disallowedTools ?? [])],
      ...(tools && { tools }),
      ...(turns !== undefined && { maxTurns: turns }),
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
