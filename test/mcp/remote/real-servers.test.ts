import { mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { McpLink, McpProgress } from '../../../src/engine/mcp/link.js';
import type { RemoteServerConfig } from '../../../src/engine/mcp/remote/connect.js';
import { type Bench, calmly, createBench, EVERYTHING, FILESYSTEM, MEMORY, node, quiet, textOf } from './kit.js';
import { removeFolder } from '../../remove-folder.js';
import { listenEverywhere } from './everything.js';

const servers = createBench();
let bench: Bench = createBench();
const addresses: { http?: string; sse?: string } = {};

beforeAll(async () => {
  Object.assign(addresses, await listenEverywhere(servers));
});

afterAll(() => servers.close());

afterEach(async () => {
  await bench.close();
  bench = createBench();
});

const CARRIERS: [string, () => RemoteServerConfig][] = [
  ['stdio', () => node(EVERYTHING, 'stdio')],
  ['http', () => ({ type: 'http', url: addresses.http ?? '' })],
  ['sse', () => ({ type: 'sse', url: addresses.sse ?? '' })],
];

describe.each(CARRIERS)('server-everything over %s', (_, config) => {
  it('G8: is greeted, listed and called', async () => {
    const link = await bench.connect(config());
    expect(link.serverInfo?.name).toMatch(/everything/);
    expect(link.protocolVersion).toBe('2025-11-25');
    expect(link.instructions).toEqual(expect.any(String));
    expect(link.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']));
    expect(link.prompts.map(({ name }) => name)).toContain('simple-prompt');
    expect(link.resources.length).toBeGreaterThan(0);
    expect(textOf(await link.call('echo', { message: 'hello' }, calmly))).toBe('Echo: hello');
    const image = await link.call('get-tiny-image', {}, calmly);
    expect(image.content?.map(({ type }) => type)).toContain('image');
    const structured = await link.call('get-structured-content', { location: 'Chicago' }, calmly);
    expect(structured.structuredContent).toMatchObject({ conditions: expect.any(String) });
  });

  it('reads resources and prompts', async () => {
    const link = await bench.connect(config());
    const [resource] = link.resources;
    const [content] = await link.readResource(resource?.uri ?? '', { signal: quiet });
    expect(content?.uri).toBe(resource?.uri);
    expect(content?.text ?? content?.blob).toEqual(expect.any(String));
    const messages = await link.getPrompt('args-prompt', { city: 'Bern' }, { signal: quiet });
    expect(messages[0]).toMatchObject({
      role: 'user',
      content: { type: 'text', text: expect.stringContaining('Bern') },
    });
  });

  it('G8: tells progress', async () => {
    const link = await bench.connect(config());
    const progress: McpProgress[] = [];
    const onProgress = (each: McpProgress) => void progress.push(each);
    await link.call('trigger-long-running-operation', { duration: 0.3, steps: 3 }, { ...calmly, onProgress });
    expect(progress.map((each) => each.progress)).toEqual([1, 2, 3]);
    expect(progress[0]?.total).toBe(3);
  });

  it('asks for samples, roots and forms', async () => {
    const asked: unknown[] = [];
    const link = await bench.connect(config(), {
      requests: {
        sample: async (params) => {
          asked.push(params.messages);
          return { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } };
        },
        roots: () => [{ uri: 'file:///tmp', name: 'tmp' }],
        elicit: async ({ mode, message }) => {
          asked.push({ mode, message });
          return { action: 'accept', content: { name: 'Ada' } };
        },
      },
    });
    const waiting = await untilListed(link, [
      'trigger-sampling-request',
      'trigger-elicitation-request',
      'get-roots-list',
    ]);
    expect(waiting).toBe(true);
    expect(textOf(await link.call('trigger-sampling-request', { prompt: 'Say it' }, calmly))).toContain('sampled');
    expect(textOf(await link.call('trigger-elicitation-request', {}, calmly))).toContain('Ada');
    expect(textOf(await link.call('get-roots-list', {}, calmly))).toContain('file:///tmp');
    expect(asked).toHaveLength(2);
  });

  it('cancels a call and lives on', async () => {
    const link = await bench.connect(config());
    const stop = new AbortController();
    const call = link.call(
      'trigger-long-running-operation',
      { duration: 60, steps: 600 },
      { toolUseId: 'toolu_1', signal: stop.signal, onProgress: () => stop.abort() },
    );
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(textOf(await link.call('echo', { message: 'still here' }, calmly))).toBe('Echo: still here');
  });

  it('gives errors of tools as results', async () => {
    const link = await bench.connect(config());
    expect(await link.call('get-sum', { a: 'no number' }, calmly)).toMatchObject({ isError: true });
    expect(await link.call('get-sum', { a: 1, b: 2 }, calmly)).not.toHaveProperty('isError');
  });

  it('closes twice, and calls after that say so', async () => {
    const link = await bench.connect(config());
    const lost: Error[] = [];
    link.onLost((reason) => lost.push(reason));
    await Promise.all([link.close(), link.close()]);
    await expect(link.call('echo', { message: 'x' }, calmly)).rejects.toMatchObject({
      code: 'channel_closed',
      message: 'MCP server box failed in call of echo: the connection is closed.',
    });
    expect(lost).toEqual([]);
  });
});

/** Some tools of server-everything appear once it knows what we can do. */
async function untilListed(link: McpLink, names: readonly string[]): Promise<boolean> {
  const has = () => names.every((name) => link.tools.some((tool) => tool.name === name));
  if (has()) return true;
  await new Promise<void>((resolve) => link.onChange(() => has() && resolve()));
  return has();
}

describe('other servers', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-mcp-')));
  });

  afterAll(() => removeFolder(folder));

  it('server-filesystem reads and writes', async () => {
    await writeFile(join(folder, 'a.txt'), 'what is in it');
    const link = await bench.connect(node(FILESYSTEM, folder));
    expect(textOf(await link.call('read_text_file', { path: join(folder, 'a.txt') }, calmly))).toBe('what is in it');
    await link.call('write_file', { path: join(folder, 'b.txt'), content: 'new' }, calmly);
    expect(await readFile(join(folder, 'b.txt'), 'utf8')).toBe('new');
    expect((await link.call('read_text_file', { path: '/etc/hostname' }, calmly)).isError).toBe(true);
  });

  it('server-memory keeps what it is told, in the environment it is given', async () => {
    const file = join(folder, 'memory.jsonl');
    const link = await bench.connect({ ...node(MEMORY), env: { MEMORY_FILE_PATH: file } } as RemoteServerConfig);
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    await link.call('create_entities', { entities }, calmly);
    expect(textOf(await link.call('read_graph', {}, calmly))).toContain('writes programs');
    expect(await readFile(file, 'utf8')).toContain('Ada');
  });
});
