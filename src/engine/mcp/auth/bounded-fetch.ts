/** Fetch for the errands of OAuth: an answer is small and soon there, or it is none. */
import { HeddleError } from '../../../protocol/plain.js';
import { proxyFor } from '../../model/proxy.js';

export type AuthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Shorter than the time after which a lock counts as stale. */
const MAX_MS = 8_000;
const MAX_BYTES = 1024 * 1024;
const BODILESS = new Set([204, 205, 304]);

/** Through the proxy that the environment names, if it names one. */
export function createAuthFetch(env: Readonly<Record<string, string>>): AuthFetch {
  return async (url, init = {}) => {
    const timeout = AbortSignal.timeout(MAX_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const proxy = proxyFor(new URL(url), env);
    try {
      if (proxy === undefined) return await readWhole(await fetch(url, { ...init, signal }), url);
      return await fetchThrough(proxy, url, { ...init, signal });
    } catch (thrown) {
      if (!timeout.aborted) throw thrown;
      throw new HeddleError('request_failed', `${originOf(url)} did not answer within ${MAX_MS / 1000} s.`, {
        retryable: true,
      });
    }
  };
}

async function fetchThrough(proxy: string, url: string | URL, init: RequestInit): Promise<Response> {
  const { fetch: fetchFn, ProxyAgent } = await import('undici');
  const dispatcher = new ProxyAgent(proxy);
  try {
    const options: object = { ...init, dispatcher };
    const response = await (fetchFn as unknown as AuthFetch)(url, options);
    return await readWhole(response, url);
  } finally {
    dispatcher.destroy().catch(() => undefined);
  }
}

/** The answer with its body at hand. */
async function readWhole({ body, status, statusText, headers: given }: Response, url: string | URL): Promise<Response> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > MAX_BYTES) {
      const text = `${originOf(url)} sent more than ${MAX_BYTES} bytes where a little was due.`;
      throw new HeddleError('request_failed', text);
    }
    parts.push(part);
  }
  const headers = new Headers([...given]);
  // The body is decoded already.
  headers.delete('content-length');
  headers.delete('content-encoding');
  const isBodiless = BODILESS.has(status);
  return new Response(isBodiless ? null : new Uint8Array(Buffer.concat(parts)), { status, statusText, headers });
}

const originOf = (url: string | URL): string => new URL(url).origin;
