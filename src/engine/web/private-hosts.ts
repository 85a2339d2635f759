/** The private hosts that the user opened to WebFetch (`HEDDLE_WEB_PRIVATE_HOSTS`). */
import { isIPv6 } from 'node:net';

export interface PrivateHosts {
  /** Whether this very host, at this very port where the list names one, may be private and speak plain http. */
  allows(url: URL): boolean;
}

interface ListedHost {
  host: string;
  /** Absent: any port. */
  port?: string;
}

/** `127.0.0.1:8080, intranet.example, [::1]:3000`. Entries that name no host open nothing. */
export function readPrivateHosts(list: string | undefined): PrivateHosts {
  const listed = (list ?? '').split(',').flatMap((entry) => toListedHost(entry.trim()) ?? []);
  return {
    allows: (url) =>
      listed.some(({ host, port }) => host === hostOf(url) && (port === undefined || port === portOf(url))),
  };
}

/** The host as it is compared and resolved: lower case, ASCII, without brackets and without a closing dot. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

export const portOf = (url: URL): string => url.port || (url.protocol === 'https:' ? '443' : '80');

function toListedHost(entry: string): ListedHost | undefined {
  if (isIPv6(entry)) return toListedHost(`[${entry}]`);
  const [, host, port] = /^(\[[^\]]+\]|[^\s:/?#@[\]*]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (host === undefined || !URL.canParse(`http://${host}`)) return undefined;
  return { host: hostOf(new URL(`http://${host}`)), port };
}
