/** A2: what a process holds after many queries in a row, against what it held after the first of them. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface Held {
  rss: number;
  heapUsed: number;
}

/**
 * V8 enlarges its young generation with the rate of allocation and compiles what runs often, and the allocator of the system
 * has a pool for each thread: all grow for a while in any program, and would hide a leak of ours. So they are kept small.
 */
const FIXED = {
  flags: ['--expose-gc', '--max-semi-space-size=1', '--no-opt', '--no-maglev'],
  env: { MALLOC_ARENA_MAX: '1' },
};

export async function runInARow(options: { queries: number; warm: number }): Promise<{ warm: Held; end: Held }> {
  const program = fileURLToPath(new URL('many-queries.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...FIXED.flags, program], {
    env: { ...process.env, ...FIXED.env, QUERIES: String(options.queries), WARM: String(options.warm) },
  });
  return JSON.parse(stdout) as { warm: Held; end: Held };
}
