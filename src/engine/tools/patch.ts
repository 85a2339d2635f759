/** The difference of two texts as hunks of a unified diff, three lines of context around each change. */

export interface PatchHunk {
  /** Lines count from 1. Where a side has no lines this is the line before which the other side's lines go. */
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** Each starts with a blank, `-` or `+`; `\ No newline at end of file` follows the line it speaks of. */
  lines: string[];
}

/** `[oldFrom, oldTo)` was replaced by `[newFrom, newTo)`; lines count from 0. */
interface Change {
  oldFrom: number;
  oldTo: number;
  newFrom: number;
  newTo: number;
}

const CONTEXT = 3;
/** Beyond this many differing lines the changed region is shown as one piece instead of being searched for matches. */
const MAX_DISTANCE = 400;

/** Lines with their newline, so that a missing one at the end is a difference. */
const toLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

export function createPatch(oldText: string, newText: string): PatchHunk[] {
  if (oldText === newText) return [];
  const oldLines = toLines(oldText);
  const newLines = toLines(newText);
  return groupChanges(findChanges(oldLines, newLines)).map((group) => toHunk(group, oldLines, newLines));
}

function findChanges(a: readonly string[], b: readonly string[]): Change[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let aEnd = a.length;
  let bEnd = b.length;
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd -= 1;
    bEnd -= 1;
  }
  const whole: Change = { oldFrom: start, oldTo: aEnd, newFrom: start, newTo: bEnd };
  if (aEnd === start || bEnd === start) return [whole];
  const inner = diffLines(a.slice(start, aEnd), b.slice(start, bEnd));
  if (inner === undefined) return [whole];
  return inner.map((change) => ({
    oldFrom: change.oldFrom + start,
    oldTo: change.oldTo + start,
    newFrom: change.newFrom + start,
    newTo: change.newTo + start,
  }));
}

/** Myers' greedy search for the shortest edit script; undefined when it is longer than MAX_DISTANCE. */
function diffLines(a: readonly string[], b: readonly string[]): Change[] | undefined {
  const limit = Math.min(MAX_DISTANCE, a.length + b.length);
  const middle = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const at = (k: number): number => furthest[middle + k] ?? 0;
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d += 1) {
    trace.push(furthest.slice());
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, middle, { x: a.length, y: b.length });
    }
  }
  return undefined;
}

function walkBack(trace: readonly Int32Array[], middle: number, end: { x: number; y: number }): Change[] {
  const changes: Change[] = [];
  let { x, y } = end;
  for (let d = trace.length - 1; d > 0; d -= 1) {
    const at = (k: number): number => trace[d]?.[middle + k] ?? 0;
    const k = x - y;
    const inserts = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const previousX = inserts ? at(k + 1) : at(k - 1);
    const previousY = previousX - (inserts ? k + 1 : k - 1);
    const change: Change = {
      oldFrom: previousX,
      oldTo: inserts ? previousX : previousX + 1,
      newFrom: previousY,
      newTo: inserts ? previousY + 1 : previousY,
    };
    const next = changes.at(-1);
    if (next !== undefined && next.oldFrom === change.oldTo && next.newFrom === change.newTo) {
      next.oldFrom = change.oldFrom;
      next.newFrom = change.newFrom;
    } else {
      changes.push(change);
    }
    x = previousX;
    y = previousY;
  }
  return changes.toReversed();
}

/** Changes whose context would touch share a hunk. */
function groupChanges(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && change.oldFrom - last.oldTo <= 2 * CONTEXT) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

const show = (sign: ' ' | '-' | '+', line: string): string[] =>
  line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'];

function toHunk(group: readonly Change[], oldLines: readonly string[], newLines: readonly string[]): PatchHunk {
  const first = group[0] ?? { oldFrom: 0, oldTo: 0, newFrom: 0, newTo: 0 };
  const last = group.at(-1) ?? first;
  const lead = Math.min(CONTEXT, first.oldFrom);
  const trail = Math.min(CONTEXT, oldLines.length - last.oldTo);
  const lines: string[] = [];
  let at = first.oldFrom - lead;
  for (const change of group) {
    for (const line of oldLines.slice(at, change.oldFrom)) lines.push(...show(' ', line));
    for (const line of oldLines.slice(change.oldFrom, change.oldTo)) lines.push(...show('-', line));
    for (const line of newLines.slice(change.newFrom, change.newTo)) lines.push(...show('+', line));
    at = change.oldTo;
  }
  for (const line of oldLines.slice(at, at + trail)) lines.push(...show(' ', line));
  return {
    oldStart: first.oldFrom - lead + 1,
    oldLines: last.oldTo + trail - (first.oldFrom - lead),
    newStart: first.newFrom - lead + 1,
    newLines: last.newTo + trail - (first.newFrom - lead),
    lines,
  };
}
