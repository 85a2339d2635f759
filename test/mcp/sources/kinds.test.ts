/** What kind of server an entry is: its type says so, once, and everybody goes by it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reachServer } from '../../../src/engine/mcp/reach.js';
import { showConfig } from '../../../src/engine/mcp/secrets.js';
import { readEntry } from '../../../src/engine/mcp/sources/entry.js';
import { findPolicyFault } from '../../../src/engine/mcp/sources/policy.js';
import { admitServer } from '../../../src/engine/mcp/sources/resolve.js';
import { loadSettings } from '../../../src/engine/settings/load.js';
import type { Settings } from '../../../src/protocol/index.js';
import { createFakeClock } from '../../../src/testing/fake-clock.js';
import { createProject } from './kit.js';

let project: ReturnType<typeof createProject>;
beforeEach(() => {
  project = createProject();
});
afterEach(() => project.remove());

const both = { command: 'node', url: 'https://ok.corp.example/mcp' };

const BROKEN: [entry: unknown, says: string][] = [
  [both, 'either "command" (stdio) or "url"'],
  [{ ...both, type: 'stdio' }, 'either "command" (stdio) or "url"'],
  [{ ...both, type: 'http' }, 'either "command" (stdio) or "url"'],
  [{ ...both, type: 'sse', command: 7 }, 'either "command" (stdio) or "url"'],
  [{ type: 'stdio', url: 'https://x' }, 'a server of type "stdio" needs "command"'],
  [{ type: 'http', command: 'x' }, 'a server of type "http" needs "url"'],
  [{ type: 'sse', command: 'x' }, 'a server of type "sse" needs "url"'],
  [{ type: 'streamable-http', command: 'x' }, 'a server of type "http" needs "url"'],
  [{ type: 'http' }, 'a server of type "http" needs "url"'],
  [{ type: 'stdio' }, 'a server of type "stdio" needs "command"'],
  [{ type: 'stdio', command: null }, '"command" must be text'],
  [{ type: 'http', url: ['https://x'] }, '"url" must be text'],
  [{ command: 'x', args: 'y' }, 'args'],
  [{ command: 'x', env: { A: 1 } }, 'env'],
  [{ command: 'x', timeout: -5 }, '"timeout" must be a number'],
  [{ url: 'https://x', headers: [] }, 'headers'],
  [{ url: 'https://x', oauth: 'yes' }, 'oauth'],
];

describe('an entry', () => {
  it.each(BROKEN)('%j is told, and costs the others nothing', async (entry, says) => {
    project.write('project/.mcp.json', { mcpServers: { a: entry } });
    project.write('config/settings.json', { mcpServers: { mine: { command: 'mine' } } });
    for (const trusted of [true, false]) {
      const { servers, problems } = await project.resolve({ trusted });
      expect([...servers.keys()]).toEqual(['mine']);
      expect(problems).toHaveLength(1);
      expect(`${problems[0]?.path} ${problems[0]?.text}`).toContain(says);
    }
    const { config, faults } = await readEntry('a', entry);
    expect({ config, faults: faults.length }).toEqual({ config: undefined, faults: 1 });
  });

  it('never throws, whatever it is', async () => {
    const hostile = new Proxy({}, { get: () => expect.fail('looked at') });
    expect((await readEntry('a', hostile)).config).toBeUndefined();
  });

  it('keeps nothing that such a server does not have, and always has a type', async () => {
    const { config, faults } = await readEntry('a', { command: 'x', headers: { A: 'b' }, cwd: '/', env: { B: 'c' } });
    expect(config).toEqual({ type: 'stdio', command: 'x', env: { B: 'c' } });
    expect(faults.map(({ severity, path }) => [severity, ...path])).toEqual([
      ['warning', 'headers'],
      ['warning', 'cwd'],
    ]);
    expect((await readEntry('a', { url: 'https://x', env: { B: 'c' } })).config).toEqual({
      type: 'http',
      url: 'https://x',
    });
  });
});

describe('one that is made by hand, with the fields of both kinds', () => {
  const mixed = { type: 'stdio' as const, ...both, args: ['srv.mjs'], env: { DB_PASS: 'S3CRET-PASS' } };

  it('is judged by policy for what it runs', () => {
    const judge = (settings: Partial<Settings>) =>
      findPolicyFault({ name: 'a', config: mixed }, settings) !== undefined;
    expect(judge({ allowedMcpServers: [{ serverUrl: 'https://*.corp.example/*' }] })).toBe(true);
    expect(judge({ deniedMcpServers: [{ serverCommand: ['node', 'srv.mjs'] }] })).toBe(true);
  });

  it('E4: is started with the environment of a process, and shown without its variables', async () => {
    const seen: Record<string, string>[] = [];
    const workspace = {
      run: ({ env }: { env: Record<string, string> }) => {
        seen.push(env);
        return Promise.reject(new Error('it is not started here'));
      },
    };
    const parts = {
      env: { PATH: '/bin' },
      workspace,
      cwd: '/',
      requests: {},
      logger: () => {},
      clock: createFakeClock(),
    };
    const options = {
      parts: { ...parts, signal: new AbortController().signal },
      config: { env: { ANTHROPIC_API_KEY: 'sk-ours' }, configDir: project.configDir, cwd: '/' },
    } as unknown as Parameters<typeof reachServer>[2];
    await expect(reachServer('a', mixed, options)).rejects.toThrow('it is not started here');
    expect(seen).toEqual([{ PATH: '/bin', DB_PASS: 'S3CRET-PASS' }]);
    expect(showConfig(mixed)).toMatchObject({ command: 'node', env: { DB_PASS: '***' } });
  });
});

describe('a server that is named while a session runs', () => {
  const admit = async (name: string, entry: unknown) => {
    const settings = await loadSettings({ files: project.files, sources: ['user'], trusted: true });
    return admitServer(name, entry, settings);
  };

  it.each(BROKEN)('is refused when it is %j', async (entry, says) => {
    expect((await admit('a', entry)).blocked).toContain(says);
  });

  it('meets the same policy as others', async () => {
    project.write('config/settings.json', { deniedMcpServers: ['bad', { serverCommand: ['rm', '-rf'] }] });
    expect((await admit('bad', { command: 'x' })).blocked).toBe('deniedMcpServers names it');
    expect((await admit('a', { command: 'rm', args: ['-rf'] })).blocked).toBe('deniedMcpServers names it');
    expect(await admit('a', { command: 'x' })).toEqual({ config: { type: 'stdio', command: 'x' } });
    project.write('policy/managed-settings.json', { allowManagedMcpServersOnly: true });
    expect((await admit('a', { command: 'x' })).blocked).toBe('policy allows only its own MCP servers');
  });

  it('needs an address that can be one, without a password', async () => {
    expect((await admit('a', { type: 'http', url: 'foo' })).blocked).toBe('"url" must be an address: https://...');
    expect((await admit('a', { type: 'http', url: 'ftp://x' })).blocked).toContain('https:// or http://');
    expect((await admit('a', { type: 'http', url: 'https://u:p@x' })).blocked).toContain('"headers"');
  });
});
