/** The full counts, in minutes. `npm test` runs a small share of each. */
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../cli/run-cli.js';
import { runDropped } from './dropped-runs.js';
import { runKilledAgents } from './killed-agents.js';
import { runKilled } from './killed-runs.js';
import { runInARow } from './memory-runs.js';
import { runPermissions } from './permission-runs.js';
import { ATTACKS, runSwaps } from './swap-runs.js';

beforeAll(ensureBuilt, 120_000);

const SEED = 20_260_101;

it('C1: canUseTool is called and its answer used, 1,000 of 1,000 runs', async () => {
  expect(await runPermissions(1_000, SEED)).toEqual([]);
});

it('B1, B3: 200 runs in a subprocess, ended at random moments, leave no process', async () => {
  expect(await runKilled(200, SEED)).toEqual([]);
});

it('F1, C6, B3: 300 random kills of an agent that writes files lose nothing and repeat nothing', async () => {
  expect(await runKilledAgents(300, SEED)).toEqual([]);
});

it('100 runs over WebSockets that are cut at random lose nothing', async () => {
  expect(await runDropped(100, SEED)).toEqual([]);
});

it('A2: 1,000 queries in a row end within 10 % of what the first 100 held', async () => {
  const { warm, end } = await runInARow({ queries: 1_000, warm: 100 });
  expect(end.rss).toBeLessThan(warm.rss * 1.1);
  expect(end.heapUsed).toBeLessThan(warm.heapUsed * 1.1);
});

it.each(Object.entries(ATTACKS))(
  '1,000 swaps of %s for a link: nothing is written or told of outside',
  async (_, attack) => {
    expect(await runSwaps(1_000, attack)).toEqual([]);
  },
);
