import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './kit.js';
import { removeFolder } from '../../remove-folder.js';

const CONFORMANCE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);

let folder: string;
let command: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-conformance-'));
  const args = await bundle('conformance-client.ts', folder);
  command = [process.execPath, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
});

afterAll(() => removeFolder(folder));

function run(scenario: string): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const args = [CONFORMANCE, 'client', '--command', command, '--scenario', scenario];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.on('close', (code) => resolve({ code, text }));
  });
}

describe('the public conformance scenarios for clients', () => {
  it.each([
    ['initialize', 1],
    ['tools_call', 1],
    ['elicitation-sep1034-client-defaults', 5],
    ['sse-retry', 3],
  ])('%s', async (scenario, checks) => {
    const { code, text } = await run(scenario);
    expect(text).toMatch(new RegExp(`Passed: ${checks}/${checks}, 0 failed`));
    expect(code).toBe(0);
  });
});
