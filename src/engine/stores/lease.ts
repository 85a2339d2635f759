import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';

/** A process that writes a session. */
export interface Holder {
  pid: number;
  host: string;
  /** The world of process ids it lives in: containers may share the name of their host, but not its ids. */
  place: string;
  /** When the process began: ids are given again. Empty where the system does not say. */
  start: string;
  token: string;
  /** Since when, in milliseconds since 1970. */
  time: number;
}

/** Whoever gives no sign of life for this long on another machine is taken for dead. */
export const HEARTBEAT_MS = 10_000;
export const SILENT_MS = 30_000;

/** How long a holder that is just closing is waited for: about 1.5 s. */
const WAITS_MS = [5, 10, 20, 40, 75, ...Array.from({ length: 9 }, () => 150)];

let own: Pick<Holder, 'pid' | 'host' | 'place' | 'start'> | undefined;

/** This process as the holder of a new lease. */
export function createHolder(clock: Clock): Holder {
  own ??= { pid: process.pid, host: hostname(), place: readPlace(), start: readStart(process.pid) ?? '' };
  // Not of the clock: that of a test counts its ids, and no two holders may have the same.
  const token = [process.pid, Date.now(), Math.random() * 2 ** 52].map((part) => part.toString(36)).join('-');
  return { ...own, token, time: clock.now() };
}

/** Whether a holder lives; undefined for one that cannot be seen from here. */
export function isAlive(holder: Holder, seenBy: Holder): boolean | undefined {
  if (holder.host !== seenBy.host || holder.place !== seenBy.place) return undefined;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const start = readStart(holder.pid);
  return start === undefined || holder.start === '' || start === holder.start;
}

/** Undefined where it cannot be known. A process that has ended, and that nobody has buried, never began. */
function readStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program is in parentheses, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : fields[19];
  } catch {
    return undefined;
  }
}

/** Empty on systems where one machine has one world of ids. */
function readPlace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

/** A holder as it was written down, or undefined when that was something else. */
export function parseHolder(text: string): Holder | undefined {
  try {
    const value = JSON.parse(text) as Partial<Holder> | null;
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, host, place = '', start = '', token, time } = value;
    if (!Number.isInteger(pid) || typeof host !== 'string' || typeof token !== 'string') return undefined;
    return { pid: Number(pid), host, place, start, token, time: Number(time) };
  } catch {
    return undefined;
  }
}

/** `holder` is undefined when nobody can tell who it is. */
export function lockedError(
  sessionId: string,
  holder?: Omit<Holder, 'place' | 'start' | 'token'>,
  { leftMs }: { leftMs?: number | undefined } = {},
): HeddleError {
  if (leftMs !== undefined) {
    const seconds = Math.min(Math.ceil(leftMs / 1000), SILENT_MS / 1000);
    return new HeddleError('session_locked', `Session ${sessionId} has a lease that nobody can read: it is damaged.`, {
      retryable: true,
      hint: `Nothing was changed. It counts for ${seconds} s more, unless its holder renews it: try again then.`,
      data: { sessionId },
    });
  }
  const since = holder && Number.isFinite(holder.time) ? new Date(holder.time).toISOString() : undefined;
  const mine = holder?.pid === process.pid && holder.host === hostname();
  const who =
    holder === undefined
      ? 'another process'
      : `${mine ? 'this very process' : 'process'} ${holder.pid} on ${holder.host}`;
  return new HeddleError(
    'session_locked',
    `Session ${sessionId} is being written by ${who}${since === undefined ? '' : ` since ${since}`}.`,
    {
      retryable: true,
      hint: 'Nothing was changed. Close the session there, or fork it to go on beside it; a process that died lets go by itself.',
      data: { sessionId, ...(holder && { pid: holder.pid, host: holder.host }), ...(since && { since }) },
    },
  );
}

/** Tries until it is given something else than a holder, or `session_locked` is the answer. */
export async function waitForLease<T extends object>(options: {
  sessionId: string;
  clock: Clock;
  attempt: () => T | Locked | Promise<T | Locked>;
}): Promise<T> {
  const { sessionId, clock, attempt } = options;
  for (const wait of WAITS_MS) {
    const taken = await attempt();
    if (!(taken instanceof Locked)) return taken;
    await new Promise<void>((resolve) => clock.after(wait, resolve));
  }
  const taken = await attempt();
  if (taken instanceof Locked) throw lockedError(sessionId, taken.holder, taken);
  return taken;
}

/** The answer of an attempt that somebody else was faster than. */
export class Locked {
  readonly holder: Holder | undefined;
  /** Of a lease that cannot be read: how long it still counts. */
  readonly leftMs: number | undefined;
  constructor(holder: Holder | undefined, { leftMs }: { leftMs?: number } = {}) {
    this.holder = holder;
    this.leftMs = leftMs;
  }
}
