/** A small share of what `npm run soak` does in full. */
import { beforeAll, expect, it } from 'vitest';
import { ensureBuilt } from '../cli/run-cli.js';
import { runDropped } from '../soak/dropped-runs.js';
import { runHostile } from './hostile-runs.js';
import { runKilled } from '../soak/killed-runs.js';
import { runInARow } from '../soak/memory-runs.js';
import { runPermissions } from '../soak/permission-runs.js';

beforeAll(ensureBuilt, 120_000);

const SEED = 7;

it('C1: canUseTool is called and its answer used, 30 of 30 runs', async () => {
  expect(await runPermissions(30, SEED)).toEqual([]);
});

it('B1, B3: 8 runs in a subprocess, ended at random moments, leave no process', async () => {
  expect(await runKilled(8, SEED)).toEqual([]);
});

it('B2, B5: 200 hostile Bash calls leave nothing behind', async () => {
  expect(await runHostile(200, SEED)).toEqual([]);
});

it('6 runs over WebSockets that are cut at random lose nothing', async () => {
  expect(await runDropped(6, SEED)).toEqual([]);
});

it('A2: 120 queries in a row end within 10 % of what the first 40 held', async () => {
  const { warm, end } = await runInARow({ queries: 120, warm: 40 });
  expect(end.rss).toBeLessThan(warm.rss * 1.1);
  expect(end.heapUsed).toBeLessThan(warm.heapUsed * 1.1);
});
