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

export interface Patch {
  hunks: PatchHunk[];
  /** The difference goes on behind the hunks. */
  cut: boolean;
}

const CONTEXT = 3;
/** Beyond this many differing lines the changed region is shown as one piece instead of being searched for matches. */
const MAX_DISTANCE = 400;
/** Of each text so much is compared, from the first difference on. A line of its own string takes much memory. */
const MAX_COMPARED_LINES = 20_000;
const MAX_COMPARED_LENGTH = 2 * 1024 * 1024;
/** Of all hunks together. */
const MAX_PATCH_LINES = 2_000;
const MAX_PATCH_LENGTH = 256 * 1024;

export function createPatch(oldText: string, newText: string): Patch {
  if (oldText === newText) return { hunks: [], cut: false };
  const { start, oldEnd, newEnd } = findWindow(oldText, newText);
  const before = takeLines(oldText, { start, end: oldEnd });
  const after = takeLines(newText, { start, end: newEnd });
  const skipped = countLines(oldText, start);
  const hunks = compare(before, after).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + skipped,
    newStart: hunk.newStart + skipped,
  }));
  const shown = cutHunks(hunks);
  return { hunks: shown.hunks, cut: shown.cut || !before.whole || !after.whole };
}

/** The patch as results carry it. */
export const tellPatch = ({ hunks, cut }: Patch): { structuredPatch: PatchHunk[]; structuredPatchCut?: true } => ({
  structuredPatch: hunks,
  ...(cut && { structuredPatchCut: true }),
});

interface Lines {
  /** With their newlines, so that a missing one at the end is a difference. */
  lines: string[];
  /** Whether these are all of them. */
  whole: boolean;
}

function takeLines(text: string, { start, end }: { start: number; end: number }): Lines {
  const lines: string[] = [];
  let at = start;
  while (at < end && lines.length < MAX_COMPARED_LINES) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 || newline >= end ? end : newline + 1;
    if (next - start > MAX_COMPARED_LENGTH) break;
    lines.push(text.slice(at, next));
    at = next;
  }
  return { lines, whole: at >= end };
}

function compare(before: Lines, after: Lines): PatchHunk[] {
  const changes = findChanges(before.lines, after.lines, { endsMatter: before.whole && after.whole });
  let oldLines = before.lines;
  const last = changes.at(-1);
  const isLoose =
    (!before.whole && last?.oldTo === oldLines.length) || (!after.whole && last?.newTo === after.lines.length);
  // Where only the first lines were compared, their ends seldom match: that is no change worth telling beside others.
  if (isLoose && last !== undefined && changes.length > 1) {
    changes.pop();
    oldLines = oldLines.slice(0, last.oldFrom);
  }
  return groupChanges(changes).map((group) => toHunk(group, oldLines, after.lines));
}

/** Whole hunks as far as there is room, and the first lines of the next. */
function cutHunks(hunks: readonly PatchHunk[]): Patch {
  const kept: PatchHunk[] = [];
  let [lines, length] = [0, 0];
  for (const hunk of hunks) {
    let count = 0;
    for (const line of hunk.lines) {
      lines += 1;
      length += line.length;
      if (lines > MAX_PATCH_LINES || length > MAX_PATCH_LENGTH) break;
      count += 1;
    }
    if (count === hunk.lines.length) {
      kept.push(hunk);
      continue;
    }
    const part = cutHunk(hunk, count);
    return { hunks: part === undefined ? kept : [...kept, part], cut: true };
  }
  return { hunks: kept, cut: false };
}

/** A hunk of the first lines; undefined when nothing changes in them. */
function cutHunk(hunk: PatchHunk, count: number): PatchHunk | undefined {
  // The note on a missing newline stays with its line.
  const lines = hunk.lines.slice(0, hunk.lines[count]?.startsWith('\\') ? count - 1 : count);
  const countOf = (signs: string): number => lines.filter((line) => signs.includes(line.charAt(0))).length;
  if (countOf('-+') === 0) return undefined;
  return { ...hunk, oldLines: countOf(' -'), newLines: countOf(' +'), lines };
}

const STRIDE = 4096;
const LF = 10;

/**
 * Where the texts differ, in whole lines and with the context of a hunk on both sides: most edits touch little of a
 * file, and taking all of it apart costs more than the rest of the edit.
 */
function findWindow(a: string, b: string): { start: number; oldEnd: number; newEnd: number } {
  const shorter = Math.min(a.length, b.length);
  let same = 0;
  while (same < shorter && a.slice(same, same + STRIDE) === b.slice(same, same + STRIDE)) same += STRIDE;
  same = Math.min(same, shorter);
  while (same < shorter && a.charCodeAt(same) === b.charCodeAt(same)) same += 1;
  let start = same;
  for (let line = 0; line <= CONTEXT && start > 0; line += 1) {
    start = start < 2 ? 0 : a.lastIndexOf('\n', start - 2) + 1;
  }

  const most = shorter - same;
  let tail = 0;
  const end = (text: string, from: number, to: number): string => text.slice(text.length - to, text.length - from);
  while (tail + STRIDE <= most && end(a, tail, tail + STRIDE) === end(b, tail, tail + STRIDE)) tail += STRIDE;
  while (tail < most && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail += 1;
  let oldEnd = a.length - tail;
  for (let line = 0; line <= CONTEXT && oldEnd < a.length; line += 1) {
    const newline = a.indexOf('\n', oldEnd);
    oldEnd = newline === -1 ? a.length : newline + 1;
  }
  return { start, oldEnd, newEnd: b.length - (a.length - oldEnd) };
}

function countLines(text: string, end: number): number {
  let lines = 0;
  for (let at = 0; at < end; at += 1) if (text.charCodeAt(at) === LF) lines += 1;
  return lines;
}

/** `endsMatter`: the ends are those of the difference, so that equal lines there belong together. */
function findChanges(a: readonly string[], b: readonly string[], { endsMatter }: { endsMatter: boolean }): Change[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let aEnd = a.length;
  let bEnd = b.length;
  while (endsMatter && aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd -= 1;
    bEnd -= 1;
  }
  const pairs = matchLines(a.slice(start, aEnd), b.slice(start, bEnd));
  const changes: Change[] = [];
  let [oldFrom, newFrom] = [start, start];
  for (const [x, y] of [...pairs, [aEnd - start, bEnd - start] as const]) {
    const [oldTo, newTo] = [x + start, y + start];
    if (oldFrom < oldTo || newFrom < newTo) changes.push({ oldFrom, oldTo, newFrom, newTo });
    [oldFrom, newFrom] = [oldTo + 1, newTo + 1];
  }
  return changes;
}

/** Lines of both sides that belong together, in order; none when the sides differ too much to look for them. */
function matchLines(a: readonly string[], b: readonly string[]): readonly (readonly [number, number])[] {
  // What only one side has cannot be matched, and would only make the search long.
  const [inA, inB] = [new Set(a), new Set(b)];
  const oldAt = [...a.keys()].filter((x) => inB.has(a[x] ?? ''));
  const newAt = [...b.keys()].filter((y) => inA.has(b[y] ?? ''));
  const oldLines = oldAt.map((x) => a[x] ?? '');
  const newLines = newAt.map((y) => b[y] ?? '');
  return (diffLines(oldLines, newLines) ?? []).map(([x, y]) => [oldAt[x] ?? 0, newAt[y] ?? 0]);
}

/** Myers' greedy search for the shortest edit script; undefined when it is longer than MAX_DISTANCE. */
function diffLines(a: readonly string[], b: readonly string[]): [number, number][] | undefined {
  const limit = Math.min(MAX_DISTANCE, a.length + b.length);
  const middle = limit + 1;
  const furthest = new Int32Array(2 * limit + 3);
  const at = (k: number): number => furthest[middle + k] ?? 0;
  /** For each distance the state before it, from `-distance` to `distance`. */
  const trace: Int32Array[] = [];
  for (let d = 0; d <= limit; d += 1) {
    trace.push(furthest.slice(middle - d, middle + d + 1));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      furthest[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, { x: a.length, y: b.length });
    }
  }
  return undefined;
}

/** The lines that stayed, from first to last. */
function walkBack(trace: readonly Int32Array[], end: { x: number; y: number }): [number, number][] {
  const pairs: [number, number][] = [];
  let { x, y } = end;
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const at = (k: number): number => trace[d]?.[k + d] ?? 0;
    const k = x - y;
    const inserts = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const previousX = inserts ? at(k + 1) : at(k - 1);
    const previousY = previousX - (inserts ? k + 1 : k - 1);
    const [fromX, fromY] =
      d === 0 ? [0, 0] : [inserts ? previousX : previousX + 1, inserts ? previousY + 1 : previousY];
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      pairs.push([x, y]);
    }
    [x, y] = [previousX, previousY];
  }
  return pairs.toReversed();
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

/** The lines are copied: a part of a text would hold all of it in memory for as long as the result lives. */
function show(sign: ' ' | '-' | '+', line: string): string[] {
  const copy = Buffer.from(sign + line).toString();
  return copy.endsWith('\n') ? [copy.slice(0, -1)] : [copy, '\\ No newline at end of file'];
}

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
