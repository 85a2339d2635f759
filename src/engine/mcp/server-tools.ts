/** The tools that reach servers without being theirs, for whoever may reach some of them. */
import type { Tool } from '../../protocol/index.js';
import { createListMcpResourcesTool, type ListedResources } from '../tools/list-mcp-resources.js';
import { createReadMcpResourceTool, type ReadableResources } from '../tools/read-mcp-resource.js';
import { createToolSearchTool, type ToolSearchParts } from '../tools/tool-search.js';
import type { ServerBounds } from './bounds.js';
import type { FoundTools } from './catalogue.js';
import { showName } from './names.js';

export interface ReachedServers extends Pick<ListedResources, 'resources'>, ReadableResources {
  arrived: ToolSearchParts['arrived'];
  search(query: string, max: number, bounds: ServerBounds): FoundTools;
}

export interface ServerTools {
  resources: readonly Tool[];
  search: Tool;
}

export function createServerTools(servers: ReachedServers, bounds: ServerBounds): ServerTools {
  const check = (server: string): void => {
    if (!bounds.reaches(server)) throw new Error(`Server "${showName(server)}" not found.`);
  };
  const list = createListMcpResourcesTool({
    resources(server) {
      if (server !== undefined) check(server);
      return servers.resources(server).filter((resource) => bounds.reaches(resource.server));
    },
    ...(bounds.isDenied && { isDenied: bounds.isDenied }),
  });
  const read = createReadMcpResourceTool({
    async readResource(server, uri, options) {
      check(server);
      return servers.readResource(server, uri, options);
    },
  });
  const search = createToolSearchTool({
    search: (query, max) => servers.search(query, max, bounds),
    arrived: (names, options) => servers.arrived(names, options),
  });
  return { resources: [list, read] as Tool[], search };
}
