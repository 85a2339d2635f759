/** Text of models, tools and files, made safe to show: what a terminal would obey or hide is written out. */

// Controls, format characters (bidi, zero width, tags), lone surrogates, separators, and all that draws nothing.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// Emoji need their variation selectors; newline and tab are layout.
const HARMLESS = new Set(['\n', '\t', '\uFE0E', '\uFE0F']);

export function toVisible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE, (found) => (HARMLESS.has(found) ? found : writeOut(found)));
}

/** The same on a single line. */
export const toVisibleLine = (text: string): string => toVisible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** JSON that says the same to a program, with nothing in it that a terminal would obey or hide. */
export const toVisibleJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(UNSAFE, (found) =>
    found === '\n' ? found : found.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );

function writeOut(found: string): string {
  if (found === '\r') return '\\r';
  const code = (found.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\u{${code}}`;
}
