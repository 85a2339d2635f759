import { HeddleError } from '../../protocol/plain.js';
import { isToolOf } from '../mcp/names.js';
import type { Ask } from '../questions.js';
import type { SessionScope } from '../scope.js';

/**
 * Asks a tool of an MCP server in the place of a person. It is called with `tool_name`, `input` and `tool_use_id`, and its
 * text is the answer: `{"behavior":"allow","updatedInput":{...}}` or `{"behavior":"deny","message":"..."}`.
 */
export const askThroughTool =
  ({ mcp }: SessionScope, tool: string): Ask =>
  async ({ tool_name, input, tool_use_id }, { signal }) => {
    const text = await mcp.askTool(tool, { tool_name, input, tool_use_id }, { toolUseId: tool_use_id, signal });
    try {
      const answer = JSON.parse(text) as Record<string, unknown>;
      // Existing tools of this kind leave out what stays as it is.
      return answer.behavior === 'allow' ? { updatedInput: input, ...answer } : answer;
    } catch {
      throw new HeddleError('invalid_answer', `The permission prompt tool ${tool} did not answer with JSON: ${text}`);
    }
  };

/** Throws `invalid_config` for a tool that cannot be asked. `servers`: those that there are, when no more will come. */
export function checkPromptTool(tool: string, servers: readonly string[] | undefined): void {
  const known = servers?.some((server) => isToolOf(server, tool)) ?? /^mcp__.+__./.test(tool);
  if (known) return;
  const names = servers === undefined ? '' : ` Servers: ${servers.join(', ') || 'none'}.`;
  throw new HeddleError('invalid_config', `The permission prompt tool ${tool} is not one of an MCP server.${names}`, {
    hint: 'Name it mcp__<server>__<tool>.',
  });
}
