import type { ReadMcpResourceInput, ToolContext, WholeTool } from '../../protocol/index.js';
import { keepBytes } from '../mcp/content.js';
import type { McpResourceContent } from '../mcp/link.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export interface ReadableResources {
  readResource(server: string, uri: string, options: { signal: AbortSignal }): Promise<McpResourceContent[]>;
}

export function createReadMcpResourceTool(servers: ReadableResources): WholeTool<ReadMcpResourceInput> {
  return {
    name: 'ReadMcpResourceTool',
    description: 'Reads a resource of an MCP server by its URI. What is no text is saved to a file.',
    inputSchema: inputSchemaOf('ReadMcpResourceTool'),
    parse: (input) => parseToolInput('ReadMcpResourceTool', input),
    isReadOnly: () => true,
    async run({ server, uri }, context) {
      const given = await servers.readResource(server, uri, { signal: context.signal });
      const contents = [];
      for (const [index, content] of given.slice(0, MAX_CONTENTS).entries()) {
        contents.push(await toShown(content, { context, index }));
      }
      const structured = { contents };
      return { content: JSON.stringify(structured), structured };
    },
  };
}

const MAX_CONTENTS = 1_000;

async function toShown(
  { uri, mimeType, text, blob }: McpResourceContent,
  { context, index }: { context: ToolContext; index: number },
): Promise<Record<string, unknown>> {
  const named = { uri, ...(mimeType !== undefined && { mimeType }) };
  if (typeof blob !== 'string') return { ...named, text: typeof text === 'string' ? text : '' };
  const bytes = { mimeType: mimeType ?? 'application/octet-stream', data: blob };
  const where = await keepBytes(bytes, { name: `${context.toolUseId}-${index + 1}`, keep: context.keep });
  return { ...named, text: `[Binary content, ${where}]` };
}
