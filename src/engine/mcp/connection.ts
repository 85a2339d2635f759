/** What MCP servers say, as far as it is looked at. Types only. */
import type { JsonRpcMessage } from '../../protocol/index.js';

/** Carries one JSON-RPC message to a server. Resolves with the answer; with nothing for a notification. */
export type Exchange = (
  message: JsonRpcMessage,
  options: { signal?: AbortSignal },
) => Promise<JsonRpcMessage | undefined>;

/** A tool as its server describes it. */
export interface McpTool {
  name: string;
  title?: string;
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
