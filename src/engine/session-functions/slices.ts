/** How long the event loop is held before others of the process get their turn. */
const SLICE_MS = 10;

/** Does something with each of many things, in slices: no other session has to wait for it. */
export async function forEachSlowly<T>(items: Iterable<T>, act: (item: T) => void): Promise<void> {
  let until = performance.now() + SLICE_MS;
  for (const item of items) {
    act(item);
    if (performance.now() < until) continue;
    await new Promise(setImmediate);
    until = performance.now() + SLICE_MS;
  }
}
