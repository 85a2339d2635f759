/** Which hosts commands may reach: pure. */
import { isIP } from 'node:net';
import { HeddleError } from '../../protocol/plain.js';
import type { SandboxSettings } from '../../protocol/index.js';
import { carriedIPv4, privateKindOf } from '../web/address.js';

type NetworkSettings = NonNullable<SandboxSettings['network']>;

interface DomainRule {
  /** Without the `*.`; empty for `*`. */
  host: string;
  subdomains: boolean;
  /** Any when absent. */
  port?: number;
}

export interface Domains {
  /** Nothing can be reached at all. */
  readonly none: boolean;
  /** Why this host may not be reached; undefined when it may. */
  refuse(host: string, port: number): string | undefined;
  /** Why this address, which such a host has, may not be connected to. */
  refuseAddress(address: string, host: string, port: number): string | undefined;
}

export interface DomainOptions {
  /** Hosts on private networks that the user has opened. */
  opensPrivate?: (host: string, port: number) => boolean;
}

/** Throws `invalid_settings` for entries that name no host. */
export function createDomains(network: NetworkSettings, { opensPrivate }: DomainOptions = {}): Domains {
  const allowed = (network.allowedDomains ?? []).map((entry) => toRule(entry, 'allowedDomains'));
  const denied = (network.deniedDomains ?? [])
    .map((entry) => toRule(entry, 'deniedDomains'))
    .map((rule) => ({ ...rule, host: toPlain(rule.host) }));
  const isDenied = (host: string, port: number): boolean => denied.some((rule) => matches(rule, toPlain(host), port));
  return {
    none: allowed.length === 0,
    refuse(host, port) {
      if (isDenied(host, port)) return `${host} is in sandbox.network.deniedDomains`;
      if (allowed.some((rule) => matches(rule, host, port))) return undefined;
      return `${host}${isIP(host) === 0 ? '' : ' (an address)'} is not in sandbox.network.allowedDomains`;
    },
    refuseAddress(given, host, port) {
      const address = toHost(given) ?? given;
      if (isDenied(address, port))
        return `${host} has the address ${address}, which is in sandbox.network.deniedDomains`;
      const kind = privateKindOf(address);
      if (kind === undefined || allowed.some((rule) => rule.host === address && matches(rule, address, port)))
        return undefined;
      if (opensPrivate?.(host, port) === true) return undefined;
      return `${host} has the ${kind} address ${address}, which is not itself in sandbox.network.allowedDomains`;
    },
  };
}

/** An address by which the same machine is reached has the same form: what is denied is so under each. */
const toPlain = (host: string): string => carriedIPv4(host) ?? host;

/** As it is compared: lower case, ASCII, no closing dot, addresses in their usual form. Undefined when it is no host. */
export function toHost(text: string): string | undefined {
  const isAddress = isIP(text) === 6;
  if (!isAddress && /[\s/?#@\\%*:[\]]/.test(text)) return undefined;
  const url = URL.parse(`http://${isAddress ? `[${text}]` : text}/`);
  return url?.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '') || undefined;
}

function matches(rule: DomainRule, host: string, port: number): boolean {
  if (rule.port !== undefined && rule.port !== port) return false;
  if (!rule.subdomains) return rule.host === host;
  // Addresses have no subdomains, and `*` stands for names.
  return isIP(host) === 0 && (rule.host === '' || host.endsWith(`.${rule.host}`));
}

function toRule(entry: string, field: string): DomainRule {
  const [, star, name = '', digits] = /^(\*\.)?(\[[^\]]*\]|[^:]*|[0-9a-f:]+)(?::(\d{1,5}))?$/i.exec(entry.trim()) ?? [];
  const port = digits === undefined ? {} : { port: Number(digits) };
  if (digits !== undefined && !(Number(digits) > 0 && Number(digits) < 65_536)) {
    throw new HeddleError('invalid_settings', `sandbox.network.${field}: \`${entry}\` names no port.`, {
      hint: 'Ports are 1 to 65535; without one any port is meant.',
    });
  }
  if (name === '*' && star === undefined) return { host: '', subdomains: true, ...port };
  const host = toHost(name.replace(/^\[|\]$/g, ''));
  if (host === undefined || (star !== undefined && isIP(host) !== 0)) {
    throw new HeddleError('invalid_settings', `sandbox.network.${field}: \`${entry}\` names no host.`, {
      hint: 'Write a host such as example.com or *.example.com, with a port if need be, and no scheme or path.',
    });
  }
  return { host, subdomains: star !== undefined, ...port };
}
