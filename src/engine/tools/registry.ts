import type { SessionConfig, Tool, ToolParam } from '../../protocol/index.js';
import { canonicalToolName } from '../../protocol/plain.js';
import { deniesTool, parseRule } from '../permissions/rule.js';

/** The tools of one session. Sorted and frozen at the start: a change would throw the prompt cache away. */
export interface ToolSet {
  readonly names: readonly string[];
  /** As the model API takes them. */
  readonly params: readonly ToolParam[];
  get(name: string): Tool | undefined;
}

/** Which of the tools exist: `tools` limits the built-in ones, `disallowedTools` takes whole ones away. */
export function selectTools(all: readonly Tool[], config: Pick<SessionConfig, 'tools' | 'disallowedTools'>): ToolSet {
  const wanted = Array.isArray(config.tools) ? new Set(config.tools.map(canonicalToolName)) : undefined;
  const removed = (config.disallowedTools ?? []).map(parseRule).filter((rule) => rule.specifier === undefined);
  const chosen = all
    .filter((tool) => wanted === undefined || wanted.has(tool.name) || wanted.has('default') || isMcp(tool))
    .filter((tool) => !removed.some((rule) => deniesTool(rule, tool.name)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(chosen.map((tool) => [tool.name, tool]));
  return {
    names: chosen.map((tool) => tool.name),
    params: chosen.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: { ...inputSchema },
    })),
    get: (name) => byName.get(canonicalToolName(name)),
  };
}

const isMcp = (tool: Tool): boolean => tool.name.startsWith('mcp__');
