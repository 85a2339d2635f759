import { describe, expect, it } from 'vitest';
import { isPrivateName, privateKindOf } from '../../src/engine/web/address.js';
import { hostOf, readPrivateHosts } from '../../src/engine/web/private-hosts.js';

const PRIVATE: readonly (readonly [address: string, kind: string])[] = [
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'private (carrier-grade NAT)'],
  ['100.100.100.200', 'private (carrier-grade NAT)'],
  ['100.127.255.255', 'private (carrier-grade NAT)'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'metadata'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'link-local'],
  ['169.254.170.2', 'link-local'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['192.88.99.1', 'reserved'],
  ['192.168.0.1', 'private'],
  ['198.18.0.1', 'reserved'],
  ['198.19.255.255', 'reserved'],
  ['198.51.100.7', 'reserved'],
  ['203.0.113.7', 'reserved'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['0:0:0:0:0:ffff:a9fe:a9fe', 'link-local'],
  ['::ffff:10.1.2.3', 'private'],
  ['::127.0.0.1', 'reserved'],
  ['::7f00:1', 'reserved'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::a9fe:a9fe', 'link-local'],
  ['64:ff9b::c0a8:1', 'private'],
  ['64:ff9b:1::808:808', 'reserved'],
  ['100::1', 'reserved'],
  ['2001::1', 'reserved'],
  ['2001:10::1', 'reserved'],
  ['2001:20::1', 'reserved'],
  ['2001:db8::1', 'reserved'],
  ['2002:7f00:1::1', 'reserved (6to4)'],
  ['2002:a9fe:a9fe::', 'reserved (6to4)'],
  ['3fff::1', 'reserved'],
  ['4000::1', 'reserved'],
  ['5f00::1', 'reserved'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'private'],
  ['fd20:ce::254', 'private'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::1', 'private'],
  ['ff02::1', 'multicast'],
  ['', 'unreadable'],
  ['localhost', 'unreadable'],
  ['0177.0.0.1', 'unreadable'],
  ['127.1', 'unreadable'],
  ['1.2.3.4.5', 'unreadable'],
  ['[::1]', 'unreadable'],
];

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.215.14',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
];

describe('E5: private addresses', () => {
  it.each(PRIVATE)('%s is %s', (address, kind) => {
    expect(privateKindOf(address)).toBe(kind);
  });

  it.each(PUBLIC)('%s is public', (address) => {
    expect(privateKindOf(address)).toBeUndefined();
  });

  it.each([
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://0x7f.0.0.1/',
    'http://127.1/',
    'http://127.0.0.1./',
    'http://①②⑦.0.0.1/',
    'http://0/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
  ])('%s is private, however it is spelled', (spelling) => {
    expect(privateKindOf(hostOf(new URL(spelling)))).toMatch(/loopback|unspecified|link-local/);
  });

  it('judges an IPv4 address the same in every IPv6 spelling that carries it', () => {
    for (let i = 0; i < 2000; i += 1) {
      // Spreads over the whole range, the same in every run.
      const value = Math.imul(i, 0x9e3779b1) >>> 0;
      const bytes = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
      const dotted = bytes.join('.');
      const hex = `${((value >>> 16) & 0xffff).toString(16)}:${(value & 0xffff).toString(16)}`;
      const kind = privateKindOf(dotted);
      for (const spelling of [`::ffff:${dotted}`, `::ffff:${hex}`, `64:ff9b::${dotted}`, `64:ff9b:0:0:0:0:${hex}`]) {
        expect([spelling, privateKindOf(spelling)]).toEqual([spelling, kind]);
      }
    }
  });

  it.each(['localhost', 'a.localhost', 'printer.local', 'metadata.google.internal', 'nas.home.arpa'])(
    '%s is a private name',
    (name) => expect(isPrivateName(name)).toBe(true),
  );

  it.each(['example.org', 'local.example.org', 'mylocalhost', 'internal.example.com'])('%s is not', (name) =>
    expect(isPrivateName(name)).toBe(false),
  );
});

describe('E5: hosts that the user opened', () => {
  const allows = (list: string | undefined, url: string): boolean => readPrivateHosts(list).allows(new URL(url));

  it.each([
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/x'],
    ['127.0.0.1', 'http://127.0.0.1:1234/'],
    [' a.example , intranet.example ', 'https://intranet.example/'],
    ['Intranet.Example', 'http://INTRANET.example/'],
    ['intranet.example', 'http://intranet.example./'],
    ['intranet.example:443', 'https://intranet.example/'],
    ['intranet.example:80', 'http://intranet.example/'],
    ['::1', 'http://[::1]:3000/'],
    ['[::1]:3000', 'http://[0:0:0:0:0:0:0:1]:3000/'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
    ['2130706433', 'http://127.0.0.1/'],
  ])('%s opens %s', (list, url) => expect(allows(list, url)).toBe(true));

  it.each([
    [undefined, 'http://127.0.0.1/'],
    ['', 'http://127.0.0.1/'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8081/'],
    ['127.0.0.1:8080', 'http://127.0.0.1/'],
    ['intranet.example', 'http://a.intranet.example/'],
    ['a.intranet.example', 'http://intranet.example/'],
    ['*', 'http://127.0.0.1/'],
    ['*.example', 'http://intranet.example/'],
    ['http://intranet.example', 'http://intranet.example/'],
    ['user@intranet.example', 'http://intranet.example/'],
    ['intranet.example:80', 'https://intranet.example/'],
    ['[::1', 'http://[::1]/'],
  ])('%s does not open %s', (list, url) => expect(allows(list, url)).toBe(false));
});
