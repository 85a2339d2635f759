/** The one place where text for the model is cut. */

export interface Bound {
  /** The most characters that come back, note included. */
  max: number;
  /** Stores the whole text and gives its path. Absent when there is nothing worth keeping. */
  keep?: (text: string) => Promise<string>;
  /** Bytes that are missing from the text itself, because they were never kept. */
  dropped?: number;
}

/** The first `length` characters, without half a surrogate pair at the end: model APIs refuse such text. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? length - 1 : length);
}

const count = (value: number): string => value.toLocaleString('en-US');

const storeWhole = async (text: string, { keep, dropped = 0 }: Bound): Promise<string> => {
  if (keep === undefined) return '';
  try {
    const path = await keep(text);
    if (dropped === 0) return ` The whole text is in ${path}`;
    return ` These are in ${path}, and ${count(dropped)} bytes in their midst were dropped`;
  } catch (error) {
    return ` The whole text could not be kept: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** Keeps the head. The note at its end says how much was cut, and where the whole is. */
export async function boundText(text: string, bound: Bound): Promise<string> {
  const { max } = bound;
  if (text.length <= max) return text;
  const where = await storeWhole(text, bound);
  const note = (shown: number) => `\n\n[Cut: the first ${count(shown)} of ${count(text.length)} characters.${where}]`;
  const head = cutText(text, Math.max(0, max - note(max).length));
  return head + note(head.length);
}
