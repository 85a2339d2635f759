/** How long the event loop may be held before others get it. */
const TURN_MS = 8;

/** What to wait for before each piece of a long work. Those who wait go one after another. */
export function createTurns(): () => Promise<void> {
  let began = performance.now();
  let last = Promise.resolve();
  return () => {
    last = last.then(async () => {
      if (performance.now() - began < TURN_MS) return;
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    });
    return last;
  };
}
