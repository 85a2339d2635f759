import { isIP } from 'node:net';
import { UNSEEN } from '../../protocol/plain.js';
import { carriedIPv4, isPrivateName, privateKindOf } from '../web/address.js';

/** What is known of an address before it is fetched. */
export interface WebTarget {
  /** As it is compared: lower case, punycode, without a dot at the end. */
  host: string;
  /** With the port, where one is given. */
  place: string;
  /** It must not be fetched at all. */
  refusal?: string;
  /** A person must see it, whatever rules say. */
  doubt?: string;
  /** The host is a number, not a name. */
  isAddress: boolean;
}

/** Reads an address as a fetch would. */
export function readWebTarget(url: string, privateHosts: readonly string[] = []): WebTarget {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined)
    return { host: '', place: '', isAddress: false, refusal: 'It is not an address that can be fetched' };
  const host = toPlainHost(parsed.hostname);
  const place = parsed.port === '' ? host : `${host}:${parsed.port}`;
  const isAddress = isIP(host) !== 0;
  const known = { host, place, isAddress };
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') {
    return { ...known, refusal: `Only http and https can be fetched, not ${parsed.protocol}` };
  }
  if (host === '') return { ...known, refusal: 'It names no host' };
  const isOpen = privateHosts.some((each) => each.toLowerCase() === host || each.toLowerCase() === place);
  if (isOpen) known.isAddress = false;
  const isPrivate = isAddress ? privateKindOf(host) !== undefined : isPrivateName(host) || !host.includes('.');
  if (isPrivate && !isOpen) return { ...known, refusal: `${host} is on this machine or a private network` };
  if (parsed.username !== '' || parsed.password !== '') {
    return { ...known, doubt: `The address holds a user name; it leads to ${host}` };
  }
  if (hasControl(url)) return { ...known, doubt: 'The address holds characters that do not show' };
  return known;
}

/** As hosts are compared. An IPv4 address that is written as one of IPv6 is the same machine. */
export function toPlainHost(hostname: string): string {
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  return carriedIPv4(host) ?? host;
}

const hasControl = (text: string): boolean => UNSEEN.test(text.trim()) || /[\s\\]/.test(text.trim());
