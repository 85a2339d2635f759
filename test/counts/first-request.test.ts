import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Options, query } from '../../src/sdk/index.js';
import { createMemoryStore, type FakeApi, type FakeRequest, startFakeApi } from '../../src/testing/index.js';
import { removeFolder } from '../remove-folder.js';

const KB = 1024;
const MOST_REQUEST_BYTES = 16 * KB;
const MOST_TOOLS_BYTES = 10 * KB;

const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'heddle-first-request-')));
let api: FakeApi;
beforeAll(async () => {
  api = await startFakeApi(['Hello.'], { repeatLast: true });
});
afterAll(async () => {
  await api.close();
  for (const folder of folders) removeFolder(folder);
});

/** The first request of a new session with the default tools and the default prompt of the program. */
async function firstRequest(options: Options = {}): Promise<FakeRequest> {
  const run = query({
    prompt: 'hi',
    options: {
      cwd: folders[0],
      env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: api.url },
      systemPrompt: { type: 'preset', preset: 'claude_code' },
      heddle: { store: createMemoryStore() },
      ...options,
    },
  });
  for await (const message of run) if (message.type === 'result') expect(message.is_error).toBe(false);
  const request = api.requests.at(-1);
  if (request === undefined) throw new Error('The API was not asked.');
  return request;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('the first request', () => {
  it('takes at most 16 KB, its tools at most 10 KB', async () => {
    const { bytes, body } = await firstRequest();
    expect(body.tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(['Bash', 'Edit', 'Read']));
    expect(bytes).toBeLessThanOrEqual(MOST_REQUEST_BYTES);
    expect(bytesOf(body.tools)).toBeLessThanOrEqual(MOST_TOOLS_BYTES);
    expect(bytes).toBeGreaterThan(bytesOf(body.tools) + bytesOf(body.system));
  });

  it('has the same bytes of tools and system prompt in every session, so that the prompt cache serves them all', async () => {
    const stable = async (options?: Options) => {
      const { body } = await firstRequest(options);
      return JSON.stringify({ tools: body.tools, system: body.system });
    };
    const first = await stable();
    expect(await stable()).toBe(first);
    expect(await stable({ cwd: folders[1] })).toBe(first);
    expect(await stable({ disallowedTools: ['Bash'] })).not.toBe(first);
  });
});
