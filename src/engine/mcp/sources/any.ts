import { existsSync } from 'node:fs';
import type { McpSources } from './resolve.js';

/** Whether there can be a server at all. Where there is none, nothing else of this folder has to be loaded. */
export const hasMcpSources = ({
  flags,
  strict,
  settings,
  projectFile,
  brought = [],
}: Pick<McpSources, 'flags' | 'strict' | 'settings' | 'projectFile' | 'brought'>): boolean =>
  flags.length > 0 ||
  brought.some(({ layer }) => !strict || layer === 'managed') ||
  settings.layers.some((layer) => layer.settings.mcpServers && (!strict || layer.name === 'managed')) ||
  (!strict && projectFile !== undefined && existsSync(projectFile));
