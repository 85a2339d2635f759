import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeFolder } from '../../remove-folder.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let built: string;
let home: string;
let folder: string;

beforeAll(async () => {
  built = mkdtempSync(join(tmpdir(), 'heddle-serve-'));
  // Packages are found as from the project itself.
  symlinkSync(join(root, 'node_modules'), join(built, 'node_modules'));
  await build({
    entryPoints: { main: join(root, 'src/cli/main.ts') },
    outdir: join(built, 'cli'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
  });
  writeFileSync(join(built, 'package.json'), '{"type":"module"}');
});
afterAll(() => removeFolder(built));

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'heddle-serve-home-'));
  folder = join(home, 'work');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.txt'), 'warp\nweft\n');
});
afterEach(() => removeFolder(home));

const serverParameters = (...flags: string[]) => ({
  command: process.execPath,
  args: [join(built, 'cli/main.js'), 'mcp', 'serve', ...flags],
  cwd: folder,
  env: {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    HEDDLE_CONFIG_DIR: join(home, 'config'),
    ANTHROPIC_API_KEY: 'planted',
  },
});

async function connect(...flags: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport(serverParameters(...flags)));
  return client;
}

const textOf = async (client: Client, name: string, args: Record<string, unknown>): Promise<string> => {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [first] = content as { text: string }[];
  return `${isError === true ? 'error: ' : ''}${first?.text}`;
};

/** Lines in, lines out. */
function talk(...flags: string[]) {
  const { command, args, cwd, env } = serverParameters(...flags);
  const child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    send: (...messages: unknown[]) =>
      messages.forEach((each) => child.stdin.write(`${typeof each === 'string' ? each : JSON.stringify(each)}\n`)),
    next: async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>,
    exit: new Promise<number | null>((resolve) => child.on('exit', resolve)),
  };
}

const call = (id: number, name: string, args: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('heddle mcp serve', () => {
  it('serves our tools to a public client under the usual permissions, with nobody to ask', async () => {
    const client = await connect('--allowedTools', 'Bash(printenv *)');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write']);
    expect(tools.find(({ name }) => name === 'Read')).toMatchObject({
      inputSchema: { type: 'object', required: ['file_path'] },
      annotations: { readOnlyHint: true },
    });
    const file = join(folder, 'a.txt');
    expect(await textOf(client, 'Read', { file_path: file })).toBe('1\twarp\n2\tweft');
    expect(await textOf(client, 'Write', { file_path: join(folder, 'b.txt'), content: 'x' })).toMatch(
      /^error: Writing to .* needs approval\. There is nobody here who can be asked/,
    );
    expect(existsSync(join(folder, 'b.txt'))).toBe(false);
    expect(await textOf(client, 'Read', {})).toMatch(/^error: .*file_path/s);
    expect(await textOf(client, 'Read', { file_path: '/etc/hosts' })).toMatch(/^error: .*nobody here/);
    expect(await textOf(client, 'Bash', { command: 'printenv ANTHROPIC_API_KEY' })).toMatch(/^error: Exit code 1/);
    await expect(client.callTool({ name: 'WebFetch', arguments: {} })).rejects.toThrow('There is no tool "WebFetch"');
    await client.close();
  });

  it('lets through what a mode and rules allow, and remembers what was read', async () => {
    const client = await connect('--permission-mode', 'acceptEdits', '--disallowedTools', 'Bash');
    const file = join(folder, 'a.txt');
    const change = { file_path: file, old_string: 'weft', new_string: 'woof' };
    expect(await textOf(client, 'Edit', change)).toMatch(/^error: /);
    await textOf(client, 'Read', { file_path: file });
    expect(await textOf(client, 'Edit', change)).not.toMatch(/^error: /);
    expect(readFileSync(file, 'utf8')).toBe('warp\nwoof\n');
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('Bash');
    await client.close();
  });

  it('speaks with clients of the first version of the public packages', async () => {
    const client = new OldClient({ name: 'old', version: '1' });
    await client.connect(new OldTransport(serverParameters()));
    expect(client.getServerVersion()).toMatchObject({ name: 'heddle' });
    await client.ping();
    await client.close();
  });

  it('answers nonsense with errors of JSON-RPC, prints nothing else, and ends with its input', async () => {
    const { child, send, next, exit } = talk();
    send('garbage', '[]', '{"jsonrpc":"1.0","id":1}', { jsonrpc: '2.0', id: {}, method: 'ping' });
    const codes = [];
    for (let at = 0; at < 4; at += 1) codes.push(((await next()).error as { code: number }).code);
    expect(codes).toEqual([-32_700, -32_600, -32_600, -32_600]);
    send({ jsonrpc: '2.0', id: 1, method: 'fly' });
    expect(await next()).toMatchObject({ id: 1, error: { code: -32_601 } });
    send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: [] });
    expect(await next()).toMatchObject({ id: 2, error: { code: -32_602 } });
    send({ jsonrpc: '2.0', id: 3, method: 'initialize', params: { protocolVersion: '1999-01-01' } });
    expect(await next()).toMatchObject({ id: 3, result: { protocolVersion: '2025-11-25' } });
    send({ jsonrpc: '2.0', id: 4, method: 'initialize', params: { protocolVersion: '2024-11-05' } });
    expect(await next()).toMatchObject({ id: 4, result: { protocolVersion: '2024-11-05' } });
    // Its answer still comes.
    child.stdin.end(`${JSON.stringify(call(5, 'Read', { file_path: join(folder, 'a.txt') }))}\n`);
    expect(await next()).toMatchObject({ id: 5, result: { content: [{ type: 'text' }] } });
    expect(await exit).toBe(0);
  });

  it('answers a batch with one where the protocol has them, and with an error elsewhere', async () => {
    const { child, send, next, exit } = talk();
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const greet = (protocolVersion: string) => ({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion },
    });
    send([ping(1)]);
    expect(await next()).toMatchObject({ id: null, error: { code: -32_600 } });
    send(greet('2025-03-26'));
    expect(await next()).toMatchObject({ id: 0, result: { protocolVersion: '2025-03-26' } });
    const read = call(3, 'Read', { file_path: join(folder, 'a.txt') });
    send([ping(1), { jsonrpc: '2.0', method: 'notifications/initialized' }, read, 7, greet('2025-06-18')]);
    expect(await next()).toMatchObject([
      { id: 1, result: {} },
      { id: 3, result: { content: [{ type: 'text' }] } },
      { id: null, error: { code: -32_600 } },
      { id: 0, error: { code: -32_600 } },
    ]);
    send([], [{ jsonrpc: '2.0', method: 'notifications/initialized' }], ping(2));
    expect(await next()).toMatchObject({ id: null, error: { code: -32_600 } });
    expect(await next()).toMatchObject({ id: 2 });
    send(greet('2025-06-18'));
    expect(await next()).toMatchObject({ id: 0 });
    send([ping(4)]);
    expect(await next()).toMatchObject({ id: null, error: { code: -32_600 } });
    child.stdin.end();
    expect(await exit).toBe(0);
  });

  it('runs nothing in the background, and does not say that it could', async () => {
    const client = await connect('--allowedTools', 'Bash');
    const { tools } = await client.listTools();
    expect(JSON.stringify(tools)).not.toMatch(/run_in_background|TaskOutput/);
    await expect(
      client.callTool({ name: 'Bash', arguments: { command: 'echo x', run_in_background: true } }),
    ).rejects.toThrow('Nothing runs in the background here');
    await client.close();
  });

  it('stops a call that is cancelled, answers others meanwhile, and leaves nothing running', async () => {
    const { child, send, next, exit } = talk('--allowedTools', 'Bash');
    const mark = join(folder, 'pid');
    send(call(1, 'Bash', { command: `echo $$ > ${mark}; exec sleep 600` }));
    send({ jsonrpc: '2.0', id: 2, method: 'ping' });
    expect(await next()).toMatchObject({ id: 2, result: {} });
    send(call(3, 'Bash', { command: 'echo after' }));
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await next()).toMatchObject({ id: 3, result: { content: [{ text: 'after' }] } });
    child.kill('SIGTERM');
    expect(await exit).toBe(143);
    const pid = existsSync(mark) ? Number(readFileSync(mark, 'utf8')) : undefined;
    if (pid !== undefined) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('does not take a line without end', async () => {
    const { child, send, next, exit } = talk();
    child.stdin.on('error', () => undefined);
    send('x'.repeat(17 * 1024 * 1024));
    expect(await next()).toMatchObject({ id: null, error: { code: -32_600 } });
    expect(await exit).toBe(0);
  });
});
