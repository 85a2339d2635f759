/** What /proc tells about running processes. On systems without it every question is answered with nothing. */
import { readdirSync, readFileSync } from 'node:fs';

interface Row {
  pid: number;
  state: string;
  parent: number;
  group: number;
  session: number;
  /** Clock ticks since boot; with the pid it names a process for good, since pids are used again. */
  startedAt: number;
}

/** What is known of the processes that one call has started. */
export interface Family {
  /** Text that the environment of every member carries, unless it was cleared. */
  marker: string;
  /** The group leader while it is certainly ours: absent once it has been reaped and its pid may belong to others. */
  leader?: number;
  /** Members seen so far with their start times. A walk adds to it and drops the dead. */
  members: Map<number, number>;
}

const readRow = (pid: number): Row | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything, so fields are counted from the last one.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent, group, session] = fields;
    return {
      pid,
      state,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      startedAt: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
};

const isAlive = (row: Row | undefined): row is Row => row !== undefined && row.state !== 'Z' && row.state !== 'X';

const carriesMarker = (pid: number, marker: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`).includes(marker);
  } catch {
    return false;
  }
};

const listRows = (): Row[] | undefined => {
  try {
    const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return names.map((name) => readRow(Number(name))).filter(isAlive);
  } catch {
    return undefined;
  }
};

/** When a process was started, for later comparison; undefined when it is gone or there is no /proc. */
export const startTimeOf = (pid: number): number | undefined => readRow(pid)?.startedAt;

const isMember = (row: Row, family: Family): boolean => {
  if (family.members.get(row.pid) === row.startedAt) return true;
  if (family.leader !== undefined && (row.group === family.leader || row.session === family.leader)) return true;
  return carriesMarker(row.pid, family.marker);
};

/**
 * Finds every living member of the family: its group and session, whoever carries its marker, and all their
 * descendants. False where this system has no /proc.
 */
export function walkFamily(family: Family, since = 0): boolean {
  const rows = listRows();
  if (rows === undefined) return false;
  // Nobody older than the call can be of it, and reading an environment costs more than the rest.
  const young = rows.filter((row) => row.startedAt >= since && row.pid !== process.pid);
  const found = new Map<number, number>();
  for (const row of young) if (isMember(row, family)) found.set(row.pid, row.startedAt);
  for (let grown = found.size > 0; grown; ) {
    grown = false;
    for (const row of young) {
      if (found.has(row.pid) || !found.has(row.parent)) continue;
      found.set(row.pid, row.startedAt);
      grown = true;
    }
  }
  family.members.clear();
  for (const [pid, startedAt] of found) family.members.set(pid, startedAt);
  return true;
}

/** Whether a member that the last walk found still lives. Cheap: looks at those alone. */
export function livesOn(family: Family): boolean {
  for (const [pid, startedAt] of family.members) {
    const row = readRow(pid);
    if (isAlive(row) && row.startedAt === startedAt) return true;
  }
  return false;
}
