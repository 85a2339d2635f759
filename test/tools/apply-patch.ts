import type { PatchHunk } from '../../src/engine/tools/patch.js';

/** Applies hunks as `patch` would, and checks that context, removed lines and counts are those of the text. */
export function applyPatch(text: string, hunks: readonly PatchHunk[]): string {
  const source = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const result: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const start = hunk.oldStart - 1;
    if (start < at) throw new Error(`the hunk at ${hunk.oldStart} overlaps the one before`);
    result.push(...source.slice(at, start));
    at = start;
    if (result.length !== hunk.newStart - 1) throw new Error(`newStart is ${hunk.newStart}, not ${result.length + 1}`);
    const counts = { old: 0, new: 0 };
    for (const [i, line] of hunk.lines.entries()) {
      if (line.startsWith('\\')) continue;
      const ending = hunk.lines[i + 1]?.startsWith('\\') ? '' : '\n';
      const full = line.slice(1) + ending;
      if (line[0] !== '+') {
        if (source[at] !== full)
          throw new Error(`line ${at + 1} is ${JSON.stringify(source[at])}, not ${JSON.stringify(full)}`);
        at += 1;
        counts.old += 1;
      }
      if (line[0] !== '-') {
        result.push(full);
        counts.new += 1;
      }
    }
    if (counts.old !== hunk.oldLines || counts.new !== hunk.newLines)
      throw new Error('the counts of the hunk are wrong');
  }
  return [...result, ...source.slice(at)].join('');
}

/** Whole numbers below a limit, the same for the same seed. */
export function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
