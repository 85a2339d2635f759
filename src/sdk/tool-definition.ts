import type { z } from 'zod';

/** One field of an input, as zod 3 or zod 4 describes it. */
export interface FieldSchema {
  readonly _output?: unknown;
  safeParse(value: unknown): { success: boolean; data?: unknown; error?: unknown };
}

/** An input as zod fields by name. */
export type AnyZodRawShape = Readonly<Record<string, FieldSchema>>;

type OutputOf<F> = F extends z.ZodType<infer O> ? O : F extends { _output: infer O } ? O : unknown;
type OptionalKeys<S> = { [K in keyof S]: undefined extends OutputOf<S[K]> ? K : never }[keyof S];

/** What a handler receives for a shape. */
export type InferShape<S extends AnyZodRawShape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: OutputOf<S[K]> } & {
  [K in OptionalKeys<S>]?: OutputOf<S[K]>;
};

/** One piece of what a tool gives back. Kinds that are not named here pass unchanged. */
export type CallToolContent =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
  | { type: 'resource_link'; uri: string; name: string; description?: string; mimeType?: string }
  | ({ type: string } & Record<string, unknown>);

/** What a tool gives back, as MCP has it. */
export interface CallToolResult {
  content: CallToolContent[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [key: string]: unknown;
}

/** Hints about a tool. Those of an MCP server are shown, never trusted for permission. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

export interface SdkMcpToolDefinition<S extends AnyZodRawShape = AnyZodRawShape> {
  name: string;
  description: string;
  inputSchema: S;
  annotations?: ToolAnnotations;
  /** Zod fields of `structuredContent`. A result that does not match them is an error. */
  outputSchema?: AnyZodRawShape;
  /**
   * May throw: the model sees the message as an error result. `extra.signal` aborts when the call must stop;
   * `extra.sendNotification` and `extra.sendRequest` speak to the session, as with the public MCP packages.
   */
  handler(args: InferShape<S>, extra: unknown): Promise<CallToolResult>;
}

/** A definition of any shape: each handler takes the arguments of its own. */
export interface AnyToolDefinition extends Omit<SdkMcpToolDefinition, 'handler'> {
  handler(args: never, extra: unknown): Promise<CallToolResult>;
}

/** An MCP server that lives in this process. The same one may serve any number of queries at once. */
export interface McpSdkServerConfigWithInstance<I extends McpServerSource = McpServerInstance> {
  type: 'sdk';
  name: string;
  instance: I;
}

/** A server object, or what makes one: those of the public packages serve one connection each. */
export type McpServerSource = McpServerInstance | (() => McpServerInstance | Promise<McpServerInstance>);

/** A server object of ours, or one made with the public MCP packages. */
export interface McpServerInstance {
  connect(transport: McpTransport): Promise<void>;
}

/** The part of the MCP packages' Transport that a server uses. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never): Promise<void>;
  close(): Promise<void>;
  onmessage?: (message: never) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
}
