import { describe, expect, it } from 'vitest';
import { createDomains, toHost } from '../../src/engine/sandbox/domains.js';

const domains = createDomains({
  allowedDomains: ['Example.com', '*.wide.example', 'port.example:8443', '10.0.0.5', '[::1]:80', 'bücher.example'],
  deniedDomains: ['bad.wide.example', '*.worse.wide.example', '192.0.2.7'],
});

describe('which hosts may be reached', () => {
  it.each([
    ['example.com', 443, true],
    ['www.example.com', 443, false],
    ['example.com.evil.test', 443, false],
    ['wide.example', 443, false],
    ['a.b.wide.example', 22, true],
    ['xwide.example', 443, false],
    ['bad.wide.example', 443, false],
    ['x.worse.wide.example', 443, false],
    ['port.example', 8443, true],
    ['port.example', 443, false],
    ['10.0.0.5', 80, true],
    ['10.0.0.6', 80, false],
    ['::1', 80, true],
    ['::1', 81, false],
    ['xn--bcher-kva.example', 443, true],
  ])('%s:%d: %s', (host, port, expected) => {
    expect(domains.refuse(host, port) === undefined).toBe(expected);
  });

  it.each(['example.com:0', 'example.com:65536', '*:99999', '[::1]:70000'])('%s names no port', (entry) => {
    expect(() => createDomains({ allowedDomains: [entry] })).toThrow('names no port');
    expect(() => createDomains({ deniedDomains: [entry] })).toThrow('names no port');
  });

  it('is nobody without allowed domains', () => {
    expect(createDomains({ deniedDomains: ['example.com'] }).none).toBe(true);
    expect(domains.none).toBe(false);
  });

  it('is every name, but no address, with *', () => {
    const all = createDomains({ allowedDomains: ['*'], deniedDomains: ['evil.test'] });
    expect(['a.example', 'evil.test', '1.1.1.1', '::1'].map((host) => all.refuse(host, 443) === undefined)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it.each([
    ['93.184.216.34', true],
    ['127.0.0.1', false],
    ['169.254.169.254', false],
    ['10.0.0.5', true],
    ['10.0.0.6', false],
    ['::ffff:127.0.0.1', false],
    ['fd00::1', false],
    ['192.0.2.7', false],
    ['2606:4700::1', true],
    ['nonsense', false],
  ])('an allowed name that has the address %s: %s', (address, expected) => {
    expect(domains.refuseAddress(address, 'example.com', 443) === undefined).toBe(expected);
  });

  it.each([
    ['192.88.98.1', '::ffff:192.88.98.1'],
    ['192.88.98.1', '64:ff9b::192.88.98.1'],
    ['::ffff:192.88.98.1', '192.88.98.1'],
    ['64:ff9b::c058:6201', '::ffff:192.88.98.1'],
  ])('where %s is denied, not %s, which is the same machine', (entry, address) => {
    const wide = createDomains({ allowedDomains: ['*', `[${address}]`], deniedDomains: [`[${entry}]`] });
    expect(wide.refuseAddress(address, 'example.com', 443)).toContain('deniedDomains');
    expect(wide.refuse(toHost(address) ?? '', 443)).toContain('deniedDomains');
    expect(wide.refuseAddress('::ffff:192.88.98.2', 'example.com', 443)).toBeUndefined();
  });

  it('a private address that the user has opened for this host', () => {
    const opened = createDomains(
      { allowedDomains: ['git.corp'] },
      { opensPrivate: (host, port) => host === 'git.corp' && port === 443 },
    );
    expect(opened.refuseAddress('10.1.2.3', 'git.corp', 443)).toBeUndefined();
    expect(opened.refuseAddress('10.1.2.3', 'git.corp', 80)).toContain('private address 10.1.2.3');
  });

  it.each(['', 'https://example.com', 'example.com/path', 'a b', 'exa*mple.com', '*.1.2.3.4', 'a@b', '*.*', 'a:99x'])(
    'refuses the entry %j where it names no host',
    (entry) => {
      expect(() => createDomains({ deniedDomains: [entry] })).toThrow(
        expect.objectContaining({
          code: 'invalid_settings',
          message: expect.stringContaining('sandbox.network.deniedDomains'),
        }),
      );
    },
  );
});

describe('hosts as they are compared', () => {
  it.each([
    ['EXAMPLE.com.', 'example.com'],
    ['0x7f.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['a.b:80', undefined],
    ['a/b', undefined],
    ['u@a', undefined],
    ['', undefined],
    ['a%2eb', undefined],
  ])('%s is %s', (text, host) => {
    expect(toHost(text)).toBe(host);
  });
});
