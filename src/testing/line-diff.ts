/** What two texts have in common, line by line. Pure. */

/** ` ` both have it, `-` only the first, `+` only the second. */
export type DiffLine = readonly [mark: ' ' | '-' | '+', line: string];

/** Beyond this many comparisons what differs is shown as one block. */
const MOST_COMPARISONS = 4_000_000;

export function diffLines(first: readonly string[], second: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < first.length && start < second.length && first[start] === second[start]) start += 1;
  let end = 0;
  const shorter = Math.min(first.length, second.length) - start;
  while (end < shorter && first.at(-1 - end) === second.at(-1 - end)) end += 1;
  return [
    ...first.slice(0, start).map((line): DiffLine => [' ', line]),
    ...diffMiddle(first.slice(start, first.length - end), second.slice(start, second.length - end)),
    ...first.slice(first.length - end).map((line): DiffLine => [' ', line]),
  ];
}

function diffMiddle(first: readonly string[], second: readonly string[]): DiffLine[] {
  const isLarge = first.length * second.length > MOST_COMPARISONS;
  const common = isLarge ? [] : commonLines(first, second);
  const lines: DiffLine[] = [];
  let a = 0;
  let b = 0;
  for (const [i, j] of [...common, [first.length, second.length] as const]) {
    while (a < i) lines.push(['-', first[a++] ?? '']);
    while (b < j) lines.push(['+', second[b++] ?? '']);
    if (i < first.length) lines.push([' ', first[i] ?? '']);
    a = i + 1;
    b = j + 1;
  }
  return lines;
}

/** The longest run of pairs of equal lines, in order. */
function commonLines(first: readonly string[], second: readonly string[]): (readonly [number, number])[] {
  const width = second.length + 1;
  /** How many lines the rests from (i, j) on have in common. */
  const rest = new Uint32Array((first.length + 1) * width);
  const at = (i: number, j: number): number => rest[i * width + j] ?? 0;
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      rest[i * width + j] = first[i] === second[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < first.length && j < second.length; ) {
    if (first[i] === second[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

const CONTEXT = 3;

/** The lines that differ with a few around each; what lies between is counted. */
export function showDiff(lines: readonly DiffLine[]): string {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([mark]) => mark !== ' '),
  );
  const shown: string[] = [];
  let hidden = 0;
  const countHidden = (): void => {
    if (hidden > 0) shown.push(`  … ${hidden} equal ${hidden === 1 ? 'line' : 'lines'}`);
    hidden = 0;
  };
  for (const [at, [mark, line]] of lines.entries()) {
    if (!near[at]) {
      hidden += 1;
      continue;
    }
    countHidden();
    shown.push(`${mark} ${line}`);
  }
  countHidden();
  return shown.join('\n');
}
