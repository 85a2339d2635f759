import type { SessionConfig, Tool, ToolParam, WholeTool } from '../../protocol/index.js';
import { canonicalToolName, HeddleError, inputError, TOOL_ALIASES, TOOL_SCHEMAS } from '../../protocol/plain.js';
import { deniesTool, parseRule } from '../permissions/rule.js';
import { toPlainOutput } from './plain-output.js';
import { findSchemaFault } from './schema-fault.js';

/** The tools of one session. Sorted and frozen at the start: a change would throw the prompt cache away. */
export interface ToolSet {
  readonly names: readonly string[];
  /** As the model API takes them. */
  readonly params: readonly ToolParam[];
  get(name: string): WholeTool | undefined;
}

/** The other kind of list. A model does best with one, so these exist only when they are named. */
const LIST_TOOLS = ['TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'];
const ON_REQUEST = new Set([...LIST_TOOLS, 'Config']);

/**
 * They put something to a person: where nobody can be asked, a model does better without them. Those of plan mode are
 * there in every mode: a list that changed with the mode would throw the prompt cache away.
 */
const FOR_PEOPLE = new Set(['AskUserQuestion', 'EnterPlanMode', 'ExitPlanMode']);

export interface SelectOptions {
  canAsk: boolean;
  /** Tools that can be called without being declared, and declared ones of servers as they are now. */
  findMore?: (name: string) => Tool | undefined;
}

/** Whether the session may have a built-in tool. */
export function mayHave(name: string, config: Pick<SessionConfig, 'tools' | 'disallowedTools'>): boolean {
  return isAllowedBy(config)({ name });
}

function isAllowedBy({ tools, disallowedTools = [] }: Pick<SessionConfig, 'tools' | 'disallowedTools'>) {
  const isWanted = wantedBy(tools);
  const removed = disallowedTools.map(parseRule).filter((rule) => rule.specifier === undefined);
  return ({ name }: Pick<Tool, 'name'>): boolean =>
    (!isBuiltin(name) || isWanted(canonicalToolName(name))) && !removed.some((rule) => deniesTool(rule, name));
}

/** Which of the tools exist: `tools` limits the built-in ones, `disallowedTools` takes whole ones away. */
export function selectTools(
  all: readonly Tool[],
  config: Pick<SessionConfig, 'tools' | 'disallowedTools'>,
  { canAsk, findMore = () => undefined }: SelectOptions,
): ToolSet {
  const isAllowed = isAllowedBy(config);
  const chosen = all
    .filter(isAllowed)
    .filter(({ name }) => canAsk || !FOR_PEOPLE.has(name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(completeTool);
  const byName = new Map(chosen.map((tool) => [tool.name, tool]));
  return {
    names: chosen.map((tool) => tool.name),
    params: chosen.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: { ...inputSchema },
    })),
    get(name) {
      const canonical = canonicalToolName(name);
      const declared = byName.get(canonical) ?? byName.get(name);
      if (declared !== undefined && !declared.name.startsWith('mcp__')) return declared;
      const more = findMore(canonical);
      return more !== undefined && isAllowed(more) ? completeTool(more) : declared;
    },
  };
}

/** Names the app's own tools cannot have. Those of MCP servers and of the app are not limited by `tools`. */
const isBuiltin = (name: string): boolean => Object.hasOwn(TOOL_SCHEMAS, canonicalToolName(name));

function wantedBy(tools: SessionConfig['tools']): (name: string) => boolean {
  const named = new Set(Array.isArray(tools) ? tools.map(canonicalToolName) : ['default']);
  if (!named.has('default')) return (name) => named.has(name);
  const replaced = LIST_TOOLS.some((name) => named.has(name)) ? 'TodoWrite' : undefined;
  return (name) => named.has(name) || (!ON_REQUEST.has(name) && name !== replaced);
}

/** More than this of a structured result is kept in a file and not in the log. */
const MAX_STRUCTURED = 1024 * 1024;

/** Fills in what a tool of the app leaves open, and looks at what it gives. Its functions keep their `this`. */
function completeTool(tool: Tool): WholeTool {
  if (isBuiltin(tool.name)) return tool as WholeTool;
  const { name, description, inputSchema, outputSchema, limits, edits, hostFields } = tool;
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    limits: { structured: MAX_STRUCTURED, ...limits },
    ...(edits !== undefined && { edits }),
    ...(hostFields && { hostFields }),
    parse: (input) => (tool.parse ? tool.parse(input) : parseBySchema(tool, input)),
    isReadOnly: (input, context) => tool.isReadOnly?.(input, context) === true,
    ...(tool.accesses && { accesses: (input, context) => tool.accesses?.(input, context) ?? [] }),
    ...(tool.enforce && { enforce: async (input, context) => await tool.enforce?.(input, context) }),
    run: async (input, context) => toPlainOutput(name, await tool.run(input, context)),
  };
}

/** Gives a copy: what a tool does to its input must not change what the model said. */
async function parseBySchema({ name, inputSchema }: Tool, input: unknown): Promise<Record<string, unknown>> {
  const { checkAgainst } = await import('./json-schema.js');
  const problems = await checkAgainst(inputSchema, input);
  if (problems.length > 0) throw inputError(name, problems);
  return structuredClone(input) as Record<string, unknown>;
}

/** The model API refuses any other. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** Permission and `tools` give these a meaning, though no tool may have them now. */
const RESERVED = new Set(['default', 'StructuredOutput', ...Object.keys(TOOL_SCHEMAS), ...Object.keys(TOOL_ALIASES)]);

/** Throws `invalid_config` for a tool of the app that no model could call, or that would be taken for another. */
export function checkTools(builtin: readonly Tool[], own: readonly Tool[]): void {
  const taken = new Set([...RESERVED, ...builtin.map(({ name }) => name)]);
  const seen = new Set<string>();
  if (!Array.isArray(own)) throw unusable('The tools of the app must be a list.');
  for (const tool of own as Partial<Tool>[]) {
    const { name } = tool ?? {};
    if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
      const shown = JSON.stringify(name)?.slice(0, 140) ?? 'nothing';
      throw unusable(`A tool is named ${shown}; a name is 1 to 128 letters, digits, _ and -.`);
    }
    if (taken.has(name)) throw unusable(`The name ${name} belongs to a built-in tool.`);
    if (name.startsWith('mcp__')) throw unusable(`The tool ${name} has the name of a tool of an MCP server.`);
    if (seen.has(name)) throw unusable(`There are two tools named ${name}.`);
    seen.add(name);
    if (typeof tool.run !== 'function') throw unusable(`The tool ${name} has no function run.`);
    if (typeof tool.description !== 'string') throw unusable(`The tool ${name} has no description.`);
    checkSchemas(tool as Tool);
  }
}

function checkSchemas({ name, inputSchema, outputSchema }: Tool): void {
  const fault =
    typeof inputSchema !== 'object' || inputSchema?.type !== 'object'
      ? 'its type must be "object"'
      : findSchemaFault(inputSchema);
  if (fault !== undefined) throw unusable(`The inputSchema of the tool ${name} cannot be used: ${fault}.`);
  const outputFault = outputSchema === undefined ? undefined : findSchemaFault(outputSchema);
  if (outputFault !== undefined) throw unusable(`The outputSchema of the tool ${name} cannot be used: ${outputFault}.`);
}

const unusable = (message: string): HeddleError =>
  new HeddleError('invalid_config', message, { hint: 'Correct the tool in heddle.tools, or leave it out.' });
