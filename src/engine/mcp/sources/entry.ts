/** One entry of a table of MCP servers: what is wrong with it, or the server that it describes. */
import type { McpHttpServerConfig, McpSSEServerConfig, McpStdioServerConfig } from '../../../protocol/index.js';
import { didYouMean, findNearName } from '../../settings/near-name.js';
import { isTable } from '../../settings/table.js';
import { findNameFault, mcpToolName } from '../names.js';
import { hasAddress, type ServerKind } from '../server-kind.js';

/** A server that the engine reaches by itself. Servers of type `sdk` live with the caller and come another way. */
export type ServerConfig = McpStdioServerConfig | McpSSEServerConfig | McpHttpServerConfig;

export interface EntryFault {
  severity: 'error' | 'warning';
  /** Within the entry; empty for the entry itself. */
  path: readonly (string | number)[];
  text: string;
}

export type ReadEntry = { config?: ServerConfig; faults: EntryFault[]; isSdk?: true };

/** Other programs call the newer of the two HTTP transports so. */
const HTTP_ALIASES = new Set(['streamable-http', 'streamableHttp', 'streamable_http']);
const KNOWN_KEYS: Readonly<Record<ServerKind, readonly string[]>> = {
  stdio: ['type', 'command', 'args', 'env', 'timeout'],
  http: ['type', 'url', 'headers', 'timeout', 'oauth'],
  sse: ['type', 'url', 'headers', 'timeout', 'oauth'],
};
const TYPES = Object.keys(KNOWN_KEYS) as ServerKind[];

const error = (text: string, ...path: (string | number)[]): EntryFault => ({ severity: 'error', path, text });
const warning = (text: string, ...path: (string | number)[]): EntryFault => ({ severity: 'warning', path, text });

/**
 * Never throws. An entry with an error gives no server. The config has a `type`, which says what kind of server it is, and
 * nothing that such a server does not have.
 */
export async function readEntry(name: string, value: unknown): Promise<ReadEntry> {
  try {
    return await readWhole(name, value);
  } catch (thrown) {
    return { faults: [error(`it cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`)] };
  }
}

async function readWhole(name: string, value: unknown): Promise<ReadEntry> {
  const nameFault = findNameFault(name);
  if (nameFault !== undefined) return { faults: [error(nameFault)] };
  if (!isTable(value)) return { faults: [error('a server must be an object: { "command": ... } or { "url": ... }')] };
  if (value.type === 'sdk') return { faults: [], isSdk: true };
  const type = typeOf(value);
  if (typeof type !== 'string') return { faults: [type] };
  const target = findTargetFault(type, value);
  if (target !== undefined) return { faults: [target] };
  const known = Object.entries(value).filter(([key]) => KNOWN_KEYS[type].includes(key));
  const config = { ...Object.fromEntries(known), type };
  const faultsOfShape = isPlain(config) ? [] : await findShapeFaults(config);
  if (faultsOfShape.length > 0) return { faults: faultsOfShape };
  const server = config as ServerConfig;
  const faults = [...findFaults(server), ...findUnknownKeys(type, value)];
  return faults.some(({ severity }) => severity === 'error') ? { faults } : { config: server, faults };
}

/** What is started and what is reached must not be the same entry: nobody could say which of the two was approved. */
function findTargetFault(type: ServerKind, { command, url }: Record<string, unknown>): EntryFault | undefined {
  if (command !== undefined && url !== undefined) {
    return error('a server has either "command" (stdio) or "url" (http, sse), not both');
  }
  const [key, target] = type === 'stdio' ? ['command', command] : ['url', url];
  if (target === undefined) return error(`a server of type "${type}" needs "${key}"`);
  return typeof target === 'string' ? undefined : error(`"${key}" must be text`, key);
}

/** What nearly everybody writes. Whether it is right can be said without the schemas, which take their time to load. */
function isPlain({ args = [], env = {}, headers = {}, timeout = 0, oauth }: Record<string, unknown>): boolean {
  const isText = (each: unknown): boolean => typeof each === 'string';
  const isTexts = (table: unknown): boolean => isTable(table) && Object.values(table).every(isText);
  if (oauth !== undefined || !Array.isArray(args) || !args.every(isText)) return false;
  return isTexts(env) && isTexts(headers) && typeof timeout === 'number';
}

async function findShapeFaults(config: Record<string, unknown>): Promise<EntryFault[]> {
  const { McpServerConfig, problemsOf } = await import('../../../protocol/index.js');
  const outcome = McpServerConfig().safeParse(config);
  if (outcome.success) return [];
  return outcome.error.issues.map((issue) =>
    error(problemsOf([issue])[0]?.problem ?? 'it cannot be used', ...(issue.path as (string | number)[])),
  );
}

/** Why nothing can be reached at the address of a server; of one with variables only once they are put in. */
export function findAddressFault(config: ServerConfig): string | undefined {
  if (!hasAddress(config)) return undefined;
  if (!URL.canParse(config.url)) return '"url" must be an address: https://...';
  const { protocol, username, password } = new URL(config.url);
  if (protocol !== 'https:' && protocol !== 'http:') return '"url" must begin with https:// or http://';
  if (username === '' && password === '') return undefined;
  return '"url" must not hold a user or a password; name them in "headers": { "Authorization": "Basic ..." }';
}

/**
 * Tools are called `mcp__<server>__<tool>`, and a rule for all tools of `a` is `mcp__a`. A server `a__b` would have tools
 * that this rule covers too.
 */
export function findNameDoubt(name: string): string | undefined {
  const clean = mcpToolName(name, '').slice('mcp__'.length, -'__'.length);
  if (!clean.includes('__') && !clean.endsWith('_')) return undefined;
  return `the name "${name}" could make rules for another server cover its tools; leave out "__", and "_" at the end`;
}

function typeOf(value: Record<string, unknown>): ServerKind | EntryFault {
  const { type } = value;
  if (type === undefined) {
    if (value.command !== undefined) return 'stdio';
    return value.url === undefined ? error('a server needs "command" (stdio) or "url" (http, sse)') : 'http';
  }
  if (typeof type === 'string' && HTTP_ALIASES.has(type)) return 'http';
  const known = TYPES.find((each) => each === type);
  if (known !== undefined) return known;
  const shown = JSON.stringify(type);
  return error(`there is no server of type ${shown}; known are ${TYPES.join(', ')}`, 'type');
}

function findFaults(server: ServerConfig): EntryFault[] {
  const faults: EntryFault[] = [];
  if (server.timeout !== undefined && !(server.timeout > 0)) {
    faults.push(error('"timeout" must be a number of milliseconds above 0', 'timeout'));
  }
  if (hasAddress(server)) {
    if (server.url.trim() === '') faults.push(error('"url" must not be empty', 'url'));
    for (const [header, text] of Object.entries(server.headers ?? {})) {
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header)) faults.push(error('this is no name of a header', 'headers', header));
      if (/[\r\n\0]/.test(text)) faults.push(error('a header must be one line', 'headers', header));
    }
    return [...faults, ...findOAuthFaults(server.oauth)];
  }
  if (server.command.trim() === '') {
    faults.push(error('"command" must not be empty', 'command'));
  }
  return faults;
}

function findOAuthFaults(oauth: unknown): EntryFault[] {
  if (oauth === undefined) return [];
  if (!isTable(oauth)) return [error('"oauth" must be an object', 'oauth')];
  const { callbackPort } = oauth;
  const isPort = Number.isInteger(callbackPort) && Number(callbackPort) > 0 && Number(callbackPort) < 65_536;
  const wrong = ['clientId', 'scope', 'clientMetadataUrl'].filter(
    (key) => oauth[key] !== undefined && typeof oauth[key] !== 'string',
  );
  return [
    ...wrong.map((key) => error('it must be text', 'oauth', key)),
    ...(callbackPort === undefined || isPort ? [] : [error('it must be a port: 1 to 65535', 'oauth', 'callbackPort')]),
  ];
}

function findUnknownKeys(type: ServerKind, value: Record<string, unknown>): EntryFault[] {
  const known = KNOWN_KEYS[type];
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => warning(`this key does nothing here${didYouMean(findNearName(key, known))}`, key));
}
