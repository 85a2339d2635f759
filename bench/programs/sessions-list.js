// Lists and searches the sessions of a configuration folder; the first of each kind does not count.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, configDir, kind, rounds] = process.argv.slice(2);
const sdk = await import(pathToFileURL(join(root, 'dist/sdk/index.js')).href);

const KINDS = {
  list: () => sdk.listSessions({ configDir }),
  // A rare word, a common one, a beginning, and words that stand in different messages.
  search: async () => {
    for (const query of ['needle4711', 'lease', 'work', 'first lease'])
      if ((await sdk.searchSessions(query, { configDir })).length === 0) throw new Error(`nothing has ${query}`);
  },
};
const QUERIES = { list: 1, search: 4 };

/** The longest time in which nothing else of the process had its turn. */
async function withWatch(act) {
  let longest = 0;
  let last = performance.now();
  let watching = true;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (watching) setImmediate(tick);
  };
  setImmediate(tick);
  await act();
  watching = false;
  return longest;
}

const startedAt = performance.now();
const firstBlockedMs = await withWatch(KINDS[kind]);
const firstMs = performance.now() - startedAt;
const times = [];
let blockedMs = 0;
for (let round = 0; round < Number(rounds); round += 1) {
  const began = performance.now();
  blockedMs = Math.max(blockedMs, await withWatch(KINDS[kind]));
  times.push((performance.now() - began) / QUERIES[kind]);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ firstMs, firstBlockedMs, eachMs: times[times.length >> 1], blockedMs }));
