// Several rounds of the same runs, in turn: what disturbs the machine disturbs the floor and the subject alike.

/** Runs each of `runs` (name -> async function) `count` times, interleaved, after one round that does not count. */
export async function interleave(runs, { count }) {
  const results = Object.fromEntries(Object.keys(runs).map((name) => [name, []]));
  for (let round = 0; round <= count; round += 1) {
    for (const [name, run] of Object.entries(runs)) {
      const result = await run();
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const medianOf = (results, field) => median(results.map((result) => result[field]));
