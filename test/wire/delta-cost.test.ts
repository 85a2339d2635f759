import { createHook } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { createMemoryPair, Peer } from '../../src/wire/index.js';
import { createManualClock, textDelta } from './doubles.js';

const COUNT = 1000;

/** How many promises are made while something runs. */
async function countPromises(run: () => Promise<void>): Promise<number> {
  let made = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') made += 1;
    },
  });
  hook.enable();
  try {
    await run();
  } finally {
    hook.disable();
  }
  return made;
}

/** Sends on one side of a memory pair and reads on the other; `pause` runs after each send. */
async function stream(pause?: () => Promise<void>): Promise<number> {
  const clock = createManualClock();
  const [left, right] = createMemoryPair();
  const host = new Peer(left, { side: 'host', clock });
  const engine = new Peer(right, { side: 'engine', clock });
  await Promise.resolve();
  const frames = Array.from({ length: COUNT }, (_, n) => textDelta(String(n)));
  let seen = 0;
  const read = async (): Promise<void> => {
    for await (const _message of host.messages) seen += 1;
  };
  const made = await countPromises(async () => {
    const reading = read();
    for (const frame of frames) {
      engine.send(frame);
      if (pause !== undefined) await pause();
    }
    engine.end();
    await reading;
  });
  expect(seen).toBe(COUNT);
  return made;
}

describe('the way of a delta from one side to the consumer (A5)', () => {
  it('costs at most two promises when deltas come in a batch', async () => {
    expect(await stream()).toBeLessThanOrEqual(COUNT * 2 + 50);
  });

  it('costs at most two promises when the consumer waits for each one', async () => {
    const nothing = Promise.resolve();
    const byThePause = await countPromises(async () => {
      for (let n = 0; n < COUNT; n += 1) await nothing;
    });
    const made = await stream(() => nothing);
    expect(made - byThePause).toBeLessThanOrEqual(COUNT * 2 + 50);
  });
});
