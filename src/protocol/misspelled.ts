/** Keys that were meant to be others: what is dropped in silence may be what restricts. */

/** A key of the value that is none of the known ones and nearly is; with the one that was probably meant. */
export function findMisspelled(
  value: object,
  known: readonly string[],
): { key: string; meant: string } | undefined {
  for (const key of Object.keys(value)) {
    if (known.includes(key) || key.length > 64) continue;
    const meant = known.find((name) => isNearly(fold(key), fold(name)));
    if (meant !== undefined) return { key, meant };
  }
  return undefined;
}

const fold = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, '');

/** Short names are near to too many others. */
const isNearly = (key: string, name: string): boolean =>
  key === name || (name.length >= 8 && Math.abs(key.length - name.length) <= 2 && editDistance(key, name) <= 2);

/** How many letters must be changed, added or dropped. */
export function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const swap = left[row - 1] === right[column - 1] ? 0 : 1;
      current.push(Math.min((above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (above[column - 1] ?? 0) + swap));
    }
    above = current;
  }
  return above[right.length] ?? 0;
}
