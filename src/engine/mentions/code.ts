/** Code in Markdown, so that what stands in it is not taken for what somebody says. */

const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}|~{3,})(.*)$/;

interface Fence {
  char: string;
  length: number;
}

/** The text with blanks in the place of fenced blocks and code spans. Every character stays where it was. */
export function hideCode(text: string): string {
  const shown: string[] = [];
  let paragraph: string[] = [];
  let open: Fence | undefined;
  const endParagraph = (): void => {
    if (paragraph.length > 0) shown.push(hideSpans(paragraph.join('\n')));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    const fence = toFence(line);
    const closes = open !== undefined && fence !== undefined && isClosing(open, fence);
    const opens = open === undefined && fence !== undefined && !(fence.char === '`' && fence.rest.includes('`'));
    if (open !== undefined || opens) {
      endParagraph();
      shown.push(blank(line));
      if (closes) open = undefined;
      else open ??= fence;
    } else if (line.trim() === '') {
      // No code span goes beyond its paragraph.
      endParagraph();
      shown.push(line);
    } else paragraph.push(line);
  }
  endParagraph();
  return shown.join('\n');
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

function toFence(line: string): (Fence & { rest: string }) | undefined {
  // Most lines need no pattern, and one of a million characters should not meet one.
  if (line.length > 1_000 || !(line.includes('```') || line.includes('~~~'))) return undefined;
  const [, marks = '', rest = ''] = FENCE.exec(line) ?? [];
  return marks === '' ? undefined : { char: marks.charAt(0), length: marks.length, rest };
}

const isClosing = (open: Fence, { char, length, rest }: Fence & { rest: string }): boolean =>
  char === open.char && length >= open.length && rest.trim() === '';

/** A span ends with as many backticks as it begins with. */
function hideSpans(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ start: index, length }));
  const closers: (number | undefined)[] = [];
  const lastOf = new Map<number, number>();
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const length = runs[at]?.length ?? 0;
    closers[at] = lastOf.get(length);
    lastOf.set(length, at);
  }
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < runs.length; at += 1) {
    const closer = closers[at];
    const [from, to] = [runs[at], closer === undefined ? undefined : runs[closer]];
    if (from === undefined || to === undefined || closer === undefined) continue;
    const end = to.start + to.length;
    parts.push(text.slice(done, from.start), blank(text.slice(from.start, end)));
    done = end;
    at = closer;
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(done);
}
