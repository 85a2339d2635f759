import type { JsonRpcMessage } from '../protocol/index.js';
import { checkShape } from './shape.js';
import type { McpTransport, SdkMcpToolDefinition } from './tool-definition.js';
import { toJsonSchema } from './tool-schema.js';

const LATEST_PROTOCOL = '2025-11-25';
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

interface ServerParts {
  name: string;
  version: string;
  tools: readonly SdkMcpToolDefinition[];
}

/** How a server speaks first. */
export interface ServerVoice {
  /** `notifications/progress` and the like. */
  sendNotification(notification: { method: string; params?: unknown }): Promise<void>;
  /** `elicitation/create`, `sampling/createMessage`, `roots/list`. Throws what the session answers with. */
  sendRequest(request: { method: string; params?: unknown }): Promise<unknown>;
}

interface CallParams {
  name?: string;
  arguments?: object;
  _meta?: Record<string, unknown>;
}

interface HandleOptions extends Partial<ServerVoice> {
  signal?: AbortSignal;
}

/** Serves tools that were defined with `tool()`. It keeps no state, so one object serves every connection. */
export class SdkMcpServer {
  readonly #parts: ServerParts;
  readonly #tools: Map<string, SdkMcpToolDefinition>;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
  }

  /** Answers one message; nothing for a notification. */
  async handle(message: JsonRpcMessage, options: HandleOptions = {}): Promise<JsonRpcMessage | undefined> {
    const { id, method } = message;
    if (id === undefined || id === null) return undefined;
    const answer = (result: object): JsonRpcMessage => ({ jsonrpc: '2.0', id, result });
    const fail = (code: number, text: string): JsonRpcMessage => ({
      jsonrpc: '2.0',
      id,
      error: { code, message: text },
    });
    switch (method) {
      case 'initialize': {
        const { name, version } = this.#parts;
        const asked = (message.params as { protocolVersion?: string } | undefined)?.protocolVersion;
        return answer({
          protocolVersion: asked ?? LATEST_PROTOCOL,
          capabilities: { tools: {} },
          serverInfo: { name, version },
        });
      }
      case 'ping':
        return answer({});
      case 'tools/list':
        return answer({ tools: await Promise.all(this.#parts.tools.map(describe)) });
      case 'tools/call': {
        const { name, arguments: input = {}, _meta } = (message.params ?? {}) as CallParams;
        const tool = this.#tools.get(name ?? '');
        return tool
          ? answer(await call(tool, input, { ...options, _meta }))
          : fail(INVALID_PARAMS, `Tool ${name} not found`);
      }
      default:
        return fail(METHOD_NOT_FOUND, 'Method not found');
    }
  }

  /** Speaks MCP over any transport, as servers of the public packages do. */
  async connect(transport: McpTransport): Promise<void> {
    transport.onmessage = (message: JsonRpcMessage) => {
      this.handle(message).then(
        (answer) => answer && transport.send(answer as never),
        (thrown: unknown) => transport.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown))),
      );
    };
    await transport.start();
  }
}

async function describe(tool: SdkMcpToolDefinition): Promise<object> {
  const { name, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    description,
    inputSchema: await toJsonSchema(inputSchema),
    ...(outputSchema && { outputSchema: await toJsonSchema(outputSchema) }),
    ...(annotations && { annotations }),
  };
}

/** A wrong input and a handler that throws are results the model can learn from, not protocol errors. */
async function call(tool: SdkMcpToolDefinition, input: object, extra: object): Promise<object> {
  const checked = checkShape(tool.inputSchema, input as Record<string, unknown>);
  if ('issues' in checked) {
    const problems = checked.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    const text = `Input validation error: Invalid arguments for tool ${tool.name}: ${problems.join('; ')}`;
    return { content: [{ type: 'text', text: `MCP error ${INVALID_PARAMS}: ${text}` }], isError: true };
  }
  try {
    return await tool.handler(checked.input, extra);
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return { content: [{ type: 'text', text }], isError: true };
  }
}
