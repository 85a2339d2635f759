/**
 * Swaps a file or a folder for a link to somewhere else and back, until its standard input ends. After each time it
 * prints how often it has done so. `argv`: what is swapped, what the link leads to.
 */
import { linkSync, renameSync, rmSync, symlinkSync } from 'node:fs';

const [, , victim, elsewhere] = process.argv;
const aside = `${victim}.aside`;
const link = `${victim}.link`;

/** The other side may have put something there, or taken it away, at any moment. */
function attempt(change) {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}

const clear = (path) => attempt(() => rmSync(path, { recursive: true, force: true }));

/** In one step where the system lets us: a file that has a second name is replaced by the link without a gap. */
function swapIn() {
  clear(link);
  symlinkSync(elsewhere, link);
  if (attempt(() => linkSync(victim, aside))) return renameSync(link, victim);
  if (!attempt(() => renameSync(victim, aside))) clear(victim);
  if (!attempt(() => renameSync(link, victim))) clear(victim);
}

function swapBack() {
  if (!attempt(() => renameSync(aside, victim))) {
    clear(victim);
    attempt(() => renameSync(aside, victim));
  }
}

function spin(ms) {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

let swaps = 0;
let over = false;
process.stdin.on('end', () => {
  over = true;
});
process.stdin.resume();

function turn() {
  attempt(swapIn);
  spin(Math.random() * 2);
  swapBack();
  spin(Math.random() * 2);
  swaps += 1;
  process.stdout.write(`${swaps}\n`);
  if (!over) setImmediate(turn);
}
turn();
