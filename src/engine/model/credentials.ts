/** Where the key of the model API comes from, and how it travels. */
import { HeddleError } from '../../protocol/plain.js';
import type { Clock } from '../../protocol/index.js';

export type Env = Readonly<Record<string, string | undefined>>;

export interface CredentialSources {
  env: Env;
  /** Given by the caller: stronger than the environment. */
  apiKey?: string;
  authToken?: string;
  /** A shell command that prints the key. Used when no key is given otherwise. */
  apiKeyHelper?: string;
}

/** Runs the helper and gives what it printed. What it rejects with is shown, so it must not hold the output. */
export type RunHelper = (command: string) => Promise<string>;

export interface Credential {
  header: 'x-api-key' | 'authorization';
  value: string;
}

export interface Credentials {
  /** `none` when there is nothing to show to the API. */
  readonly source: string;
  /** Undefined when the key already is among the custom headers. Throws `no_provider`, or `model_auth` when the helper fails. */
  current(): Promise<Credential | undefined>;
  /** The API refused this credential. True when the next `current()` may give a better one. */
  refused(credential: Credential | undefined): boolean;
  /** The text with every secret that was used so far blotted out. */
  redact(text: string): string;
}

const HELPER_TTL_MS = 5 * 60_000;

/** Whether a provider made from these sources could speak to the API at all. */
export const hasCredentials = (sources: CredentialSources): boolean => keySourceOf(sources) !== 'none';

type Source =
  | 'config'
  | 'ANTHROPIC_AUTH_TOKEN'
  | 'ANTHROPIC_API_KEY'
  | 'apiKeyHelper'
  | 'ANTHROPIC_CUSTOM_HEADERS'
  | 'none';

/** Where the key would come from. */
export function keySourceOf({ env, apiKey, authToken, apiKeyHelper }: CredentialSources): Source {
  if (clean(authToken) || clean(apiKey)) return 'config';
  if (clean(env['ANTHROPIC_AUTH_TOKEN'])) return 'ANTHROPIC_AUTH_TOKEN';
  if (clean(env['ANTHROPIC_API_KEY'])) return 'ANTHROPIC_API_KEY';
  if (clean(apiKeyHelper)) return 'apiKeyHelper';
  if (/^\s*(x-api-key|authorization)\s*:/im.test(env['ANTHROPIC_CUSTOM_HEADERS'] ?? ''))
    return 'ANTHROPIC_CUSTOM_HEADERS';
  return 'none';
}

export function createCredentials(
  sources: CredentialSources & { clock: Clock; runHelper?: RunHelper; extraSecrets?: readonly string[] },
): Credentials {
  const { env, clock, runHelper } = sources;
  const source = keySourceOf(sources);
  const secrets = new Set<string>(sources.extraSecrets);
  let helped: { key: Promise<string>; at: number } | undefined;
  let refusedKey: string | undefined;

  const fixed = fixedCredential(sources);
  if (fixed !== undefined) secrets.add(bare(fixed));
  for (const secret of customSecrets(env['ANTHROPIC_CUSTOM_HEADERS'])) secrets.add(secret);

  const askHelper = (command: string): Promise<string> => {
    if (helped !== undefined && clock.monotonic() - helped.at < HELPER_TTL_MS) return helped.key;
    const entry = { key: readHelper(command, runHelper), at: clock.monotonic() };
    helped = entry;
    // A helper that failed is asked again by the next request.
    entry.key.catch(() => {
      if (helped === entry) helped = undefined;
    });
    return entry.key;
  };

  return {
    source,
    async current() {
      if (fixed !== undefined) return fixed;
      if (source === 'ANTHROPIC_CUSTOM_HEADERS') return undefined;
      const command = clean(sources.apiKeyHelper);
      if (command === undefined) throw new HeddleError('no_provider', 'There is no key for the model API.');
      const value = await askHelper(command);
      secrets.add(value);
      return { header: 'x-api-key', value };
    },
    refused(credential) {
      if (source !== 'apiKeyHelper' || credential === undefined) return false;
      helped = undefined;
      // The same key twice: the helper has nothing better, so trying again is of no use.
      const isNew = refusedKey !== credential.value;
      refusedKey = credential.value;
      return isNew;
    },
    redact(text) {
      let shown = text;
      for (const secret of secrets) if (secret.length >= 4) shown = shown.replaceAll(secret, '[secret]');
      return shown;
    },
  };

  function fixedCredential({ apiKey, authToken }: CredentialSources): Credential | undefined {
    if (source === 'config') {
      const token = clean(authToken);
      return token === undefined ? keyHeader(clean(apiKey) ?? '') : bearer(token);
    }
    if (source === 'ANTHROPIC_AUTH_TOKEN') return bearer(clean(env[source]) ?? '');
    if (source === 'ANTHROPIC_API_KEY') return keyHeader(clean(env[source]) ?? '');
    return undefined;
  }
}

async function readHelper(command: string, runHelper: RunHelper | undefined): Promise<string> {
  if (runHelper === undefined) {
    throw new HeddleError('model_auth', 'apiKeyHelper is set, but nothing here can run it.');
  }
  let output: string;
  try {
    output = await runHelper(command);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it could not be run';
    throw new HeddleError('model_auth', `apiKeyHelper failed: ${reason.slice(0, 500)}`, {
      hint: 'Run the command of apiKeyHelper by hand: it must print the key and exit with 0.',
    });
  }
  const key = output.trim();
  if (key === '' || /\s/.test(key)) {
    const what = key === '' ? 'printed nothing' : 'printed more than one word';
    throw new HeddleError('model_auth', `apiKeyHelper ${what}.`, { hint: 'It must print the key and nothing else.' });
  }
  return key;
}

/** The lines `Name: value` of ANTHROPIC_CUSTOM_HEADERS. Throws `invalid_config` on any other line. */
export function parseCustomHeaders(text: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [index, line] of (text ?? '').split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) {
      throw new HeddleError('invalid_config', `Line ${index + 1} of ANTHROPIC_CUSTOM_HEADERS is not "Name: value".`);
    }
    headers[name.toLowerCase()] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** Headers that say how to speak, and let nobody in. An answer about them must stay readable. */
const PLAIN_HEADERS = /^(anthropic-(beta|version)|accept(-.*)?|content-type|user-agent)$/;

/** Any header of one's own may open a gate, whatever it is called. */
function customSecrets(text: string | undefined): string[] {
  const own = Object.entries(parseCustomHeaders(text)).filter(([name]) => !PLAIN_HEADERS.test(name));
  return own.flatMap(([, value]) => [value, value.replace(/^(Bearer|Basic|Token) +/i, '')]);
}

/** Refuses values that cannot be a header, without showing them: `fetch` would print the secret in its error. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value)) {
      throw new HeddleError(
        'invalid_config',
        `The value of the header ${name} has characters that no header may have.`,
        {
          hint: 'Check the key or the custom headers for stray line breaks and quotes.',
        },
      );
    }
  }
}

const clean = (value: string | undefined): string | undefined => {
  const trimmed = value?.trim();
  return trimmed === '' ? undefined : trimmed;
};

const keyHeader = (value: string): Credential => ({ header: 'x-api-key', value });
const bearer = (token: string): Credential => ({ header: 'authorization', value: `Bearer ${token}` });
const bare = (credential: Credential): string => credential.value.replace(/^Bearer /, '');
