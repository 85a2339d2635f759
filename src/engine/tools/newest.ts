/** Names of files by age. They are looked at while more are found: that takes as long as finding them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ToolContext } from '../../protocol/index.js';

const MAX_AT_ONCE = 256;

export interface Newest {
  add(name: string): void;
  /** The newest of them, equals by name; what is gone comes last. */
  take(count: number): Promise<string[]>;
}

/** Of files below `folder`. Should a link lead elsewhere meanwhile, no more than their order is wrong. */
export function createNewest({ workspace, signal }: ToolContext, folder: string): Newest {
  const names: string[] = [];
  const times: number[] = [];
  let work: Promise<void> | undefined;

  const timeOf = (name: string): Promise<number> =>
    workspace.stat(`${folder}/${name}`).then(
      (stat) => stat?.mtimeMs ?? 0,
      () => 0,
    );

  const lookAtAll = async (): Promise<void> => {
    while (times.length < names.length && !signal.aborted) {
      await nextTurn();
      times.push(...(await Promise.all(names.slice(times.length, times.length + MAX_AT_ONCE).map(timeOf))));
    }
    work = undefined;
  };

  return {
    add(name) {
      names.push(name);
      work ??= lookAtAll();
    },
    async take(count) {
      await work;
      if (signal.aborted) throw new Error('The search was interrupted.');
      // Sorting a hundred thousand by two keys takes longer than finding the few that are wanted.
      const oldest = Float64Array.from(times).toSorted().at(-count) ?? Number.NEGATIVE_INFINITY;
      return names
        .flatMap((name, i) => ((times[i] ?? 0) >= oldest ? [{ name, time: times[i] ?? 0 }] : []))
        .toSorted((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1))
        .slice(0, count)
        .map(({ name }) => name);
    },
  };
}
