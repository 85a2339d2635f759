/** Where the parts of a JSON text stand, so that one can be changed and the rest stays byte for byte. */

export interface Span {
  start: number;
  /** Behind the last character. */
  end: number;
}

export interface ArraySpan extends Span {
  elements: Span[];
}

const SPACE = ' \t\n\r';
const SCALAR_END = `${SPACE},]}`;

/** The array under `key` of the object that `text` is. The text must be valid JSON. Of two such keys the last counts. */
export function findArray(text: string, key: string): ArraySpan | undefined {
  let found: Span | undefined;
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return undefined;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const name: unknown = JSON.parse(text.slice(at, skipString(text, at)));
    const start = skipSpace(text, skipSpace(text, skipString(text, at)) + 1);
    const end = skipValue(text, start);
    if (name === key) found = { start, end };
    at = skipComma(text, end);
  }
  if (found === undefined || text[found.start] !== '[') return undefined;
  return { ...found, elements: findElements(text, found) };
}

function findElements(text: string, array: Span): Span[] {
  const elements: Span[] = [];
  for (let start = skipSpace(text, array.start + 1); start < array.end - 1; ) {
    const end = skipValue(text, start);
    elements.push({ start, end });
    start = skipComma(text, end);
  }
  return elements;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.includes(text.charAt(at))) at += 1;
  return at;
}

function skipComma(text: string, from: number): number {
  const at = skipSpace(text, from);
  return text[at] === ',' ? skipSpace(text, at + 1) : at;
}

function skipString(text: string, start: number): number {
  let at = start;
  do {
    at = text.indexOf('"', at + 1);
    if (at === -1) return text.length;
  } while (isEscaped(text, at));
  return at + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function skipValue(text: string, start: number): number {
  if (text[start] === '"') return skipString(text, start);
  let at = start;
  if (text[start] !== '{' && text[start] !== '[') {
    while (at < text.length && !SCALAR_END.includes(text.charAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  do {
    const character = text[at];
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    at = character === '"' ? skipString(text, at) : at + 1;
  } while (depth > 0 && at < text.length);
  return at;
}
