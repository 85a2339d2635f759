import type { Tool, ToolOutput, ToolResultContentBlock } from '../../protocol/index.js';
import type { McpCallResult, McpConnection, McpTool } from './connection.js';
import { mcpToolName } from './names.js';

/** A tool of a server as one of ours. What a server says of itself is never trusted for permission. */
export function toTool(server: string, connection: McpConnection, tool: McpTool): Tool {
  const outputSchema = typeof tool.outputSchema === 'object' && tool.outputSchema ? tool.outputSchema : undefined;
  return {
    name: mcpToolName(server, tool.name),
    description: tool.description ?? '',
    inputSchema: tool.inputSchema,
    // The server knows its schema best, and answers a wrong input with an error of its own.
    parse: (input) => (typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}),
    isReadOnly: () => false,
    ...(outputSchema && { outputSchema }),
    run: async (input, { toolUseId, signal }) =>
      toToolOutput(await connection.call(tool.name, input, { toolUseId, signal }), { outputSchema }),
  };
}

/**
 * What an MCP tool gives back, as ours do. Of a tool with an output schema only `structuredContent` is structured
 * output; of others the consumer sees the content.
 */
export function toToolOutput(result: McpCallResult, tool: { outputSchema?: unknown } = {}): ToolOutput {
  const blocks = (result.content ?? []).map(toBlock);
  if (result.isError) {
    const text = blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
    return { content: text, isError: true };
  }
  if (result.structuredContent !== undefined) {
    return { content: JSON.stringify(result.structuredContent), structured: result.structuredContent };
  }
  return tool.outputSchema === undefined ? { content: blocks, structured: blocks } : { content: blocks };
}

function toBlock(block: NonNullable<McpCallResult['content']>[number]): ToolResultContentBlock {
  if (block.type === 'text') return { type: 'text', text: String(block.text) };
  if (block.type === 'image') {
    const source = { type: 'base64' as const, media_type: String(block.mimeType), data: String(block.data) };
    return { type: 'image', source };
  }
  if (block.type === 'resource' && typeof block.resource === 'object' && block.resource !== null) {
    const { uri, text } = block.resource as { uri?: string; text?: string };
    return { type: 'text', text: `${uri ?? ''}\n${text ?? '[binary]'}` };
  }
  return { type: 'text', text: JSON.stringify(block) };
}
