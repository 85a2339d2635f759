import { createHook } from 'node:async_hooks';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { query } from '../../src/sdk/index.js';
import { createMemoryStore, createScriptedModel } from '../../src/testing/index.js';

/** As few as the network would deliver them in. The same for every run, so that they cancel out. */
const BATCHES = 10;

/** Promises made by the whole process while an in-process query() streams so many deltas. */
async function countPromises(deltas: number): Promise<number> {
  const text = 'word '.repeat(deltas);
  const heddle = { provider: createScriptedModel([{ text, deltas, batches: BATCHES }]), store: createMemoryStore() };
  const options = { cwd: tmpdir(), env: {}, model: 'sonnet', includePartialMessages: true, heddle };
  let made = 0;
  let seen = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') made += 1;
    },
  }).enable();
  try {
    for await (const message of query({ prompt: 'go', options })) {
      if (message.type === 'stream_event' && message.event.type === 'content_block_delta') seen += 1;
    }
  } finally {
    hook.disable();
  }
  expect(seen).toBe(deltas);
  return made;
}

/** What else goes on in the process only adds to them. */
async function leastPromises(deltas: number): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 5; round += 1) least = Math.min(least, await countPromises(deltas));
  return least;
}

describe('the way of a delta from the provider to a for-await over query() (A5)', () => {
  it('costs at most two promises', async () => {
    await countPromises(10);
    const [fewer, more] = [2_000, 3_000];
    const made = (await leastPromises(more)) - (await leastPromises(fewer));
    expect(made / (more - fewer)).toBeLessThanOrEqual(2);
  });
});
