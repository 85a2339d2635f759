// What our links to MCP servers add to the bare client library: a call over each transport, and twenty servers at once.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median } from './rounds.js';

const ROUNDS = 24;
const CALLS = 50;
const RATIO = 1.3;
const MANY = 20;
const OWN_CALLS = 400;
const OWN_MS = 0.2;
const ECHO = join(import.meta.dirname, 'programs/mcp-echo.js');

export async function measureMcp({ root, cwd, env }) {
  const kit = { ...(await load(root)), bare: await loadBare(), cwd, env };
  const everything = join(
    dirname(createRequire(join(root, 'package.json')).resolve('@modelcontextprotocol/server-everything/package.json')),
    'dist/index.js',
  );
  const [http, sse] = [await listen(everything, 'streamableHttp', env), await listen(everything, 'sse', env)];
  try {
    return [
      await measureOwn({ root, cwd, env }),
      await measureCalls(kit, 'stdio', { command: process.execPath, args: [everything, 'stdio'] }),
      await measureCalls(kit, 'HTTP', { type: 'http', url: `http://127.0.0.1:${http.port}/mcp` }),
      await measureCalls(kit, 'SSE', { type: 'sse', url: `http://127.0.0.1:${sse.port}/sse` }),
      await measureMany(kit),
    ];
  } finally {
    http.child.kill();
    sse.child.kill();
    await kit.workspace.close();
  }
}

/** A tool made with `tool()`, from one result to the next: permission, the way to the server and back, the message. */
async function measureOwn({ root, cwd, env }) {
  const door = (name) => import(pathToFileURL(join(root, 'dist', name, 'index.js')).href);
  const [{ createSdkMcpServer, query, tool }, { createScriptedModel }, { z }] = await Promise.all([
    door('sdk'),
    door('testing'),
    import('zod'),
  ]);
  const add = tool('add', 'Adds.', { a: z.number() }, async ({ a }) => ({
    content: [{ type: 'text', text: String(a + 1) }],
  }));
  const toolUse = Array.from({ length: OWN_CALLS }, (_, a) => ({ name: 'mcp__own__add', id: `t${a}`, input: { a } }));
  const options = {
    cwd,
    env,
    persistSession: false,
    mcpServers: { own: createSdkMcpServer({ name: 'own', version: '1', tools: [add] }) },
    allowedTools: ['mcp__own'],
    heddle: { provider: createScriptedModel([{ toolUse }, 'Done.']) },
  };
  const times = [];
  let last;
  for await (const { type } of query({ prompt: 'Go.', options })) {
    if (type !== 'user') continue;
    const now = performance.now();
    if (last !== undefined) times.push(now - last);
    last = now;
  }
  const value = median(times.slice(OWN_CALLS / 4));
  return { what: 'a call to a tool made with tool()', unit: 'ms', value, aim: `<= ${OWN_MS} ms`, met: value <= OWN_MS };
}

/** Our source, beside the packages that it needs. */
async function load(root) {
  const outfile = join(root, 'node_modules/.cache/heddle-bench/mcp.mjs');
  const source = (path) => JSON.stringify(join(root, 'src', path));
  await build({
    stdin: {
      contents: `export { connectRemote } from ${source('engine/mcp/remote/connect.ts')};
        export { createLocalWorkspace } from ${source('engine/workspace/local.ts')};
        export { systemClock } from ${source('protocol/plain.ts')};`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    splitting: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  const { connectRemote, createLocalWorkspace, systemClock: clock } = await import(pathToFileURL(outfile).href);
  return { connectRemote, clock, workspace: createLocalWorkspace({ clock }) };
}

const loadBare = async () => ({
  ...(await import('@modelcontextprotocol/client')),
  ...(await import('@modelcontextprotocol/client/stdio')),
});

async function connectOwn({ connectRemote, clock, workspace, cwd, env }, config) {
  const { signal } = new AbortController();
  const parts = {
    clock,
    workspace,
    cwd,
    env: { PATH: env.PATH, HOME: env.HOME },
    logger: () => {},
    requests: {},
    signal,
  };
  const link = await connectRemote('bench', config, parts);
  return {
    call: (message) => link.call('echo', { message }, { toolUseId: 'toolu_1', signal, onProgress: () => {} }),
    close: () => link.close(),
  };
}

async function connectBare({ bare, env }, { type, url, ...command }) {
  const { Client, SSEClientTransport, StdioClientTransport, StreamableHTTPClientTransport } = bare;
  const Transport = { http: StreamableHTTPClientTransport, sse: SSEClientTransport }[type];
  const carrier = Transport
    ? new Transport(new URL(url))
    : new StdioClientTransport({ ...command, env: { PATH: env.PATH, HOME: env.HOME }, stderr: 'ignore' });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(carrier);
  await client.listTools();
  return {
    call: (message) => client.callTool({ name: 'echo', arguments: { message } }, { onprogress: () => {} }),
    close: () => client.close(),
  };
}

/** Both in turn against servers of their own kind; ms of one call. */
async function measureCalls(kit, name, config) {
  const sides = { own: await connectOwn(kit, config), bare: await connectBare(kit, config) };
  const times = { own: [], bare: [] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [side, { call }] of Object.entries(sides)) {
      const started = performance.now();
      for (let n = 0; n < CALLS; n += 1) await call(`message ${n}`);
      if (round > 0) times[side].push((performance.now() - started) / CALLS);
    }
  }
  await Promise.all(Object.values(sides).map((side) => side.close()));
  const [value, floor] = [median(times.own), median(times.bare)];
  const met = value <= RATIO * floor;
  return { what: `a call over ${name}`, unit: 'ms', value, floor, aim: `<= ${RATIO}x of the bare client`, met };
}

async function measureMany(kit) {
  const config = { command: process.execPath, args: [ECHO] };
  const times = { own: [], bare: [] };
  for (let round = 0; round < 4; round += 1) {
    for (const [side, connect] of [
      ['own', connectOwn],
      ['bare', connectBare],
    ]) {
      const started = performance.now();
      const open = await Promise.all(Array.from({ length: MANY }, () => connect(kit, config)));
      if (round > 0) times[side].push(performance.now() - started);
      await Promise.all(open.map((each) => each.close()));
    }
  }
  const [value, floor] = [median(times.own), median(times.bare)];
  const met = value <= RATIO * floor;
  return {
    what: `${MANY} servers connect at once`,
    unit: 'ms',
    value,
    floor,
    aim: `<= ${RATIO}x of bare clients`,
    met,
  };
}

async function listen(program, transport, env) {
  const port = await freePort();
  const options = { env: { ...env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = spawn(process.execPath, [program, transport], options);
  await new Promise((resolve, reject) => {
    const look = (chunk) => /on port/i.test(chunk) && resolve();
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => reject(new Error(`${program} ended with ${code}`)));
  });
  return { child, port };
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
