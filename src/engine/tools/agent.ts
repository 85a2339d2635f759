import type { TaskInput, WholeTool } from '../../protocol/index.js';
import type { Agent } from '../definitions/definition.js';
import type { AgentToolParts } from './agent-run.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const MAX_LIST_CHARS = 6_000;

/** Hands a task to an agent with a conversation of its own. The call itself changes nothing: what the agent does is judged. */
export function createAgentTool(parts: AgentToolParts): WholeTool<TaskInput> {
  return {
    name: 'Task',
    description: describeTool(parts.agents.list),
    inputSchema: inputSchemaOf('Task'),
    async parse(given) {
      const input = await parseToolInput('Task', given);
      const subagent_type = await parts.agents.typeOf(input);
      return subagent_type === undefined ? input : { ...input, subagent_type };
    },
    isReadOnly: () => true,
    run: async (input, context) => (await import('./agent-run.js')).runAgent(input, context, parts),
  };
}

function describeTool(agents: readonly Agent[]): string {
  const lines = agents.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, ' ').trim()}`);
  const whole = lines.join('\n');
  const list = whole.length <= MAX_LIST_CHARS ? whole : agents.map(({ name }) => `- ${name}`).join('\n');
  return `Hands a task to an agent that works on it by itself and gives back one answer. It knows only what \`prompt\` says. Several calls in one message work at the same time.\n${list}`;
}
