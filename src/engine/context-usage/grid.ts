/** A picture of the window: rows of squares, each a hundredth of it. Pure. */
import type { ContextCategory, ContextGridSquare } from '../../protocol/index.js';
import { scaleTo } from './sizes.js';

const COLUMNS = 10;
const SQUARES = COLUMNS * COLUMNS;

/** The categories in their order; whatever is there at all has a square. */
export function toGrid(categories: readonly ContextCategory[], window: number): ContextGridSquare[][] {
  const shown = categories.filter(({ kind, tokens }) => kind !== 'deferred' && tokens > 0);
  const counts = countSquares(shown.map(({ tokens }) => tokens));
  const squares = shown.flatMap((category, index) => toSquares(category, counts[index] ?? 0, window));
  return Array.from({ length: COLUMNS }, (_, row) => squares.slice(row * COLUMNS, (row + 1) * COLUMNS));
}

function countSquares(sizes: readonly number[]): number[] {
  const counts = scaleTo(sizes, SQUARES).map((count) => Math.max(1, count));
  // What the small ones got too much is taken from the largest.
  for (let extra = counts.reduce((sum, count) => sum + count, 0) - SQUARES; extra > 0; extra -= 1) {
    const largest = counts.indexOf(Math.max(...counts));
    counts[largest] = (counts[largest] ?? 1) - 1;
  }
  return counts;
}

function toSquares({ name, tokens, color, kind }: ContextCategory, count: number, window: number): ContextGridSquare[] {
  const perSquare = window / SQUARES;
  return Array.from({ length: count }, (_, index) => ({
    color: color ?? 'gray',
    isFilled: kind === 'used',
    categoryName: name,
    tokens,
    percentage: Math.round((tokens / window) * 100),
    squareFullness: Math.max(0, Math.min(1, Number((tokens / perSquare - index).toFixed(2)))),
  }));
}
