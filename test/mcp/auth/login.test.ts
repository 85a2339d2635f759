import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { logIn, type LoginOptions, logOut } from '../../../src/engine/mcp/auth/log-in.js';
import { createSessionAuth } from '../../../src/engine/mcp/auth/session-auth.js';
import { type AuthStore, createAuthStore } from '../../../src/engine/mcp/auth/store.js';
import { systemClock } from '../../../src/protocol/plain.js';
import type { Clock } from '../../../src/protocol/index.js';
import { type AuthServerOptions, browse, startAuthServer } from './auth-server.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
let store: AuthStore;
let server: Awaited<ReturnType<typeof startAuthServer>>;
const file = () => join(folder, 'mcp-auth.json');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'heddle-auth-'));
  store = createAuthStore({ configDir: folder });
});
afterEach(async () => {
  await server.close();
  removeFolder(folder);
});

const start = async (options?: AuthServerOptions) => {
  server = await startAuthServer(options);
};
const enter = (options: Partial<LoginOptions> = {}) =>
  logIn({
    store,
    server: { type: 'http', url: server.url },
    present: (page) => void browse(page),
    signal: new AbortController().signal,
    env: {},
    ...options,
  });

async function connect(from: AuthStore = store): Promise<Client> {
  const authProvider = createSessionAuth({ store: from, serverUrl: server.url, env: {} });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { authProvider }));
  return client;
}

describe('logging in to an MCP server', () => {
  it('discovers, registers, proves itself and keeps the tokens for their owner alone', async () => {
    await start();
    expect(await enter()).toBe('logged-in');
    expect(server.seen).toEqual([
      'POST /mcp',
      'GET /.well-known/oauth-protected-resource/mcp',
      'GET /.well-known/oauth-authorization-server',
      'POST /register',
      'GET /authorize',
      'POST /token authorization_code',
    ]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const client = await connect();
    expect(client.getServerVersion()?.name).toBe('guarded');
    await client.close();
    expect(await enter({ server: { type: 'http', url: server.url, headers: await bearer() } })).toBe('not-needed');
  });

  const bearer = async () => ({ authorization: `Bearer ${(await store.read(server.url))?.tokens?.access_token}` });

  it('is the same client at the next login, on the same port where it is free', async () => {
    await start();
    const pages: URL[] = [];
    const present = (page: URL) => {
      pages.push(page);
      void browse(page);
    };
    await enter({ present });
    await enter({ present });
    const redirects = () => pages.map((page) => page.searchParams.get('redirect_uri'));
    expect([server.clients.size, new Set(redirects()).size]).toEqual([1, 1]);
    const port = Number(new URL(redirects()[0] ?? '').port);
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    await enter({ present });
    other.close();
    expect([server.clients.size, new Set(redirects()).size]).toEqual([2, 2]);
  });

  it('uses a client that was registered by hand, with its secret and its port', async () => {
    const spare = createServer();
    await new Promise<void>((resolve) => spare.listen(0, '127.0.0.1', resolve));
    const { port } = spare.address() as { port: number };
    await new Promise((resolve) => spare.close(resolve));
    const redirects = [`http://localhost:${port}/callback`];
    await start({ clients: { mine: { secret: 'hidden', redirects } } });
    await expect(enter()).rejects.toThrow(/failed while finding out where to log in: .*registration/);
    const oauth = { clientId: 'mine', callbackPort: port };
    const options = { server: { type: 'http' as const, url: server.url, oauth }, clientSecret: 'hidden' };
    expect(await enter(options)).toBe('logged-in');
    server.expire();
    await (await connect()).close();
  });

  it('takes no answer to another login, and none that another site sends', async () => {
    await start();
    const present = async (page: URL) => {
      const back = new URL(page.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'planted');
      const statuses: number[] = [];
      for (const state of ['', 'guess']) {
        back.searchParams.set('state', state);
        statuses.push((await fetch(back)).status);
      }
      statuses.push((await fetch(new URL('/', back))).status);
      expect(statuses).toEqual([400, 400, 400]);
      void browse(page);
    };
    expect(await enter({ present })).toBe('logged-in');
  });

  it('takes the address that a browser elsewhere could not open', async () => {
    await start();
    const present: LoginOptions['present'] = async (page, take) => {
      const { headers } = await fetch(page, { redirect: 'manual' });
      expect([take('nonsense'), take('http://127.0.0.1/?code=x&state=y')]).toEqual([false, false]);
      expect(take(` ${headers.get('location')}\n`)).toBe(true);
    };
    expect(await enter({ present })).toBe('logged-in');
  });

  it('ends when the person says no, when nobody answers, and on abort', async () => {
    await start({ answer: 'no' });
    await expect(enter()).rejects.toThrow('The login was refused: access_denied');
    let fire = (): void => {};
    const clock: Clock = {
      ...systemClock,
      after(ms, run) {
        if (ms !== 300_000) return systemClock.after(ms, run);
        fire = run;
        return () => {};
      },
    };
    const patient = createAuthStore({ configDir: folder, clock });
    await expect(enter({ store: patient, present: () => fire() })).rejects.toThrow('within 5 minutes');
    const abort = new AbortController();
    await expect(enter({ present: () => abort.abort(), signal: abort.signal })).rejects.toThrow('broken off');
    expect((await store.read(server.url))?.tokens).toBeUndefined();
  });

  it.each([
    ['a page that is none', { authorization_endpoint: 'file:///etc/passwd' }],
    ['another issuer', { issuer: 'https://evil.example' }],
    ['no proof keys', { code_challenge_methods_supported: ['plain'] }],
  ])('refuses an authorization server with %s', async (_, changes) => {
    await start({
      tamper: (path, body) => (path.endsWith('authorization-server') ? { ...body, ...changes } : body),
    });
    let isShown = false;
    const present = () => {
      isShown = true;
    };
    await expect(enter({ present })).rejects.toThrow(/failed while finding out where to log in/);
    expect(isShown).toBe(false);
  });

  it('refuses an answer that is too large', async () => {
    await start({ tamper: (path, body) => (path === '/register' ? 'x'.repeat(2_000_000) : body) });
    await expect(enter()).rejects.toThrow('sent more than 1048576 bytes');
  });

  it('closes a file that others could read, and forgets on request', async () => {
    await start();
    writeFileSync(file(), '{}');
    chmodSync(file(), 0o644);
    await enter();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect([await logOut(store, server.url), await logOut(store, server.url)]).toEqual([true, false]);
    expect(readFileSync(file(), 'utf8')).not.toContain('access-');
  });
});

describe('the login of a session', () => {
  it('needs a person where nobody is logged in, and registers nothing', async () => {
    await start();
    await expect(connect()).rejects.toBeInstanceOf(UnauthorizedError);
    expect(server.seen).toEqual(['POST /mcp']);
  });

  it('gets new tokens when the old ones are over, once for all who ask', async () => {
    await start();
    await enter();
    const clients = await Promise.all([connect(), connect(createAuthStore({ configDir: folder }))]);
    server.expire();
    await Promise.all(clients.flatMap((client) => Array.from({ length: 3 }, () => client.listTools())));
    // The server takes a second use of a refresh token for theft, and revokes everything.
    expect(server.seen.filter((each) => each.endsWith('refresh_token'))).toHaveLength(1);
    for (const client of clients) await client.close();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('gets them before the old ones end', async () => {
    await start({ expiresIn: 30 });
    await enter();
    const client = await connect();
    expect(server.seen.at(-1)).toBe('POST /mcp');
    expect(server.seen.filter((each) => each.endsWith('refresh_token')).length).toBeGreaterThan(0);
    expect(server.seen.filter((each) => each === 'GET /authorize')).toHaveLength(1);
    await client.close();
  });

  it('needs a person when nothing is left, says nothing, and keeps no dead token', async () => {
    const warn = vi.spyOn(console, 'warn');
    await start();
    await enter();
    server.revoke();
    await expect(connect()).rejects.toBeInstanceOf(UnauthorizedError);
    expect((await store.read(server.url))?.tokens).toBeUndefined();
    expect((await store.read(server.url))?.client).toBeDefined();
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('keeps tokens while the authorization server is in trouble', async () => {
    let isInTrouble = false;
    await start({ tamper: (path, body) => (isInTrouble && path === '/token' ? 'oops' : body) });
    await enter();
    server.expire();
    isInTrouble = true;
    await expect(connect()).rejects.toBeInstanceOf(UnauthorizedError);
    expect((await store.read(server.url))?.tokens?.refresh_token).toBeDefined();
  });

  it('does without where the file is broken, and does not quote it', async () => {
    await start();
    writeFileSync(file(), '{ "secret": "hidden-token" ');
    const told: string[] = [];
    const auth = createSessionAuth({
      store,
      serverUrl: server.url,
      env: {},
      logger: (_, text) => void told.push(text),
    });
    expect(await auth.token()).toBeUndefined();
    expect(told.join()).toContain('it is no JSON object');
    expect(told.join()).not.toContain('hidden-token');
  });
});
