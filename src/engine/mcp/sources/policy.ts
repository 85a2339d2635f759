/** `allowedMcpServers` and `deniedMcpServers`: which servers may run at all, whoever configures them. */
import type { Settings } from '../../../protocol/index.js';
import { isTable } from '../../settings/table.js';
import { hasAddress } from '../server-kind.js';
import type { ServerConfig } from './entry.js';

/** Why a server may not run; undefined when it may. A denial counts more than any permission. */
export function findPolicyFault(
  { name, config }: { name: string; config: ServerConfig },
  { allowedMcpServers: allowed, deniedMcpServers: denied = [] }: Settings,
): string | undefined {
  const matches = (entry: unknown): boolean => isMeant(entry, name, config);
  if (denied.some(matches)) return 'deniedMcpServers names it';
  if (allowed === undefined) return undefined;
  // Where commands or addresses are listed, a name alone does not say what runs.
  const key = hasAddress(config) ? 'serverUrl' : 'serverCommand';
  const exact = allowed.filter((entry) => isTable(entry) && entry[key] !== undefined);
  const counting = exact.length > 0 ? exact : allowed;
  return counting.some(matches) ? undefined : 'allowedMcpServers does not name it';
}

/** A server of the host's own is no process and no address of ours: only its name can be denied. */
export function findNameDenial(name: string, { deniedMcpServers: denied = [] }: Settings): string | undefined {
  const isNamed = (entry: unknown): boolean =>
    entry === name || (isTable(entry) && entry.serverName === name && !entry.serverCommand && !entry.serverUrl);
  return denied.some(isNamed) ? 'deniedMcpServers names it' : undefined;
}

function isMeant(entry: unknown, name: string, config: ServerConfig): boolean {
  if (typeof entry === 'string') return entry === name;
  if (!isTable(entry)) return false;
  const { serverName, serverCommand, serverUrl } = entry;
  if (serverName !== undefined && serverName !== name) return false;
  if (serverCommand !== undefined && !isCommand(serverCommand, config)) return false;
  if (serverUrl !== undefined && !isAddress(serverUrl, config)) return false;
  return serverName !== undefined || serverCommand !== undefined || serverUrl !== undefined;
}

function isCommand(wanted: unknown, config: ServerConfig): boolean {
  if (hasAddress(config) || !Array.isArray(wanted)) return false;
  return JSON.stringify(wanted) === JSON.stringify([config.command, ...(config.args ?? [])]);
}

/** `*` stands for any characters; in the host it stays within the host, so that no path passes for one. */
function isAddress(wanted: unknown, config: ServerConfig): boolean {
  if (!hasAddress(config) || typeof wanted !== 'string' || !URL.canParse(config.url)) return false;
  const url = new URL(config.url);
  url.username = '';
  url.password = '';
  url.hash = '';
  const [, origin = '', path = '/'] = /^([^/]*\/\/[^/]*|[^/]*)(.*)$/s.exec(wanted) ?? [];
  const pattern = `^${toPattern(origin, '[^/?#@]*')}${toPattern(path || '/', '.*')}$`;
  return new RegExp(pattern, 's').test(url.href);
}

const toPattern = (text: string, any: string): string =>
  text
    .split(/\*+/)
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join(any);
