import type { Tool, ToolOutput } from '../protocol/index.js';
import { describeInputIssues, HeddleError, inputError, PROBLEM_TEXTS } from '../protocol/plain.js';
import { checkShape } from './shape.js';
import type { AnyToolDefinition, CallToolResult } from './tool-definition.js';
import { toJsonSchema } from './tool-schema.js';

/** How the engine reads what an MCP tool gives back. */
export type ToOutput = (result: CallToolResult, tool: { outputSchema?: unknown }) => ToolOutput;

/** The app's own tools as the engine takes them, whichever way they were written. */
export async function toOwnTools(
  tools: readonly (Tool | AnyToolDefinition)[],
  toOutput: ToOutput,
): Promise<readonly Tool[]> {
  if (!Array.isArray(tools)) {
    throw new HeddleError('invalid_config', 'heddle.tools must be a list.', { hint: 'Give a list of tools.' });
  }
  return await Promise.all(tools.map((one) => (isDefinition(one) ? toOwnTool(one, toOutput) : one)));
}

const isDefinition = (tool: Tool | AnyToolDefinition | null): tool is AnyToolDefinition =>
  typeof tool === 'object' && tool !== null && 'handler' in tool;

/** A tool of `tool()` without a server around it: its name is the one it was given, and it runs in the pipeline itself. */
export async function toOwnTool(definition: AnyToolDefinition, toOutput: ToOutput): Promise<Tool> {
  const { name, description, inputSchema, annotations } = definition;
  if (typeof definition.handler !== 'function') {
    throw new HeddleError('invalid_config', `The tool ${name} has no handler.`, {
      hint: 'Make tools with tool(name, description, shape, handler).',
    });
  }
  const outputSchema = definition.outputSchema && (await toJsonSchema(definition.outputSchema));
  return {
    name,
    description,
    inputSchema: await toJsonSchema(inputSchema ?? {}),
    ...(outputSchema && { outputSchema }),
    parse: (input) => parseInput(definition, input),
    // The app speaks of its own code in its own process; what a server says of itself is never trusted so.
    isReadOnly: () => annotations?.readOnlyHint === true,
    async run(input, { signal, toolUseId, cwd }) {
      const result: CallToolResult | undefined = await definition.handler(input as never, {
        signal,
        toolUseId,
        cwd,
      });
      if (!Array.isArray(result?.content) && result?.structuredContent === undefined) {
        throw new Error(`${name} gave no result: its handler must return { content: [...] }.`);
      }
      return toOutput(result, { outputSchema });
    },
  };
}

function parseInput({ name, inputSchema }: AnyToolDefinition, input: unknown): Record<string, unknown> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw inputError(name, [PROBLEM_TEXTS.input.wrongType([], 'object', input)]);
  }
  const checked = checkShape(inputSchema ?? {}, input as Record<string, unknown>);
  if ('issues' in checked) throw inputError(name, describeInputIssues(checked.issues, input));
  return checked.input;
}
