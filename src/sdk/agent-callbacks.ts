import type { AgentDefinition } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';

/** They would have to run where the agent does, which may be anywhere. Throws `invalid_config` for the first one. */
export function refuseCallbacksOfAgents(agents: Readonly<Record<string, AgentDefinition>>): void {
  for (const [name, agent] of Object.entries(agents)) {
    const path = findCallback((agent as Partial<AgentDefinition> | undefined)?.hooks, `agents.${name}.hooks`);
    if (path === undefined) continue;
    throw new HeddleError('invalid_config', `${path} is a callback, and an agent cannot have callbacks.`, {
      hint: 'Give a hook as in a settings file ({type: "command", command: "..."}), or a callback in the option hooks, which is told agent_id and agent_type.',
    });
  }
}

function findCallback(value: unknown, path: string): string | undefined {
  if (typeof value === 'function') return path;
  if (typeof value !== 'object' || value === null) return undefined;
  const isList = Array.isArray(value);
  return Object.entries(value)
    .map(([key, inner]) => findCallback(inner, isList ? `${path}[${key}]` : `${path}.${key}`))
    .find((found) => found !== undefined);
}
