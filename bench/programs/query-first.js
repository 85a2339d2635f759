import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const urlOf = (file) => pathToFileURL(join(process.argv[2], 'dist', file)).href;

// Loaded apart, so that only the package itself counts as its import.
const { createAnswer } = await import('./one-answer.js');

const beforeImport = performance.now();
const { query } = await import(urlOf('sdk/index.js'));
const imported = performance.now() - beforeImport;

/** Milliseconds from the call to the first message; the rest of the run is waited for. */
async function timeFirst() {
  const started = performance.now();
  let firstMs;
  for await (const message of query({
    prompt: 'hi',
    options: { model: 'sonnet', heddle: { provider: createAnswer() } },
  })) {
    firstMs ??= performance.now() - started;
    if (message.type === 'result' && message.is_error) throw new Error(JSON.stringify(message));
  }
  return firstMs;
}

const firstMs = await timeFirst();
const secondMs = await timeFirst();
console.log(JSON.stringify({ firstMs, secondMs, importedMs: imported + firstMs }));
