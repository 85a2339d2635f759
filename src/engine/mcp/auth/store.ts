/** What is kept of logins: `mcp-auth.json` in the user's folder, which nobody else may read. One entry per address. */
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../protocol/index.js';
import { HeddleError, systemClock } from '../../../protocol/plain.js';
import { withLock } from '../../settings/lock.js';
import { readText } from '../../settings/read.js';
import { isTable } from '../../settings/table.js';

export interface AuthRecord {
  /** How we are known to the authorization server, and the redirect it was told. */
  client?: StoredOAuthClientInformation & { redirectUrl?: string };
  tokens?: StoredOAuthTokens;
  /** When the access token ends, in milliseconds since 1970; absent where the server did not say. */
  expiresAt?: number;
  discovery?: OAuthDiscoveryState;
  /** What the tokens are for, as the server names itself. */
  resource?: string;
}

export interface AuthStore {
  readonly file: string;
  readonly clock: Clock;
  /** Throws `invalid_settings` when the file is broken. */
  read(serverUrl: string): Promise<AuthRecord | undefined>;
  /** Undefined takes the entry away. */
  update(serverUrl: string, change: (record: AuthRecord) => AuthRecord | undefined): Promise<void>;
  /** One process at a time: an authorization server may take a second use of a refresh token for theft. */
  exclusively<T>(serverUrl: string, run: () => Promise<T>): Promise<T>;
}

const FILE = 'mcp-auth.json';
const MAX_BYTES = 8 * 1024 * 1024;
const OWNER_ONLY = 0o600;

export function createAuthStore({ configDir, clock = systemClock }: { configDir: string; clock?: Clock }): AuthStore {
  const file = join(configDir, FILE);
  return {
    file,
    clock,
    async read(serverUrl) {
      const read = await readText(file, MAX_BYTES);
      if ('fault' in read) throw broken(file, read.fault);
      if (read.text === undefined) return undefined;
      const { servers } = parse(file, read.text);
      const key = keyOf(serverUrl);
      const record = isTable(servers) && Object.hasOwn(servers, key) ? servers[key] : undefined;
      return isTable(record) ? record : undefined;
    },
    async update(serverUrl, change) {
      const { editSettings } = await import('../../settings/edit.js');
      const key = keyOf(serverUrl);
      hide(file);
      await editSettings(
        file,
        ({ servers }) => {
          const known = isTable(servers) && Object.hasOwn(servers, key) ? servers[key] : undefined;
          return [{ path: ['servers', key], value: change(isTable(known) ? known : {}) }];
        },
        { clock, maxBytes: MAX_BYTES },
      );
    },
    async exclusively(serverUrl, run) {
      const { createHash } = await import('node:crypto');
      const name = createHash('sha256').update(keyOf(serverUrl)).digest('hex').slice(0, 16);
      const { makeFolders } = await import('../../workspace/folders.js');
      makeFolders(configDir, 0o700);
      return withLock(`${file}.${name}`, run, { clock });
    },
  };
}

/** The same server however its address is spelled. */
function keyOf(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.hash = '';
  return url.href;
}

/** A file that someone made readable is closed before anything is added to it. */
function hide(file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o777) !== OWNER_ONLY) chmodSync(file, OWNER_ONLY);
}

function parse(file: string, text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isTable(value)) return value;
  } catch {
    // Said below: what stands in it is secret, and the parser would quote it.
  }
  throw broken(file, 'it is no JSON object');
}

const broken = (file: string, text: string): HeddleError =>
  new HeddleError('invalid_settings', `${file}: ${text}.`, { hint: 'Delete it, and log in again: heddle mcp auth.' });
