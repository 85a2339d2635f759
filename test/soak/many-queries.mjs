// Runs QUERIES queries in a row with the built package, and prints what the process holds after the first WARM of them and
// at the end. Started with --expose-gc.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query } from '../../dist/sdk/index.js';
import { createScriptedModel } from '../../dist/testing/index.js';

const { QUERIES = '1000', WARM = '100' } = process.env;
const cwd = mkdtempSync(join(tmpdir(), 'heddle-soak-'));
writeFileSync(join(cwd, 'notes.txt'), 'warp\nweft\n'.repeat(100));

async function runOne() {
  const provider = createScriptedModel([
    { text: 'First.', toolUse: { name: 'Read', input: { file_path: 'notes.txt' } } },
    { toolUse: { name: 'Write', input: { file_path: 'made.txt', content: 'made\n' } } },
    { text: 'Done. '.repeat(200), deltas: 100 },
  ]);
  const options = {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    includePartialMessages: true,
    canUseTool: async () => ({ behavior: 'allow' }),
    heddle: { provider },
  };
  let last;
  for await (const message of query({ prompt: 'Go', options })) last = message;
  if (last?.type !== 'result' || last.subtype !== 'success') throw new Error(JSON.stringify(last));
}

async function measure() {
  // What is released in one collection may be freed in the next; pages that became free are given back only in the last resort.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heapUsed };
}

try {
  let warm;
  for (let done = 0; done < Number(QUERIES); done += 1) {
    if (done === Number(WARM)) warm = await measure();
    await runOne();
  }
  process.stdout.write(JSON.stringify({ warm, end: await measure() }));
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
