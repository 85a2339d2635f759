/** Chance that can be repeated: the same seed gives the same numbers. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { next, below, pick: (values) => values[below(values.length)] as (typeof values)[number] };
}

/** Runs `count` numbered runs, some at once. Resolves with what went wrong, each with the number of its run. */
export async function runMany(
  { count, atOnce }: { count: number; atOnce: number },
  run: (index: number) => Promise<void>,
): Promise<string[]> {
  const problems: string[] = [];
  let started = 0;
  const work = async (): Promise<void> => {
    while (started < count) {
      const index = started;
      started += 1;
      try {
        await run(index);
      } catch (thrown) {
        problems.push(`run ${index}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return problems;
}
