// The CPU time of something, with what it leaves to the compiler threads: they go on after it is over.
import { setTimeout as sleep } from 'node:timers/promises';

const SETTLE_MS = 150;

export async function cpuOf(run) {
  await sleep(SETTLE_MS);
  const before = process.cpuUsage();
  const result = await run();
  await sleep(SETTLE_MS);
  const { user, system } = process.cpuUsage(before);
  return { result, cpuMs: (user + system) / 1000 };
}
