import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { ModelProvider, ModelRequest } from '../../src/protocol/index.js';
import { removeFolder } from '../remove-folder.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder);
});

/** A folder that is gone after the test. */
export function scratch(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-kit-')));
  folders.push(folder);
  return folder;
}

export const ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nowhere' };

export const ask = (text: string, more: Partial<ModelRequest['body']> = {}): ModelRequest => ({
  body: { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: text }], stream: true, ...more },
  betas: [],
});

/** The text that a provider answers. Throws what it throws. */
export async function answer(provider: ModelProvider, request: ModelRequest): Promise<string> {
  let text = '';
  for await (const batch of provider.stream(request, { signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
    }
  }
  return text;
}

/** What `run` throws. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
