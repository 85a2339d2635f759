import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasMcpSources } from '../../../src/engine/mcp/sources/any.js';
import type { ResolvedServers } from '../../../src/engine/mcp/sources/resolve.js';
import { describeProblem } from '../../../src/engine/settings/problem.js';
import { loadSettings } from '../../../src/engine/settings/load.js';
import { createProject } from './kit.js';

let project: ReturnType<typeof createProject>;
beforeEach(() => {
  project = createProject();
});
afterEach(() => project.remove());

const stdio = (command: string) => ({ type: 'stdio', command });
/** Name to scope and command, or to why it may not run. */
const outline = ({ servers }: ResolvedServers) =>
  Object.fromEntries(
    [...servers].map(([name, { scope, config, blocked }]) => [
      name,
      blocked ?? `${scope}: ${'url' in config ? config.url : config.command}`,
    ]),
  );
const texts = ({ problems }: ResolvedServers): string[] =>
  problems.map((problem) => describeProblem(problem).replace(`${project.folder}/`, ''));

async function approve(resolved: ResolvedServers, ...names: string[]): Promise<void> {
  for (const name of names) {
    const approval = resolved.waiting.get(name)?.approval;
    if (approval === undefined) throw new Error(`${name} asks for no approval`);
    await project.approvals.approve(approval);
  }
}

describe('sources of MCP servers', () => {
  it('takes JSON and files of --mcp-config, with and without mcpServers, the later one before the earlier', async () => {
    project.write(
      'project/more.json',
      '{\n  // bare\n  "$schema": "https://example.com/servers.json",\n  "a": { "command": "late" },\n  "c": { "url": "https://c" },\n}',
    );
    const flags = ['{"mcpServers":{"a":{"command":"early"},"b":{"command":"b"},"own":{"type":"sdk","name":"own"}}}'];
    const resolved = await project.resolve({ flags: [...flags, 'more.json'] });
    expect(outline(resolved)).toEqual({ a: 'flag: late', b: 'flag: b', c: 'flag: https://c' });
    expect(resolved.problems).toEqual([]);
    expect(resolved.servers.get('a')?.source).toBe(`${project.root}/more.json`);
    expect(resolved.servers.get('b')?.source).toBe('--mcp-config[0]');
  });

  it('lets the stronger source win: policy, flags, local, project, user', async () => {
    const write = (file: string, names: string[]) =>
      project.write(file, { mcpServers: Object.fromEntries(names.map((name) => [name, stdio(file)])) });
    write('policy/managed-settings.json', ['a']);
    const flag = JSON.stringify({ a: stdio('flag'), b: stdio('flag') });
    write('project/.claude/settings.local.json', ['a', 'b', 'c']);
    write('project/.mcp.json', ['a', 'b', 'c', 'd']);
    write('project/.claude/settings.json', ['a', 'b', 'c', 'd', 'e']);
    write('config/settings.json', ['a', 'b', 'c', 'd', 'e', 'f']);
    await approve(await project.resolve({ flags: [flag] }), 'd', 'e');
    expect(outline(await project.resolve({ flags: [flag] }))).toEqual({
      a: 'managed: policy/managed-settings.json',
      b: 'flag: flag',
      c: 'local: project/.claude/settings.local.json',
      d: 'project: project/.mcp.json',
      e: 'project: project/.claude/settings.json',
      f: 'user: config/settings.json',
    });
    expect(outline(await project.resolve({ flags: [flag], strict: true }))).toEqual({
      a: 'managed: policy/managed-settings.json',
      b: 'flag: flag',
    });
  });

  it('names file and line of what is wrong, and loads the rest', async () => {
    project.write(
      'project/.mcp.json',
      `{
  "mcpServers": {
    "good": { "command": "good" },
    "odd": { "type": "carrier-pigeon", "command": "x" },
    "empty": {},
    "list": [],
    "args": { "command": "x", "args": "y" },
    "header": { "url": "https://x", "headers": { "a b": "1" } },
    "typo": { "command": "x", "enviroment": {} },
    "sdk": { "type": "sdk", "name": "x" },
    "twice": { "command": "1" },
    "twice": { "command": "2" },
    "slow": { "command": "x", "timeout": 0 },
    "a\\u202eb": { "command": "x" }
  }
}`,
    );
    const resolved = await project.resolve();
    expect([...resolved.servers.keys()]).toEqual(['good', 'typo']);
    expect(texts(resolved)).toEqual([
      'project/.mcp.json:12:5: mcpServers.twice: "twice" stands here twice; only one would count',
      'project/.mcp.json:4:14: mcpServers.odd.type: there is no server of type "carrier-pigeon"; known are stdio, http, sse',
      'project/.mcp.json:5:5: mcpServers.empty: a server needs "command" (stdio) or "url" (http, sse)',
      'project/.mcp.json:6:5: mcpServers.list: a server must be an object: { "command": ... } or { "url": ... }',
      expect.stringMatching(/^project\/\.mcp\.json:7:31: mcpServers\.args\.args: Invalid input: expected array/),
      'project/.mcp.json:8:50: mcpServers.header.headers["a b"]: this is no name of a header',
      'project/.mcp.json:9:31: mcpServers.typo.enviroment: this key does nothing here',
      'project/.mcp.json:10:14: mcpServers.sdk.type: a server of type "sdk" lives in a program, not in a file',
      'project/.mcp.json:13:31: mcpServers.slow.timeout: "timeout" must be a number of milliseconds above 0',
      expect.stringMatching(/^project\/\.mcp\.json:14:5: .*its name has characters that cannot be seen$/),
    ]);
    expect(resolved.problems.some(({ fatal }) => fatal)).toBe(false);
  });

  it.each([
    ['no JSON', '.mcp.json:1:3: this is no JSON value', '{ x }'],
    ['a list', '.mcp.json:1:1: it must be one JSON object: { "mcpServers": { ... } }', '[]'],
    ['a wrong table', '.mcp.json:1:3: mcpServers: it must be an object: { "name": { ... } }', '{ "mcpServers": 1 }'],
    ['nothing', '.mcp.json:1:1: the file is empty; write {} or delete it', ''],
  ])('tells of a file that holds %s', async (_, text, content) => {
    project.write('project/.mcp.json', content);
    project.write('config/settings.json', { mcpServers: { mine: stdio('mine') } });
    const resolved = await project.resolve();
    expect(texts(resolved)).toEqual([`project/${text}`]);
    expect(outline(resolved)).toEqual({ mine: 'user: mine' });
  });

  it('says that a flag which cannot be read is fatal', async () => {
    const { problems } = await project.resolve({ flags: ['missing.json', '{"a":'] });
    expect(problems.map(({ fatal, file, text }) => [fatal, file, text])).toEqual([
      [true, '--mcp-config[1]', 'the file ends too early: a value is expected'],
      [true, `${project.root}/missing.json`, 'the file of --mcp-config was not found'],
    ]);
  });

  it('accepts other spellings of the HTTP transport, and an address alone', async () => {
    const flags = ['{"a":{"type":"streamable-http","url":"https://a"},"b":{"url":"http://b"}}'];
    const { servers } = await project.resolve({ flags });
    expect([...servers.values()].map(({ config }) => config.type)).toEqual(['http', 'http']);
  });

  it('refuses an address that is none', async () => {
    const flags = ['{"a":{"url":"file:///etc/passwd"},"b":{"url":"nowhere"}}'];
    expect(outline(await project.resolve({ flags }))).toEqual({
      a: '"url" must begin with https:// or http://',
      b: '"url" must be an address: https://...',
    });
  });

  it('refuses names that would mix up rules or tools', async () => {
    project.write('project/.mcp.json', { mcpServers: { github__x: stdio('x'), 'a b': stdio('x'), a_b: stdio('y') } });
    await approve(await project.resolve(), 'a b', 'a_b');
    const resolved = await project.resolve({ flags: ['{"mine__x":{"command":"mine"}}'] });
    expect(outline(resolved)).toEqual({
      mine__x: 'flag: mine',
      github__x: expect.stringContaining('could make rules for another server cover its tools'),
      'a b': 'project: x',
      a_b: 'the names of its tools would begin as those of "a b"',
    });
    expect(resolved.problems.map(({ severity, line }) => [severity, line])).toEqual([
      ['warning', 1],
      ['error', 3],
      ['error', 11],
    ]);
  });

  it('stops at a thousand servers', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_100 }, (_, at) => [`s${at}`, stdio('x')]));
    const { servers, problems } = await project.resolve({ flags: [JSON.stringify(many)] });
    expect([servers.size, problems.length]).toEqual([1_000, 1]);
  });

  it('knows cheaply when there is nothing', async () => {
    const settings = async () => loadSettings({ files: project.files, sources: ['user'], trusted: true });
    const none = { flags: [], strict: false, projectFile: project.projectFile };
    expect(hasMcpSources({ ...none, settings: await settings() })).toBe(false);
    project.write('project/.mcp.json', '{}');
    expect(hasMcpSources({ ...none, settings: await settings() })).toBe(true);
    expect(hasMcpSources({ ...none, strict: true, settings: await settings() })).toBe(false);
    project.write('config/settings.json', { mcpServers: { a: stdio('x') } });
    expect(hasMcpSources({ flags: [], strict: false, settings: await settings() })).toBe(true);
  });
});

describe('policy about MCP servers', () => {
  const flags = [
    JSON.stringify({
      npx: { command: 'npx', args: ['-y', 'x'] },
      ours: { url: 'https://mcp.corp.example/x' },
      fake: { url: 'https://evil.example/mcp.corp.example/x' },
      login: { url: 'https://mcp.corp.example@evil.example/x' },
    }),
  ];
  const DENIED = 'deniedMcpServers names it';
  const UNLISTED = 'allowedMcpServers does not name it';

  it('denies by name, command and address', async () => {
    const deniedMcpServers = [{ serverCommand: ['npx', '-y', 'x'] }, { serverUrl: 'https://*.corp.example/*' }];
    project.write('policy/managed-settings.json', { deniedMcpServers });
    project.write('config/settings.json', { deniedMcpServers: [{ serverName: 'fake' }] });
    expect(outline(await project.resolve({ flags }))).toMatchObject({ npx: DENIED, ours: DENIED, fake: DENIED });
  });

  it('allows what is listed, and no address that only looks like it', async () => {
    project.write('policy/managed-settings.json', {
      allowedMcpServers: [{ serverUrl: 'https://*.corp.example/*' }, { serverName: 'npx' }],
    });
    expect(outline(await project.resolve({ flags }))).toMatchObject({
      npx: 'flag: npx',
      ours: 'flag: https://mcp.corp.example/x',
      fake: UNLISTED,
      login: UNLISTED,
    });
  });

  it('lets nobody but policy have servers where it says so', async () => {
    project.write('policy/managed-settings.json', {
      allowManagedMcpServersOnly: true,
      mcpServers: { corp: stdio('corp') },
    });
    project.write('config/settings.json', { mcpServers: { mine: stdio('mine') } });
    expect(outline(await project.resolve({ flags }))).toMatchObject({
      corp: 'managed: corp',
      mine: 'policy allows only its own MCP servers',
      npx: 'policy allows only its own MCP servers',
    });
  });
});
