/** Text of models, tools and files, made safe to show: what a terminal would obey or hide is written out. */

import { UNSEEN } from '../protocol/plain.js';

const UNSAFE = new RegExp(UNSEEN.source, 'gu');
// In prose emoji have their variation selectors, fonts their own signs, and blanks of every kind are blanks.
const HARMLESS = /[\uFE0E\uFE0F\u2800\p{Zs}\p{Co}]/u;

/** Prose: of a model, a tool, a file. */
export const toVisible = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(UNSAFE, (found) => (HARMLESS.test(found) ? found : writeOut(found)));

/** What is approved or run as it stands: nothing in it is harmless. */
export const toVisibleExactly = (text: string): string => text.replace(UNSAFE, writeOut);

/** The same on a single line. */
export const toVisibleLine = (text: string): string => toVisible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** JSON that says the same to a program, with nothing in it that a terminal would obey or hide. */
export const toVisibleJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(UNSAFE, (found) =>
    found.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );

function writeOut(found: string): string {
  if (found === '\r') return '\\r';
  const code = (found.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`;
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\u{${code}}`;
}
