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
