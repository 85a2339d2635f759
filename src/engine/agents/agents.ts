/** Starts the agents of a session. */
import type { ServerBounds } from '../mcp/bounds.js';
import type { SessionScope } from '../scope.js';
import { agentIdOf } from './identity.js';
import type { AgentTree, SessionAgents } from './session-agents.js';

/** An agent may start agents, and so on, so deep: agents that start one another end here. */
export const MAX_DEPTH = 4;
/** So many may work at once in a session, however deep they are. */
export const MAX_WORKING = 100;

export interface AgentsParts {
  /** That of the session or agent whose agents these are. */
  scope: () => SessionScope;
  /** Of these agents: one for those of the main thread. */
  depth: number;
  /** What whoever starts them may use; anything when absent. */
  bounds?: ServerBounds | undefined;
}

const UNBOUND: ServerBounds = { permits: () => true, reaches: () => true };

export function createAgents(tree: AgentTree, { depth, scope, bounds = UNBOUND }: AgentsParts): SessionAgents {
  return {
    tree,
    get list() {
      return [...tree.known().values()];
    },
    mayStart: depth <= MAX_DEPTH,
    ...bounds,
    typeOf: async (input) => (await import('./find-agent.js')).typeOf(tree, scope(), input),
    async open(input, { toolUseId, signal, ...errand }) {
      const parent = scope();
      if (depth > MAX_DEPTH) throw new Error(`Agents may start agents ${MAX_DEPTH} deep. Do this yourself.`);
      const id = input.resume ?? agentIdOf(parent.clock.uuid());
      // The place is taken before anything is waited for: calls of one message come at once.
      const leave = takePlace(tree, id);
      try {
        const { makeReady } = await import('./ready.js');
        const below = (child: () => SessionScope, limit: ServerBounds) =>
          createAgents(tree, { depth: depth + 1, scope: child, bounds: limit });
        return await makeReady({ tree, parent, input, id, toolUseId, depth, bounds, errand, below, leave }, signal);
      } catch (thrown) {
        leave();
        throw thrown;
      }
    },
  };
}

/** Throws when there is none. Gives the function that leaves it. */
function takePlace({ working, roots }: AgentTree, id: string): () => void {
  if (working.has(id)) throw new Error(`The agent ${id} is still working. Wait for it, or stop it.`);
  if (working.size >= MAX_WORKING) {
    throw new Error(`${MAX_WORKING} agents are working. Wait until one of them is done.`);
  }
  const over = Promise.withResolvers<void>();
  working.set(id, over.promise);
  return () => {
    working.delete(id);
    roots.delete(id);
    over.resolve();
  };
}
