/** Which proxy, if any, stands between us and the model API, by the environment of the session. */
import { HeddleError } from '../../protocol/plain.js';
import type { Env } from './credentials.js';

/** The part of `fetch` that the provider uses; the global one and that of undici both fit. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  redirect: 'manual';
  signal: AbortSignal;
}

export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): BodyReader } | null;
}

export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(reason?: unknown): Promise<void>;
}

/** The proxy for this address, or undefined when it is reached directly. Throws `invalid_config`. */
export function proxyFor(url: URL, env: Env): string | undefined {
  const read = (name: string): string | undefined => env[name.toLowerCase()] || env[name.toUpperCase()] || undefined;
  const proxy = url.protocol === 'https:' ? (read('https_proxy') ?? read('http_proxy')) : read('http_proxy');
  if (proxy === undefined || isExempt(url, read('no_proxy'))) return undefined;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(proxy) ? proxy : `http://${proxy}`;
  if (!URL.canParse(address) || !/^https?:/i.test(address)) {
    throw new HeddleError('invalid_config', 'The proxy in the environment is not an http or https address.', {
      hint: 'HTTPS_PROXY and HTTP_PROXY look like http://host:port.',
    });
  }
  return address;
}

/** NO_PROXY: names (their subdomains too), `host:port`, `*`; entries are parted by commas or spaces. */
function isExempt(url: URL, list: string | undefined): boolean {
  const host = url.hostname.toLowerCase().replace(/^\[|\]$/g, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return (list ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, inBrackets, plain, wantedPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
      const name = inBrackets ?? plain ?? entry;
      if (wantedPort !== undefined && wantedPort !== port) return false;
      const bare = name.replace(/^\*?\./, '');
      return host === bare || host.endsWith(`.${bare}`);
    });
}

/** A `fetch` through the proxy. Undici is loaded only here: direct requests use the one that Node has built in. */
export async function createProxyFetch(proxy: string): Promise<Fetch> {
  const { fetch, ProxyAgent } = await import('undici');
  const dispatcher = new ProxyAgent(proxy);
  return (url, init) => fetch(url, { ...init, dispatcher });
}
