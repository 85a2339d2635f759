/** How many lines a change inserts and deletes. */
import { createPatch } from '../tools/patch.js';

export interface LineCount {
  insertions: number;
  deletions: number;
}

/** Files that are not text count for nothing. */
export function countLines(before: Uint8Array | undefined, after: Uint8Array | undefined): LineCount {
  const [old, now] = [toText(before), toText(after)];
  if (old === undefined || now === undefined) return { insertions: 0, deletions: 0 };
  if (old === '' || now === '') return { insertions: toLines(now).length, deletions: toLines(old).length };
  const { hunks, cut } = createPatch(old, now);
  if (cut) return countRoughly(toLines(old), toLines(now));
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    insertions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
  };
}

function toText(content: Uint8Array | undefined): string | undefined {
  if (content === undefined) return '';
  return content.includes(0) ? undefined : Buffer.from(content).toString('latin1');
}

const toLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Lines that only one side has, wherever they stand. */
function countRoughly(old: readonly string[], now: readonly string[]): LineCount {
  const counts = new Map<string, number>();
  for (const line of old) counts.set(line, (counts.get(line) ?? 0) + 1);
  let insertions = 0;
  for (const line of now) {
    const left = counts.get(line) ?? 0;
    if (left === 0) insertions += 1;
    else counts.set(line, left - 1);
  }
  return { insertions, deletions: old.length - (now.length - insertions) };
}
