/** What a misspelled key or name was probably meant to be. */

/** How many letters must be changed, added, dropped or swapped with their neighbour. */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      if (one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[other.length] ?? 0;
}

export interface NearName {
  name: string;
  distance: number;
}

const MAX_LENGTH = 64;

/** The nearest of the names, if it is near enough to have been meant. Letter case counts for nothing. */
export function findNearName(wanted: string, names: readonly string[]): NearName | undefined {
  if (wanted.length > MAX_LENGTH) return undefined;
  const lower = wanted.toLowerCase();
  let best: NearName | undefined;
  for (const name of names) {
    const distance = editDistance(lower, name.toLowerCase());
    if (best === undefined || distance < best.distance) best = { name, distance };
  }
  return best !== undefined && best.distance <= Math.max(1, Math.floor(lower.length / 3)) ? best : undefined;
}

export const didYouMean = (near: NearName | undefined): string =>
  near === undefined ? '' : `; did you mean "${near.name}"?`;

/** With a full stop, unless it ends in a question. */
export const asSentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`);
