/** Which addresses and names belong to no public server. Pure; what cannot be read counts as private. */
import { isIPv4, isIPv6 } from 'node:net';

type Bytes = readonly number[];

interface Range {
  start: Bytes;
  bits: number;
  kind: string;
}

function toRange([cidr, kind]: readonly [string, string]): Range {
  const [address = '', bits] = cidr.split('/');
  return { start: toBytes(address) ?? [], bits: Number(bits), kind };
}

/** The special-purpose registry of IPv4, and one address that a cloud uses for its own. */
const PRIVATE_IPV4 = (
  [
    ['0.0.0.0/8', 'unspecified'],
    ['10.0.0.0/8', 'private'],
    ['100.64.0.0/10', 'private (carrier-grade NAT)'],
    ['127.0.0.0/8', 'loopback'],
    ['168.63.129.16/32', 'metadata'],
    ['169.254.0.0/16', 'link-local'],
    ['172.16.0.0/12', 'private'],
    ['192.0.0.0/24', 'reserved'],
    ['192.0.2.0/24', 'reserved'],
    ['192.88.99.0/24', 'reserved'],
    ['192.168.0.0/16', 'private'],
    ['198.18.0.0/15', 'reserved'],
    ['198.51.100.0/24', 'reserved'],
    ['203.0.113.0/24', 'reserved'],
    ['224.0.0.0/4', 'multicast'],
    ['240.0.0.0/4', 'reserved'],
  ] as const
).map(toRange);

/** IPv6 addresses that stand for an IPv4 address in their last four bytes: mapped, and NAT64. */
const CARRIES_IPV4 = (
  [
    ['::ffff:0:0/96', 'mapped'],
    ['64:ff9b::/96', 'nat64'],
  ] as const
).map(toRange);

const PRIVATE_IPV6 = (
  [
    ['::/128', 'unspecified'],
    ['::1/128', 'loopback'],
    ['fc00::/7', 'private'],
    ['fe80::/10', 'link-local'],
    ['fec0::/10', 'private'],
    ['ff00::/8', 'multicast'],
    ['2001::/23', 'reserved'],
    ['2001:db8::/32', 'reserved'],
    ['2002::/16', 'reserved (6to4)'],
    ['3fff::/20', 'reserved'],
  ] as const
).map(toRange);

/** Of IPv6 only this part is handed out to public servers; all the rest is refused, whatever it may become. */
const GLOBAL_IPV6 = toRange(['2000::/3', 'global']);

/** What kind of private address this is; undefined for a public one. */
export function privateKindOf(address: string): string | undefined {
  const bytes = toBytes(address);
  if (bytes === undefined) return 'unreadable';
  if (bytes.length === 4) return find(PRIVATE_IPV4, bytes);
  const carried = carriedIn(bytes);
  if (carried !== undefined) return find(PRIVATE_IPV4, carried);
  return find(PRIVATE_IPV6, bytes) ?? (isInside(bytes, GLOBAL_IPV6) ? undefined : 'reserved');
}

/** The IPv4 address that an IPv6 address stands for, if it does. */
export const carriedIPv4 = (address: string): string | undefined => carriedIn(toBytes(address) ?? [])?.join('.');

const carriedIn = (bytes: Bytes): Bytes | undefined =>
  find(CARRIES_IPV4, bytes) === undefined ? undefined : bytes.slice(12);

/** Names that never lead to a public server, whoever resolves them. */
export function isPrivateName(host: string): boolean {
  return /(^|\.)(localhost|local|internal|localdomain|lan|home\.arpa)$|^(metadata|instance-data|ip6-localhost|ip6-loopback|broadcasthost)$/.test(
    host,
  );
}

const find = (ranges: readonly Range[], bytes: Bytes): string | undefined =>
  ranges.find((range) => isInside(bytes, range))?.kind;

function isInside(bytes: Bytes, { start, bits }: Range): boolean {
  if (bytes.length !== start.length) return false;
  return bytes.every((byte, i) => {
    const counted = Math.min(8, Math.max(0, bits - i * 8));
    const mask = (0xff << (8 - counted)) & 0xff;
    return (byte & mask) === ((start[i] ?? 0) & mask);
  });
}

function toBytes(address: string): Bytes | undefined {
  if (isIPv4(address)) return address.split('.').map(Number);
  // The zone of a link-local address says through which interface, not where to.
  const bare = address.replace(/%.*$/, '');
  return isIPv6(bare) ? toIPv6Bytes(bare) : undefined;
}

function toIPv6Bytes(address: string): Bytes {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  if (dotted) {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.slice(2).map(Number);
    return toIPv6Bytes(`${dotted[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
  }
  const [head = '', tail] = address.split('::');
  const before = toGroups(head);
  const after = toGroups(tail ?? '');
  const gap = tail === undefined ? [] : Array<number>(8 - before.length - after.length).fill(0);
  return [...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}

function toGroups(part: string): number[] {
  return part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
}
