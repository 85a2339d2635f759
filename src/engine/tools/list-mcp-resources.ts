import type { ListMcpResourcesInput, WholeTool } from '../../protocol/index.js';
import type { McpResource } from '../mcp/link.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export interface ListedResources {
  /** Of one server or of all. Throws for a server that is not known or not there. */
  resources(server?: string): (McpResource & { server: string })[];
  /** A rule forbids everything of the server. */
  isDenied?(server: string): Promise<boolean>;
}

export function createListMcpResourcesTool(servers: ListedResources): WholeTool<ListMcpResourcesInput> {
  return {
    name: 'ListMcpResourcesTool',
    description: 'Lists the resources of MCP servers, of one server or of all.',
    inputSchema: inputSchemaOf('ListMcpResourcesTool'),
    parse: (input) => parseToolInput('ListMcpResourcesTool', input),
    isReadOnly: () => true,
    async run({ server }) {
      const structured = (await withoutDenied(servers, servers.resources(server))).map(
        ({ server: of, uri, name, title, description, mimeType }) => ({
          uri,
          name: name ?? title ?? uri,
          ...(mimeType !== undefined && { mimeType }),
          ...(description !== undefined && { description }),
          server: of,
        }),
      );
      return { content: structured.length === 0 ? 'There are no resources.' : JSON.stringify(structured), structured };
    },
  };
}

/** Whoever lists all of them is not judged by a name. */
async function withoutDenied<R extends { server: string }>(servers: ListedResources, all: readonly R[]): Promise<R[]> {
  const names = [...new Set(all.map(({ server }) => server))];
  const denied = await Promise.all(names.map(async (name) => servers.isDenied?.(name)));
  return all.filter(({ server }) => !denied[names.indexOf(server)]);
}
