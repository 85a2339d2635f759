import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, count] = process.argv.slice(2);
const { query } = await import(pathToFileURL(join(root, 'dist/sdk/index.js')).href);

const open = [];

/** A session that has answered once over HTTP and waits for the next message. */
async function openSession() {
  const more = Promise.withResolvers();
  const prompt = (async function* () {
    yield { type: 'user', message: { role: 'user', content: 'hi' }, parent_tool_use_id: null, session_id: '' };
    await more.promise;
  })();
  const run = query({ prompt, options: {} });
  open.push(run);
  for (;;) {
    const { value, done } = await run.next();
    if (done) throw new Error('The session ended before its answer.');
    if (value.type === 'result') return;
  }
}

const memoryMb = () => {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage.rss() / 1024 / 1024;
};

// What the first ones load stays, however many follow.
for (let n = 0; n < 5; n += 1) await openSession();
const before = memoryMb();
for (let n = 0; n < Number(count); n += 1) await openSession();
const eachMb = (memoryMb() - before) / Number(count);
console.log(JSON.stringify({ eachMb }));
for (const run of open) run.close();
process.exit();
