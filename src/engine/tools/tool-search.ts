import type { ToolSearchInput, WholeTool } from '../../protocol/index.js';
import { type FoundTools, toDefinition } from '../mcp/catalogue.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export interface ToolSearchParts {
  search(query: string, max: number): FoundTools;
  /** Resolves when these servers are there or do not come, when those that are suffice, or when the time is over. */
  arrived(
    servers: readonly string[],
    options: { signal: AbortSignal; withinMs: number; suffices: () => boolean },
  ): Promise<void>;
}

/** So long a search that finds nothing waits for servers that are on their way. */
const ARRIVAL_MS = 10_000;

/** Tells a model of tools whose definitions were not sent. What it has found so, it may call. */
export function createToolSearchTool(catalogue: ToolSearchParts): WholeTool<ToolSearchInput> {
  return {
    name: 'ToolSearch',
    description:
      'Finds tools that are available but not listed with their definitions, such as those of MCP servers. ' +
      'Takes words ("+word" must occur) or "select:name,name". Gives whole definitions; then call the tools by name.',
    inputSchema: inputSchemaOf('ToolSearch'),
    parse: (input) => parseToolInput('ToolSearch', input),
    isReadOnly: () => true,
    async run({ query, max_results }, { signal }) {
      let found = catalogue.search(query, max_results);
      if (found.pending.length > 0 && isLacking(found)) {
        const suffices = () => !isLacking(catalogue.search(query, max_results));
        await catalogue.arrived(found.pending, { signal, withinMs: ARRIVAL_MS, suffices });
        found = catalogue.search(query, max_results);
      }
      const matches = found.tools.map(({ name }) => name);
      return {
        content: describeFound(found),
        structured: { matches, query, total_deferred_tools: found.hidden },
      };
    },
  };
}

const isLacking = ({ tools, missing }: FoundTools): boolean => tools.length === 0 || missing.length > 0;

function describeFound({ tools, missing, hidden, pending }: FoundTools): string {
  const waiting =
    pending.length === 0 ? [] : [`These servers are still connecting, their tools may follow: ${pending.join(', ')}.`];
  const unknown = missing.length === 0 ? [] : [`There is no tool named ${missing.join(', ')}.`];
  if (tools.length > 0) return [...tools.map(toDefinition), ...unknown, ...waiting].join('\n');
  const none = missing.length > 0 ? unknown : [`No tool matches. ${hidden} can be found: try other words.`];
  return [...none, ...waiting].join('\n');
}
