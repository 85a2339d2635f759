/** A line that other readers of such files know, and that says nothing about the conversation. */
export interface Mark {
  type: 'custom-title' | 'tag';
  [field: string]: unknown;
}

/** The title and the tag that were given last. */
export function lastMarks(lines: readonly string[]): Mark[] {
  const marks = new Map<string, Mark>();
  for (let at = lines.length - 1; at >= 0 && marks.size < 2; at -= 1) {
    const text = lines[at];
    if (text === undefined || !mayBeMark(text) || !IS_MARK.test(text)) continue;
    const mark = toMark(text);
    if (mark !== undefined && !marks.has(mark.type)) marks.set(mark.type, mark);
  }
  return [...marks.values()];
}

const IS_MARK = /"type":"(?:custom-title|tag)"/;

function toMark(text: string): Mark | undefined {
  try {
    const mark = JSON.parse(text) as Mark;
    return mark.type === 'custom-title' || mark.type === 'tag' ? mark : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Lines of the conversation begin with `uuid` or `parentUuid`, whoever writes them; only the others are looked into. Of
 * a thousand logs there are a hundred thousand lines, so this looks at single letters.
 */
export function mayBeMark(text: string): boolean {
  const key = text.charCodeAt(2);
  if (key === LETTER_U || key === LETTER_P) return false;
  return text.charCodeAt(9) !== LETTER_H || text.startsWith(MARK_START) || !text.startsWith(LIFE_START);
}

const [LETTER_U, LETTER_P, LETTER_H] = [0x75, 0x70, 0x68];
const LIFE_START = '{"type":"heddle"';
const MARK_START = `${LIFE_START},"kind":"mark"`;

export const isLifeLine = (text: string): boolean => text.charCodeAt(9) === LETTER_H && text.startsWith(LIFE_START);
