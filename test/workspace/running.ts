/** Looks at real processes for the tests of this folder and of the Bash tool. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** True for a process that runs; a zombie only waits to be counted. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2)[0] ?? 'X');
  } catch {
    return false;
  }
}

/** Looks until the condition holds. The time limit of the test bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(10);
}

export const untilGone = (pid: number): Promise<void> => until(() => !isRunning(pid));

/** The number in a file that a child writes about itself, once it is there. */
export async function pidFrom(path: string): Promise<number> {
  await until(() => existsSync(path) && /^\d+\n/.test(readFileSync(path, 'utf8')));
  return Number(readFileSync(path, 'utf8'));
}
