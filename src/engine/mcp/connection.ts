import type { JsonRpcMessage, McpServerManifest } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { HEDDLE_VERSION } from '../version.js';

const PROTOCOL_VERSION = '2025-11-25';

/** Carries one JSON-RPC message to a server. Resolves with the answer; with nothing for a notification. */
export type Exchange = (
  message: JsonRpcMessage,
  options: { signal?: AbortSignal },
) => Promise<JsonRpcMessage | undefined>;

/** A tool as its server describes it. */
export interface McpTool {
  name: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  /** JSON Schema of `structuredContent`; a server that announces one must give it. */
  outputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

export interface McpCallResult {
  content?: readonly ({ type: string } & Record<string, unknown>)[];
  structuredContent?: unknown;
  isError?: boolean;
}

/** A server that has been greeted. */
export interface McpConnection {
  readonly serverInfo: { name: string; version: string } | undefined;
  readonly tools: readonly McpTool[];
  call(
    tool: string,
    input: Record<string, unknown>,
    options: { toolUseId: string; signal: AbortSignal },
  ): Promise<McpCallResult>;
}

/** Greets a server and asks for its tools; what its manifest says already is not asked. */
export async function connectServer(exchange: Exchange, manifest: McpServerManifest = {}): Promise<McpConnection> {
  let id = 0;
  const request = async (method: string, params?: object, signal?: AbortSignal): Promise<Record<string, unknown>> => {
    const message: JsonRpcMessage = { jsonrpc: '2.0', id: id++, method, ...(params && { params }) };
    return resultOf(method, await exchange(message, signal ? { signal } : {}));
  };
  const greeting = manifest.initializeResult ?? (await greet(request, exchange));
  const listed = manifest.toolsListResult ?? (await request('tools/list'));
  return {
    serverInfo: greeting.serverInfo as McpConnection['serverInfo'],
    tools: Array.isArray(listed.tools) ? (listed.tools as McpTool[]) : [],
    async call(name, input, { toolUseId, signal }) {
      const _meta = { 'claudecode/toolUseId': toolUseId, progressToken: id };
      return await request('tools/call', { name, arguments: input, _meta }, signal);
    },
  };
}

async function greet(
  request: (method: string, params?: object) => Promise<Record<string, unknown>>,
  exchange: Exchange,
): Promise<Record<string, unknown>> {
  const greeting = await request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'heddle', version: HEDDLE_VERSION },
  });
  await exchange({ jsonrpc: '2.0', method: 'notifications/initialized' }, {});
  return greeting;
}

function resultOf(method: string, answer: JsonRpcMessage | undefined): Record<string, unknown> {
  if (answer?.error) throw new HeddleError('request_failed', `MCP error ${answer.error.code}: ${answer.error.message}`);
  const { result } = answer ?? {};
  if (typeof result === 'object' && result !== null) return result as Record<string, unknown>;
  throw new HeddleError('invalid_answer', `The MCP server gave no result to ${method}.`);
}
