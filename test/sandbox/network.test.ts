import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Box, createBox, hasBubblewrap, skipNote } from './box.js';

let box: Box;
let server: Server;
let port: number;

/** Asks the proxy for a page by bash alone. */
const get = (url: string): string =>
  `exec 3<>/dev/tcp/127.0.0.1/\${HTTP_PROXY##*:}; printf 'GET ${url} HTTP/1.1\\r\\nHost: other.example\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3`;

const tunnelTo = (target: string): string =>
  `exec 3<>/dev/tcp/127.0.0.1/\${HTTPS_PROXY##*:}; printf 'CONNECT ${target} HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3`;

/** The test server stands for every host. */
const toLoopback = { lookup: () => Promise.resolve(['127.0.0.1']) };
const named = (...domains: string[]) => ({ network: { allowedDomains: [...domains, '127.0.0.1'] } });

describe.skipIf(!hasBubblewrap)(`the network of the sandbox${skipNote}`, () => {
  beforeEach(async () => {
    box = await createBox();
    server = createServer((request, response) => response.end(`served ${request.headers.host}`));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await box.close();
  });

  it('is none unless domains are allowed', async () => {
    const sandbox = await box.open({ network: { deniedDomains: ['example.com'] } });
    const env = { ...box.env, HTTP_PROXY: 'http://127.0.0.1:1', https_proxy: 'http://127.0.0.1:1' };
    const line = `echo "proxy $HTTP_PROXY$https_proxy"; cat </dev/tcp/127.0.0.1/${port}; cat </dev/tcp/192.0.2.1/80`;
    const { text, code } = await box.run(sandbox, line, { env });
    expect(code).not.toBe(0);
    expect(text).toMatch(/^proxy \n/);
    expect(text).toMatch(/Connection refused[\s\S]*Network is unreachable/);
    expect(sandbox.hintFor({ output: text, exitCode: 1 })).toContain('no network');
    expect(sandbox.describe()).toContain('no network');
  });

  it('has a loopback of its own, on which servers can listen', async () => {
    const sandbox = await box.open();
    const line = [
      'socat -u TCP-LISTEN:8080,bind=127.0.0.1 - &',
      'until { echo over >/dev/tcp/127.0.0.1/8080; } 2>/dev/null; do sleep 0.02; done; wait',
    ].join('\n');
    expect((await box.run(sandbox, line)).text).toBe('over\n');
  });

  it('leads to allowed domains through the proxy, and to no others', async () => {
    const sandbox = await box.open(named('allowed.example', '*.wide.example'), toLoopback);
    for (const host of ['allowed.example', 'a.wide.example']) {
      expect((await box.run(sandbox, get(`http://${host}:${port}/`))).text).toContain(`served ${host}:${port}`);
      expect((await box.run(sandbox, tunnelTo(`${host}:${port}`))).text).toContain('served x');
    }
    for (const host of ['denied.example', 'wide.example', 'xallowed.example', 'allowed.example.evil']) {
      const { text } = await box.run(sandbox, get(`http://${host}:${port}/`));
      expect(text).toContain('403 Forbidden');
      expect(text).toContain(`Blocked by the sandbox: ${host} is not in sandbox.network.allowedDomains`);
      expect((await box.run(sandbox, tunnelTo(`${host}:${port}`))).text).toContain('403 Forbidden');
      expect(sandbox.hintFor({ output: text, exitCode: 1 })).toContain('allowed.example');
    }
  });

  it('leads to no address of this machine or a private network that is not itself allowed', async () => {
    const sandbox = await box.open({ network: { allowedDomains: ['allowed.example', '*'] } }, toLoopback);
    const { text } = await box.run(sandbox, get(`http://allowed.example:${port}/`));
    expect(text).toContain('loopback address 127.0.0.1');
    expect((await box.run(sandbox, get(`http://127.0.0.1:${port}/`))).text).toContain('403 Forbidden');
  });

  it('of two sandboxes in one process are two: neither can do what only the other may', async () => {
    const [one, two] = await Promise.all([
      box.open({ ...named('one.example'), filesystem: { denyRead: ['one'] } }, toLoopback),
      box.open({ ...named('two.example'), filesystem: { denyRead: ['two'] } }, toLoopback),
    ]);
    const none = await box.open();
    await box.run(none, 'echo first > one; echo second > two');
    const line = (host: string) => `cat one two 2>&1; ${get(`http://${host}.example:${port}/`)}`;
    const [right, wrong, other, nothing] = await Promise.all([
      box.run(one, line('one')),
      box.run(one, line('two')),
      box.run(two, line('two')),
      box.run(none, `cat one two; echo "proxy $HTTP_PROXY"`),
    ]);
    expect(right.text).toMatch(/^cat: one: Permission denied\nsecond\n[\s\S]*served one/);
    expect(wrong.text).toMatch(/second\n[\s\S]*403 Forbidden/);
    expect(other.text).toMatch(/^first\ncat: two: Permission denied\n[\s\S]*served two/);
    expect(nothing.text).toBe('first\nsecond\nproxy \n');
    await one.close();
    expect((await box.run(two, line('two'))).text).toContain('served two');
  });

  it('of many sandboxes that begin and end in one folder at once hinders none of them', async () => {
    const lives = Array.from({ length: 12 }, async (_, index) => {
      const sandbox = await box.open();
      const { text } = await box.run(sandbox, `echo ${index}`);
      await sandbox.close();
      return text.trim();
    });
    expect(await Promise.all(lives)).toEqual(lives.map((_, index) => String(index)));
  });

  it('takes the way of a proxy that the user brings', async () => {
    const sandbox = await box.open({ network: { httpProxyPort: port } });
    expect((await box.run(sandbox, get('http://any.example/'))).text).toContain('HTTP/1.1 200');
    expect(sandbox.describe()).toContain('your own proxy');
  });
});
