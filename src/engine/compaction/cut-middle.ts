import { cutText } from '../tools/bound.js';

/** Head and tail of a text that is too long, with a note between them. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = cutText(text, Math.ceil(max * 0.7));
  const tail = text.slice(text.length - Math.floor(max * 0.3)).toWellFormed();
  const left = (text.length - head.length - tail.length).toLocaleString('en-US');
  return `${head}\n[${left} characters are left out here]\n${tail}`;
}
