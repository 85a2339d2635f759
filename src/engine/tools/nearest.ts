/** Finds what someone probably meant: the most similar lines of a text, the most similar name of a list. */
import { splitLines } from './text-file.js';

const MAX_LINES = 20_000;
const MAX_LENGTH = 200;
/** Of a line, white space included. */
const MAX_LOOKED_AT = 1_000;
const MAX_SHOWN = 8;
const ENOUGH = 0.5;

type Pairs = Map<string, number>;

const pairsOf = (text: string): Pairs => {
  const pairs: Pairs = new Map();
  for (let i = 0; i + 1 < text.length; i += 1) {
    const pair = text.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
};

/** Share of common letter pairs, 0 to 1. */
function likeness(wanted: { text: string; pairs: Pairs }, other: string): number {
  if (wanted.text === other) return 1;
  const total = wanted.text.length + other.length - 2;
  if (wanted.text.length < 2 || other.length < 2) return 0;
  const used: Pairs = new Map();
  let common = 0;
  for (let i = 0; i + 1 < other.length; i += 1) {
    const pair = other.slice(i, i + 2);
    const uses = used.get(pair) ?? 0;
    if (uses >= (wanted.pairs.get(pair) ?? 0)) continue;
    used.set(pair, uses + 1);
    common += 1;
  }
  return (2 * common) / total;
}

const squeeze = (line: string): string => line.slice(0, MAX_LOOKED_AT).replace(/\s+/g, ' ').trim().slice(0, MAX_LENGTH);

function mostLike(wanted: string, others: readonly string[]): number | undefined {
  const profile = { text: wanted, pairs: pairsOf(wanted) };
  let best: number | undefined;
  let bestScore = ENOUGH;
  for (const [index, other] of others.entries()) {
    // Lines of very different length cannot reach the score.
    if (other.length * 3 < wanted.length || wanted.length * 3 < other.length) continue;
    const score = likeness(profile, other);
    if (score <= bestScore) continue;
    best = index;
    bestScore = score;
  }
  return best;
}

const words = (lines: readonly string[]): string => lines.join(' ').trim();

export interface NearestLines {
  /** Number of the first line, from 1. */
  line: number;
  lines: string[];
  /** The same but for white space. */
  sameWords: boolean;
}

/** The lines of a text that are most like the wanted ones. Looks at the first 20,000 lines only. */
export function findNearestLines(text: string, wanted: string): NearestLines | undefined {
  const lines = splitLines(text, MAX_LINES);
  const squeezed = lines.map(squeeze);
  const wantedLines = splitLines(wanted).map(squeeze);
  const anchor = wantedLines.reduce((best, line, i) => (line.length > (wantedLines[best] ?? '').length ? i : best), 0);
  const found = mostLike(wantedLines[anchor] ?? '', squeezed);
  if (found === undefined) return undefined;
  const from = Math.max(0, found - anchor);
  return {
    line: from + 1,
    lines: lines.slice(from, from + Math.min(wantedLines.length, MAX_SHOWN)),
    sameWords: words(squeezed.slice(from, from + wantedLines.length)) === words(wantedLines),
  };
}

const stem = (name: string): string => name.replace(/\.[^.]*$/, '');

/** The name most like the wanted one, if one is like it at all. */
export function findNearestName(wanted: string, names: readonly string[]): string | undefined {
  const lower = wanted.toLowerCase();
  const sameStem = names.find((name) => stem(name.toLowerCase()) === stem(lower));
  if (sameStem !== undefined) return sameStem;
  const best = mostLike(
    lower,
    names.map((name) => name.toLowerCase()),
  );
  return best === undefined ? undefined : names[best];
}
