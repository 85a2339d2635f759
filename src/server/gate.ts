/** Who may open a WebSocket. Decided on the request alone, before the upgrade. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { HeddleError } from '../protocol/plain.js';

export interface GateRules {
  token: string;
  /** The address that the server is bound to. */
  host: string;
  /** Names, without port, under which the server may be addressed, beside its own and IP addresses. */
  allowedHosts: readonly string[];
  /** Origins of pages that may connect, such as `https://app.example`. */
  allowedOrigins: readonly string[];
}

export interface Refusal {
  status: 401 | 403 | 404 | 426;
  text: string;
}

export interface GateRequest {
  url?: string;
  headers: IncomingHttpHeaders;
}

export const WEBSOCKET_PATH = '/ws';

/** Undefined when the request may be upgraded. */
export function decideUpgrade(request: GateRequest, rules: GateRules): Refusal | undefined {
  const { host, origin, authorization } = request.headers;
  if (!isAllowedHost(host, rules)) return { status: 403, text: 'This Host is not allowed.' };
  if (origin !== undefined && !rules.allowedOrigins.includes(origin)) {
    return { status: 403, text: 'This Origin is not allowed.' };
  }
  const url = URL.parse(request.url ?? '', 'http://server');
  if (url?.pathname !== WEBSOCKET_PATH) return { status: 404, text: `There is nothing here but ${WEBSOCKET_PATH}.` };
  const given = bearerOf(authorization) ?? url.searchParams.get('token') ?? '';
  if (!isSame(given, rules.token)) return { status: 401, text: 'The token is missing or wrong.' };
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    return { status: 426, text: 'This address takes WebSockets only.' };
  }
  return undefined;
}

/** The token to ask for. Throws `invalid_config` when a server that others can reach has none. */
export function requireToken(token: string | undefined, host: string, createToken: () => string): string {
  if (token !== undefined && /^\S+$/.test(token)) return token;
  if (token === undefined && isLoopback(host)) return createToken();
  const what =
    token === undefined
      ? `A server on ${host} needs a token.`
      : 'The token of a server must not be empty or have spaces in it.';
  throw new HeddleError('invalid_config', what, {
    hint: 'Set token to a long random text, or listen on 127.0.0.1 without one: then one is made.',
  });
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** A page that made its own name point at this server (DNS rebinding) sends that name; an address cannot be faked so. */
function isAllowedHost(header: string | undefined, { host, allowedHosts }: GateRules): boolean {
  const name = header === undefined ? undefined : URL.parse(`http://${header}`)?.hostname;
  if (name === undefined) return false;
  const bare = name.replace(/^\[|\]$/g, '');
  if (isIP(bare) !== 0) return !isLoopback(host) || isLoopback(bare);
  return bare === 'localhost' || bare === host || allowedHosts.includes(bare);
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** In constant time, also for texts of different length. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
