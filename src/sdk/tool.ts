import { SdkMcpServer } from './mcp-server.js';
import type {
  AnyZodRawShape,
  CallToolResult,
  InferShape,
  McpSdkServerConfigWithInstance,
  SdkMcpToolDefinition,
  ToolAnnotations,
} from './tool-definition.js';

/** Defines a tool of one's own. Put it into a server with `createSdkMcpServer`. */
export function tool<S extends AnyZodRawShape>(
  name: string,
  description: string,
  inputSchema: S,
  handler: (args: InferShape<S>, extra: unknown) => Promise<CallToolResult>,
  extras: { annotations?: ToolAnnotations } = {},
): SdkMcpToolDefinition<S> {
  return { name, description, inputSchema, handler, ...extras };
}

// A list of tools of different shapes has no better type: each handler takes its own.
// oxlint-disable-next-line typescript/no-explicit-any
type AnyToolDefinition = SdkMcpToolDefinition<any>;

export function createSdkMcpServer(options: {
  name: string;
  version?: string;
  tools?: AnyToolDefinition[];
}): McpSdkServerConfigWithInstance {
  const { name, version = '1.0.0', tools = [] } = options;
  return { type: 'sdk', name, instance: new SdkMcpServer({ name, version, tools }) };
}
