/** Text of people and models inside of a Markdown document that it cannot break out of. */

/** Longer than any run of the sign in the text. */
export function fenceFor(text: string, sign: '`' | '~' = '`'): string {
  let longest = 2;
  for (const run of text.match(sign === '`' ? /`+/g : /~+/g) ?? []) longest = Math.max(longest, run.length);
  return sign.repeat(longest + 1);
}

export function toFenced(text: string, language = ''): string {
  const plain = toPlain(text).replace(/\n+$/, '');
  const fence = fenceFor(plain);
  return `${fence}${language}\n${plain}\n${fence}\n`;
}

/** Signs that a terminal would obey, or that make text look like another, are written out. */
export const toPlain = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (found) => {
    const code = (found.codePointAt(0) ?? 0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
  });

/** On one line of a heading or a list, where no sign is markup. */
export const toInline = (text: string): string =>
  toPlain(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_{}[\]<>#|~&!$]/g, '\\$&');

/** Inside of an HTML element. */
export const toHtml = (text: string): string =>
  toPlain(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[&<>"'`*_[\]\\~$]/g, (found) => `&#${found.codePointAt(0)};`);

const FENCE_LINE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
/** What is indented below it may belong to it, and end with it. */
const LIST_ITEM = /^[\s>]*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
/** Anything that some reader may take for a fence: also in lists and quotations. */
const MAYBE_FENCE = /^[\s>*+\-\d.)]*(`{3,}|~{3,})/;
const HEADINGS_BELOW = 2;

/**
 * Markdown of a message as a part of the document: headings below ours, no HTML. Where it is not plain what is code and
 * what is not, all of it is shown as it was written.
 */
export function toProse(text: string): string {
  const lines = toPlain(text).trim().split('\n');
  const shown: string[] = [];
  let paragraph: string[] = [];
  const endParagraph = () => {
    for (const line of toSafeLines(paragraph)) shown.push(line);
    paragraph = [];
  };
  let open: string | undefined;
  let isListed = false;
  for (const line of lines) {
    const fence = FENCE_LINE.exec(line);
    const [, indent = '', run = '', info = ''] = fence ?? [];
    isListed ||= open === undefined && LIST_ITEM.test(line);
    if (open !== undefined) {
      if (run.startsWith(open) && info.trim() === '') open = undefined;
      shown.push(line);
    } else if (fence && !(isListed && indent !== '') && !(run.startsWith('`') && info.includes('`'))) {
      open = run;
      endParagraph();
      shown.push(line);
    } else if (MAYBE_FENCE.test(line)) {
      return toFenced(text, 'markdown');
    } else {
      paragraph.push(line);
      if (line.trim() === '') endParagraph();
    }
  }
  endParagraph();
  return open === undefined ? `${shown.join('\n')}\n` : toFenced(text, 'markdown');
}

/** Also in lists and quotations. */
const HEADING = /^((?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*)(#{1,6})(?=\s|$)/;
/** Makes a heading of the line above it, on a level of ours. */
const UNDERLINE = /^([\s>]*)(=+|-+)(?=\s*$)/;

/** Code on a line shows its signs as they are, where it is plain on every line of a paragraph what is code. */
function toSafeLines(lines: readonly string[]): string[] {
  const isPlain = lines.every((line) => !line.includes('\\`') && codeOf(line.split(/(`+)/)) !== undefined);
  return lines.map((line) => {
    const lower = line
      .replace(HEADING, (_all, before: string, signs: string) => {
        return before + '#'.repeat(Math.min(6, signs.length + HEADINGS_BELOW));
      })
      .replace(UNDERLINE, '$1\\$2');
    if (!isPlain) return escapeTags(lower);
    const parts = lower.split(/(`+)/);
    const code = codeOf(parts) ?? new Set();
    return parts.map((part, at) => (code.has(at) ? part : escapeTags(part))).join('');
  });
}

/**
 * Which parts of a line are code; odd ones are runs of backticks. It lies between two runs of one length, from left to
 * right. Undefined when a run has no other: it may belong to one on another line.
 */
function codeOf(parts: readonly string[]): Set<number> | undefined {
  const code = new Set<number>();
  for (let open = 1; open < parts.length; open += 2) {
    const close = parts.findIndex((part, at) => at > open && at % 2 === 1 && part === parts[open]);
    if (close === -1) return undefined;
    for (let at = open + 1; at < close; at += 1) code.add(at);
    open = close;
  }
  return code;
}

const escapeTags = (text: string): string => text.replace(/<(?=[a-zA-Z/!?])/g, '&lt;');

/** As a quotation: whatever is opened in it ends with it. */
export const toQuote = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
    .concat('\n');
