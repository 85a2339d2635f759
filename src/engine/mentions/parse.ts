/** What a text mentions with an @. Only the spelling is looked at: whether there is such a file, others find out. */
import { hideCode } from './code.js';

export interface LineRange {
  /** Counts from 1. */
  from: number;
  to: number;
}

export interface Mention {
  /** What is mentioned, without the @, quotes and lines. Punctuation of the sentence may still hang on to it. */
  target: string;
  quoted: boolean;
  lines?: LineRange;
  /** Where its @ is. */
  start: number;
  /** It does not follow a quote or a bracket: then it is more likely to be code than to be meant. */
  isFree: boolean;
}

/** Of a text that is full of them, so many are looked at. */
const MAX_FOUND = 500;
const MAX_LENGTH = 1_024;

/** In front of an @ these make it a part of an address, a version or a span of code. */
const HOLDS_AT = /[\p{Script=Latin}\p{N}._%+\-@/\\:=`#$&~]/u;
const QUOTED = new RegExp(`"([^"\\n]{1,${MAX_LENGTH}})"(#\\S{1,40})?`, 'y');
/** Blanks count only after a backslash; the punctuation of texts without blanks ends it. */
const PLAIN = new RegExp(`(?:\\\\ |[^\\s"，。；：、！？（）【】「」『』《》]){1,${MAX_LENGTH + 1}}`, 'y');
const LINES = /#L(\d{1,9})(?:-L?(\d{1,9}))?(?=[.,;:!?)\]}>'*_]*$)/;
/** `@one,@two`. */
const NEXT = /[,;|]@/;

export function parseMentions(text: string): Mention[] {
  if (!text.includes('@')) return [];
  const shown = hideCode(text);
  const found: Mention[] = [];
  for (let at = shown.indexOf('@'); at !== -1 && found.length < MAX_FOUND; at = shown.indexOf('@', at)) {
    const before = at === 0 ? '' : shown.charAt(at - 1);
    const read = before !== '' && HOLDS_AT.test(before) ? undefined : readAt(shown, at + 1);
    if (read?.target !== undefined) {
      found.push({ ...read.target, start: at, isFree: before === '' || /\s/.test(before) });
    }
    at = read?.end ?? at + 1;
  }
  return found;
}

interface ReadMention {
  target?: Pick<Mention, 'target' | 'quoted' | 'lines'>;
  /** Where to go on. */
  end: number;
}

function readAt(text: string, start: number): ReadMention | undefined {
  QUOTED.lastIndex = start;
  const quoted = QUOTED.exec(text);
  if (quoted !== null) {
    const [whole, target = '', rest = ''] = quoted;
    return { target: { target, quoted: true, ...toLines(rest) }, end: start + whole.length };
  }
  PLAIN.lastIndex = start;
  const whole = PLAIN.exec(text)?.[0];
  if (whole === undefined) return undefined;
  // What is too long is no path; its rest is passed over piece by piece.
  if (whole.length > MAX_LENGTH) return { end: start + whole.length };
  const cut = whole.search(NEXT);
  const token = cut === -1 ? whole : whole.slice(0, cut);
  const end = start + Math.max(token.length, 1);
  const target = token.replace(LINES, '').replaceAll('\\ ', ' ');
  if (!/[\p{L}\p{N}]/u.test(target) && !/^\.{1,2}\/?$|^~\/$/.test(target)) return { end };
  return { target: { target, quoted: false, ...toLines(token) }, end };
}

function toLines(text: string): { lines?: LineRange } {
  const [, first, last = first] = LINES.exec(text) ?? [];
  if (first === undefined) return {};
  const ends = [Math.max(1, Number(first)), Math.max(1, Number(last))];
  return { lines: { from: Math.min(...ends), to: Math.max(...ends) } };
}

const MAX_PEELED = 6;
const PUNCTUATION = /[.,;:!?'")\]}>*_…’”]$/;

/** What may be meant, the longest first: `notes.md).` may be `notes.md)` and `notes.md`, too. */
export function spellingsOf({ target, quoted }: Pick<Mention, 'target' | 'quoted'>): string[] {
  if (quoted) return [target];
  const spellings = [target];
  const owned = /^(.+)['’]s$/.exec(target)?.[1];
  if (owned !== undefined) spellings.push(owned);
  for (let text = target; spellings.length <= MAX_PEELED && PUNCTUATION.test(text); ) {
    text = text.slice(0, -1);
    if (text !== '') spellings.push(text);
  }
  return spellings;
}

/** Whether somebody must be told that there is no such file. Names of people, packages and decorators are no mistakes. */
export function looksLikePath({ target, quoted, lines, isFree }: Mention): boolean {
  if (!isFree) return false;
  if (quoted || lines !== undefined) return true;
  const bare = spellingsOf({ target, quoted }).at(-1) ?? target;
  return /^(?:\.{1,2}|~)?\//.test(bare) || bare.endsWith('/') || /[^/.]\.[A-Za-z]\w{0,4}$/.test(bare);
}
