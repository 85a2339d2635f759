/** What runs on this machine, as far as a test may know. */
import { readdirSync, readFileSync } from 'node:fs';

/** The processes below this one, with theirs; empty where the system does not tell. */
export function descendantsOf(pid: number): number[] {
  const found: number[] = [];
  for (const child of childrenOf(pid)) found.push(child, ...descendantsOf(child));
  return found;
}

function childrenOf(pid: number): number[] {
  try {
    return listNumbers(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** The processes in whose environment this text stands; none where the system does not tell. */
export const bearersOf = (text: string): number[] =>
  listNumbers('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });

function listNumbers(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** A process that has ended and that nobody has asked about yet is not alive. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^\d+ \(.*\) [ZX] /s.test(stat);
  } catch {
    return process.platform !== 'linux';
  }
}
