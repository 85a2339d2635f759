import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, count] = process.argv.slice(2);
const started = performance.now();
const { query } = await import(pathToFileURL(join(root, 'dist/sdk/index.js')).href);

async function ask() {
  for await (const message of query({ prompt: 'hi' })) {
    if (message.type === 'result' && message.is_error) throw new Error(JSON.stringify(message));
  }
}

await Promise.all(Array.from({ length: Number(count) }, ask));
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ seconds, memoryMb: process.resourceUsage().maxRSS / 1024 }));
process.exit();
