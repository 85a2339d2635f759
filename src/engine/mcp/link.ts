/** What a session sees of an MCP server that has been greeted, whatever carries the messages. Types only. */
import type { Clock, Logger, Workspace } from '../../protocol/index.js';
import type { McpCallResult, McpTool } from './connection.js';

export interface McpPrompt {
  name: string;
  description?: string;
  arguments?: { name: string; description?: string; required?: boolean }[];
}

export interface McpResource {
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
}

export interface McpResourceContent {
  uri: string;
  mimeType?: string;
  text?: string;
  /** Base64. */
  blob?: string;
}

export interface McpPromptMessage {
  role: 'user' | 'assistant';
  content: { type: string; [field: string]: unknown };
}

/** What a list of a server is about. */
export type McpList = 'tools' | 'prompts' | 'resources';

export interface McpProgress {
  progress: number;
  total?: number;
  message?: string;
}

export interface McpLink {
  readonly serverInfo: { name: string; version: string } | undefined;
  readonly protocolVersion: string | undefined;
  /** What the server says a model should know of it. */
  readonly instructions: string | undefined;
  /** The lists as they are now; empty where the server has no such thing. */
  readonly tools: readonly McpTool[];
  readonly prompts: readonly McpPrompt[];
  readonly resources: readonly McpResource[];
  /** Tools that are not among them because they could not be taken, in words. */
  readonly leftOut?: readonly string[];
  /**
   * Throws a HeddleError that names server and phase, with the end of its stderr where there is one. The timeout starts
   * anew with every progress. An abort tells the server (`notifications/cancelled`) and rejects at once.
   */
  call(
    tool: string,
    input: Record<string, unknown>,
    options: { toolUseId: string; signal: AbortSignal; onProgress?: (progress: McpProgress) => void },
  ): Promise<McpCallResult>;
  readResource(uri: string, options: { signal: AbortSignal }): Promise<McpResourceContent[]>;
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: { signal: AbortSignal },
  ): Promise<McpPromptMessage[]>;
  /** Called after a list was read anew, because the server said that it changed. */
  onChange(listener: (list: McpList) => void): void;
  /** Called once, when the connection is gone without `close`: why, with the end of stderr. */
  onLost(listener: (reason: Error) => void): void;
  /** Ends it, and the process behind it (TERM, then KILL). Never throws; a second call does nothing. */
  close(): Promise<void>;
}

/** What a server may ask of the session. Absent: it is told that nobody can do that. */
export interface ServerRequests {
  /** A form or a page for the person: who cannot be asked has declined. Throws for an answer that does not fit the form. */
  elicit?(
    request: { message: string; mode: 'form' | 'url'; schema?: Record<string, unknown>; url?: string; id?: string },
    options: { signal: AbortSignal },
  ): Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: Record<string, unknown> }>;
  /** A model call on behalf of the server; only where the user allows it. */
  sample?(params: Record<string, unknown>, options: { signal: AbortSignal }): Promise<Record<string, unknown>>;
  /** The folders of the session, as file URLs; only where the user allows it. */
  roots?(): { uri: string; name: string }[];
  /** What the server logs. */
  log?(entry: { level: string; logger?: string; data: unknown }): void;
}

export interface LinkParts {
  clock: Clock;
  logger: Logger;
  workspace: Workspace;
  /** The environment of a server that is a process, before its own `env` is added. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  requests: ServerRequests;
  /** How long a call may take without progress, where the config of the server does not say; one minute when absent. */
  callMs?: number;
  /** Aborts while it connects. */
  signal: AbortSignal;
}
