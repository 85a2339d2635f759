/** Where a text of the model stands in a file, and other text in its place. Models write LF, whatever the file has. */

export interface Place {
  start: number;
  /** Behind the last character. */
  end: number;
}

/** Each takes memory; who means more of them is better served by a program such as sed. */
export const MAX_PLACES = 1_000_000;

const LF = 10;
const CR = 13;

const hasCrlf = (text: string): boolean => text.includes('\r\n');

/**
 * The places of `wanted`, without overlaps; at most one more than MAX_PLACES. In a text with CRLF a line of `wanted` may
 * end in either way, line by line. `wanted` must not be empty.
 */
export function findPlaces(text: string, wanted: string): Place[] {
  if (!hasCrlf(text)) return findExactly(text, wanted);
  const lines = toLf(wanted);
  if (!lines.includes('\n')) return findExactly(text, lines);
  return mapBack(text, findExactly(toLf(text), lines));
}

function findExactly(text: string, wanted: string): Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(wanted); at !== -1 && places.length <= MAX_PLACES; ) {
    const end = at + wanted.length;
    places.push({ start: at, end });
    at = text.indexOf(wanted, end);
  }
  return places;
}

/** Goes over the characters, since `replace` takes seconds for millions of lines. */
function toLf(text: string): string {
  if (!hasCrlf(text)) return text;
  const units = Buffer.from(text, 'utf16le');
  let length = 0;
  for (let i = 0; i < units.length; i += 2) {
    const low = units[i] ?? 0;
    const high = units[i + 1] ?? 0;
    if (low === CR && high === 0 && units[i + 2] === LF && units[i + 3] === 0) continue;
    units[length] = low;
    units[length + 1] = high;
    length += 2;
  }
  return units.toString('utf16le', 0, length);
}

/** From places in `toLf(text)` to those in `text`. */
function mapBack(text: string, places: readonly Place[]): Place[] {
  let at = 0;
  let dropped = 0;
  const original = (position: number): number => {
    for (; at - dropped < position; at += 1) {
      if (text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF) dropped += 1;
    }
    return at;
  };
  return places.map(({ start, end }) => ({ start: original(start), end: original(end) }));
}

/** Puts `to` in each place. In a text with CRLF it gets the line endings of the place, or those around it. */
export function replacePlaces(text: string, places: readonly Place[], to: string): string {
  const spell = hasCrlf(text) ? createSpeller(text, toLf(to)) : () => to;
  const parts: string[] = [];
  let at = 0;
  for (const place of places) {
    parts.push(text.slice(at, place.start), spell(place));
    at = place.end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

/** Spells `to` for one place after the other. */
function createSpeller(text: string, to: string): (place: Place) => string {
  if (!to.includes('\n')) return () => to;
  const lines = to.split('\n');
  const lastNewline = text.lastIndexOf('\n');
  let newline = -1;
  const endingAt = (at: number): string => (text.charCodeAt(at - 1) === CR ? '\r\n' : '\n');
  const endingAround = ({ end }: Place): string => {
    // Looked for only when it is passed, for one line may hold all places.
    if (newline < end) newline = end > lastNewline ? lastNewline : text.indexOf('\n', end);
    return endingAt(newline);
  };
  return (place) => {
    const endings = text.slice(place.start, place.end).match(/\r?\n/g) ?? [endingAround(place)];
    return lines.map((line, i) => (i === 0 ? line : (endings[i - 1] ?? endings.at(-1)) + line)).join('');
  };
}
