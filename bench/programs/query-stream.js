import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cpuOf } from './settled-cpu.js';

const [longPrompt, root] = process.argv.slice(2);
const { query } = await import(pathToFileURL(join(root, 'dist/sdk/index.js')).href);

async function ask(prompt) {
  let text = '';
  let deltas = 0;
  for await (const message of query({ prompt, options: { includePartialMessages: true } })) {
    if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') continue;
    deltas += 1;
    text += message.event.delta.text;
  }
  return { text, deltas };
}

await ask('hi');
const { result, cpuMs } = await cpuOf(() => ask(longPrompt));
console.log(JSON.stringify({ deltas: result.deltas, cpuMs }));
