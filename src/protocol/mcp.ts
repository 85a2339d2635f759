/** MCP servers: how they are configured, how they fare, and the JSON-RPC messages that pass through us. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { jsonObject, openName } from './open-union.js';

const timeout = () => z.number().optional().describe('Milliseconds one call may take without progress.');

export const McpStdioServerConfig = lazy(() =>
  z.object({
    type: z.literal('stdio').optional(),
    command: z.string(),
    args: z.array(z.string()).optional(),
    env: z.record(z.string(), z.string()).optional(),
    timeout: timeout(),
  }),
);
export type McpStdioServerConfig = Infer<typeof McpStdioServerConfig>;

export const McpOAuthConfig = lazy(() =>
  z
    .object({
      clientId: z.string().optional(),
      callbackPort: z.number().optional().describe('The port of the loopback redirect; any free one when absent.'),
      scope: z
        .string()
        .optional()
        .describe('Scopes to ask for, separated by spaces; what the server names when absent.'),
      clientMetadataUrl: z
        .string()
        .optional()
        .describe(
          'An https address of a document about the client, for servers that take one in place of a registration.',
        ),
    })
    .describe('How a client was registered with the authorization server of an MCP server.'),
);
export type McpOAuthConfig = Infer<typeof McpOAuthConfig>;

export const McpSSEServerConfig = lazy(() =>
  z.object({
    type: z.literal('sse'),
    url: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
    timeout: timeout(),
    oauth: McpOAuthConfig().optional(),
  }),
);
export type McpSSEServerConfig = Infer<typeof McpSSEServerConfig>;

export const McpHttpServerConfig = lazy(() =>
  z.object({
    type: z.literal('http'),
    url: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
    timeout: timeout(),
    oauth: McpOAuthConfig().optional(),
  }),
);
export type McpHttpServerConfig = Infer<typeof McpHttpServerConfig>;

export const McpSdkServerConfig = lazy(() =>
  z
    .object({ type: z.literal('sdk'), name: z.string(), timeout: timeout() })
    .describe('A server that lives with the host; its messages travel as `mcp_message`.'),
);
export type McpSdkServerConfig = Infer<typeof McpSdkServerConfig>;

export const McpServerConfig = lazy(() =>
  z.discriminatedUnion('type', [
    McpStdioServerConfig(),
    McpSSEServerConfig(),
    McpHttpServerConfig(),
    McpSdkServerConfig(),
  ]),
);
export type McpServerConfig = Infer<typeof McpServerConfig>;

export const McpConfigFile = lazy(() =>
  z
    .object({ mcpServers: z.record(z.string(), McpServerConfig()) })
    .describe('A `.mcp.json` file or the value of `--mcp-config`.'),
);
export type McpConfigFile = Infer<typeof McpConfigFile>;

export const McpConnectionState = lazy(() => openName('connected', 'failed', 'needs-auth', 'pending', 'disabled'));
export type McpConnectionState = Infer<typeof McpConnectionState>;

export const McpToolInfo = lazy(() =>
  z.object({
    name: z.string(),
    description: z.string().optional(),
    annotations: z
      .object({
        readOnly: z.boolean().optional(),
        destructive: z.boolean().optional(),
        openWorld: z.boolean().optional(),
      })
      .optional(),
  }),
);
export type McpToolInfo = Infer<typeof McpToolInfo>;

export const McpServerStatus = lazy(() =>
  z.object({
    name: z.string(),
    status: McpConnectionState(),
    serverInfo: z.object({ name: z.string(), version: z.string() }).optional(),
    error: z.string().optional().describe('Which phase failed and why, with the end of its stderr.'),
    config: z.unknown().optional(),
    transport: z.string().optional(),
    scope: z.string().optional(),
    source: z.string().optional(),
    tools: z.array(McpToolInfo()).optional(),
  }),
);
export type McpServerStatus = Infer<typeof McpServerStatus>;

export const McpSetServersResult = lazy(() =>
  z.object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    errors: z.record(z.string(), z.string()).describe('Server name to reason.'),
  }),
);
export type McpSetServersResult = Infer<typeof McpSetServersResult>;

export const JsonRpcId = lazy(() => z.union([z.string(), z.number()]));
export type JsonRpcId = Infer<typeof JsonRpcId>;

export const JsonRpcMessage = lazy(() =>
  z
    .object({
      jsonrpc: z.literal('2.0'),
      id: JsonRpcId().nullable().optional(),
      method: z.string().optional(),
      params: z.unknown().optional(),
      result: z.unknown().optional(),
      error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
    })
    .describe('A bare JSON-RPC message: a request, a notification (no `id`), or an answer (no `method`).'),
);
export type JsonRpcMessage = Infer<typeof JsonRpcMessage>;

export const McpServerManifest = lazy(() =>
  z
    .object({ initializeResult: jsonObject().optional(), toolsListResult: jsonObject().optional() })
    .describe('What the host knows of its own server in advance, so that no handshake is needed.'),
);
export type McpServerManifest = Infer<typeof McpServerManifest>;
