/** What kind of server an entry is. Its `type` alone says so, which is set when the entry is read. */
import type { McpHttpServerConfig, McpSSEServerConfig, McpStdioServerConfig } from '../../protocol/index.js';

export type ServerKind = 'stdio' | 'http' | 'sse';

type AnyConfig = McpStdioServerConfig | McpHttpServerConfig | McpSSEServerConfig;

export const kindOf = ({ type }: AnyConfig): ServerKind => type ?? 'stdio';

/** It is reached at an address; any other is started here. */
export const hasAddress = (config: AnyConfig): config is McpHttpServerConfig | McpSSEServerConfig =>
  kindOf(config) !== 'stdio';
