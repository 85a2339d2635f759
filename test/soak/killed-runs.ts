/** B1, B3: runs in a subprocess that end at a random moment, in every way there is, leave no process behind. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeddleError } from '../../src/protocol/plain.js';
import { type Options, type Query, query } from '../../src/sdk/index.js';
import { type FakeApi, startFakeApi } from '../../src/testing/index.js';
import { bearersOf, descendantsOf, isRunning } from './processes.js';
import { createRandom, type Random, runMany } from './random.js';
import { removeFolder } from '../remove-folder.js';

/** How a run is ended, and with what it then ends. */
const EXPECTED = {
  close: 'done',
  break: 'done',
  abort: 'aborted',
  TERM: 'process_failed',
  KILL: 'process_failed',
} as const;
const WAYS = Object.keys(EXPECTED) as (keyof typeof EXPECTED)[];
const LONGEST_START_MS = 400;
/** B3 gives orphans 5 s; a busy machine may take longer to see it. */
const GONE_WITHIN_MS = 20_000;

/** Resolves with what went wrong. */
export async function runKilled(count: number, seed: number): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'heddle-soak-'));
  // The children of the tool are of the kinds that get away most easily.
  const command = 'sleep 300 & nohup sleep 301 & setsid sleep 302 & sleep 303';
  const api = await startFakeApi([{ toolUse: { name: 'Bash', input: { command } } }], { repeatLast: true });
  try {
    return await runMany({ count, atOnce: 4 }, (index) =>
      runOne(join(root, String(index)), { api, random: createRandom(seed + index) }),
    );
  } finally {
    await api.close();
    removeFolder(root);
  }
}

async function runOne(cwd: string, { api, random }: { api: FakeApi; random: Random }): Promise<void> {
  mkdirSync(cwd);
  const way = random.pick(WAYS);
  const since = random.pick(['start', 'call'] as const);
  const moment = random.below(since === 'start' ? LONGEST_START_MS : 100);
  const abortController = new AbortController();
  const spawned = Promise.withResolvers<number>();
  const marker = `${cwd}/of-this-run`;
  const options: Options = {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      HEDDLE_SOAK: marker,
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: api.url,
    },
    abortController,
    allowedTools: ['Bash'],
    canUseTool: async () => ({ behavior: 'allow' }),
    heddle: { carrier: 'subprocess' },
    spawnClaudeCodeProcess: ({ command, args, cwd: folder, env }) => {
      const child = spawn(command, args, { cwd: folder, env, stdio: 'pipe' });
      spawned.resolve(child.pid ?? 0);
      return child;
    },
  };
  const run = query({ prompt: 'Go', options });
  const called = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const outcome = consume(run, { onCall: called.resolve, leave: leave.promise });
  const engine = await spawned.promise;
  if (since === 'call') await called.promise;
  await new Promise((resolve) => setTimeout(resolve, moment));
  const family = [engine, ...descendantsOf(engine)];
  if (way === 'break') leave.resolve();
  if (way === 'close') run.close();
  if (way === 'abort') abortController.abort();
  if (way === 'TERM' || way === 'KILL') process.kill(engine, `SIG${way}`);
  const code = await outcome;
  const left = await whoStays(() => [...family, ...bearersOf(marker)].filter(isRunning));
  if (left.length > 0)
    throw new Error(`${way} ${moment} ms after the ${since} left ${left.length} of ${family.length} processes`);
  if (code !== EXPECTED[way]) throw new Error(`${way} ${moment} ms after the ${since} ended with ${code}`);
}

/** How a query ended: `done`, or the code of its error. */
async function consume(run: Query, on: { onCall: () => void; leave: Promise<void> }): Promise<string> {
  const left = on.leave.then(() => ({ done: true, value: undefined }) as const);
  try {
    for (;;) {
      const { done, value } = await Promise.race([run.next(), left]);
      if (value?.type === 'assistant') on.onCall();
      if (!done) continue;
      await run.return();
      return 'done';
    }
  } catch (thrown) {
    if (thrown instanceof HeddleError) return thrown.code;
    throw thrown;
  }
}

async function whoStays(look: () => number[]): Promise<number[]> {
  const deadline = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const left = look();
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
