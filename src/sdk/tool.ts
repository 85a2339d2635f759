import { HeddleError } from '../protocol/plain.js';
import { SdkMcpServer } from './mcp-server.js';
import type {
  AnyToolDefinition,
  AnyZodRawShape,
  CallToolResult,
  InferShape,
  McpSdkServerConfigWithInstance,
  SdkMcpToolDefinition,
  ToolAnnotations,
} from './tool-definition.js';

/** Defines a tool of one's own. Give it to `heddle.tools`, or put it into a server with `createSdkMcpServer`. */
export function tool<S extends AnyZodRawShape>(
  name: string,
  description: string,
  inputSchema: S,
  handler: (args: InferShape<S>, extra: unknown) => Promise<CallToolResult>,
  extras: { annotations?: ToolAnnotations; outputSchema?: AnyZodRawShape } = {},
): SdkMcpToolDefinition<S> {
  return { name, description, inputSchema, handler, ...extras };
}

export function createSdkMcpServer(options: {
  name: string;
  version?: string;
  tools?: AnyToolDefinition[];
}): McpSdkServerConfigWithInstance {
  const { name, version = '1.0.0', tools = [] } = options;
  checkServer(name, tools);
  return { type: 'sdk', name, instance: new SdkMcpServer({ name, version, tools }) };
}

/** What the model could not call, or would call by chance, is refused here and not in the middle of a run. */
function checkServer(name: unknown, tools: unknown): void {
  if (typeof name !== 'string' || name === '') throw invalid('An MCP server needs a name.');
  if (!Array.isArray(tools)) throw invalid(`The tools of the MCP server ${name} must be a list.`);
  const names = new Set<string>();
  for (const one of tools as Partial<AnyToolDefinition>[]) {
    if (typeof one.name !== 'string' || one.name === '') throw invalid(`A tool of the MCP server ${name} has no name.`);
    if (typeof one.handler !== 'function') throw invalid(`The tool ${one.name} has no handler.`);
    if (names.has(one.name)) throw invalid(`The MCP server ${name} has two tools named ${one.name}.`);
    names.add(one.name);
  }
}

const invalid = (message: string): HeddleError =>
  new HeddleError('invalid_config', message, { hint: 'Make tools with tool(name, description, shape, handler).' });
