/** What a session is told of a server. Types only. */
import type {
  McpHttpServerConfig,
  McpServerManifest,
  McpSSEServerConfig,
  McpSdkServerConfig,
  McpStdioServerConfig,
} from '../../protocol/index.js';
import type { Exchange } from './connection.js';
import type { LinkParts, McpLink } from './link.js';

interface Origin {
  /** Which source named it, as a status shows it; `dynamic` when absent. */
  scope?: string;
  source?: string;
  /** Why it must not be started or reached. */
  blocked?: string;
}

/** A server that lives with a host, and how to reach it. */
export interface SdkServer extends Origin {
  exchange: Exchange;
  manifest?: McpServerManifest;
  config?: McpSdkServerConfig;
}

export type RemoteConfig = McpStdioServerConfig | McpHttpServerConfig | McpSSEServerConfig;

/** A server that the engine reaches by itself. */
export interface RemoteServer extends Origin {
  config: RemoteConfig;
  /** Its entry, variables and all, where there is one. */
  written?: RemoteConfig;
  /** It is blocked because someone has not said yes, or has said no: it is off, not broken. */
  isOff?: boolean;
}

export type ServerDefinition = SdkServer | RemoteServer;

export const isSdkServer = (server: ServerDefinition): server is SdkServer => 'exchange' in server;

/**
 * Greets a server that is not the host's own. Throws a HeddleError that names server and phase; `data.needsAuth` when it
 * wants to know who asks.
 */
export type ConnectServer = (name: string, config: RemoteConfig, parts: LinkParts) => Promise<McpLink>;
