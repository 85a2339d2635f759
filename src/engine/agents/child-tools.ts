/** The tools of a subagent. */
import type { Tool } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { Agent } from '../definitions/definition.js';
import type { SessionScope } from '../scope.js';
import { selectTools, type ToolSet } from '../tools/registry.js';

/** They speak to a person, or change the session itself. */
const MAIN_ONLY: ReadonlySet<string> = new Set(['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode', 'Config']);

export interface ChildToolParts {
  agent: Pick<Agent, 'name' | 'tools' | 'origin'>;
  /** All that are built in or of the app, made for this agent. */
  own: readonly Tool[];
  permits: (toolName: string) => boolean;
}

/** What it is not permitted to have it cannot call either, declared or not: a list of tools is a hard boundary. */
export function toolsOfChild({ mcp, catalog, state, config, main }: SessionScope, parts: ChildToolParts): ToolSet {
  const { agent, own, permits } = parts;
  const mayHave = (name: string): boolean => permits(name) && !MAIN_ONLY.has(name);
  const windowTokens = catalog.contextWindow(state.model.model, state.model.betas);
  const declared = mcp.declare({ windowTokens });
  // Servers of its own are declared whole, and those that it names are: it need not look for them.
  const ofServers =
    agent.tools === undefined && mcp === main?.mcp
      ? declared
      : [...declared.filter(({ name }) => !isOfServer(name)), ...mcp.tools];
  const tools = selectTools(
    [...own, ...ofServers].filter(({ name }) => mayHave(name)),
    config,
    { canAsk: false, findMore: (name) => (mayHave(name) ? mcp.find(name) : undefined) },
  );
  // Those of a server that is on its way may still come.
  const isBare = tools.names.length === 0 && mcp.pending.length === 0;
  if (agent.tools !== undefined && agent.tools.length > 0 && isBare) {
    const { file } = agent.origin;
    const wanted = `${agent.tools.join(', ')}${file === undefined ? '' : ` (${file})`}`;
    throw new HeddleError(
      'invalid_config',
      `The agent ${agent.name} names tools that it cannot have here: ${wanted}.`,
      {
        hint: 'Names of tools begin with a capital letter, or with mcp__.',
      },
    );
  }
  return tools;
}

/** Tools of servers that are not declared, but found by whoever looks for them. */
export function describeHidden({ mcp, state, agents }: SessionScope): string | undefined {
  if (!state.tools.names.includes('ToolSearch')) return undefined;
  const hidden = mcp.tools
    .map(({ name }) => name)
    .filter((name) => agents.permits(name) && !state.tools.names.includes(name));
  return hidden.length === 0 ? undefined : `Tools that ToolSearch loads: ${hidden.join(', ')}`;
}

const isOfServer = (name: string): boolean => name.startsWith('mcp__');
