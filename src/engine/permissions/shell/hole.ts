/**
 * What is only known when a line runs stands in a word as a hole: one private-use character for a stretch of text. A line
 * that holds such a character itself is never vouched for, so the two cannot be confused.
 */
export const HOLE = {
  /** Anything: a variable that was not set in sight, an argument of a function. */
  any: '\uE000',
  /** What a command that was seen prints. */
  output: '\uE001',
  /** A `*` that the shell matches against names: no slash in it. */
  star: '\uE002',
  /** A `?` or `[...]`: one character that is no slash. */
  one: '\uE003',
  /** Digits. */
  number: '\uE004',
  /** The rest of a path that begins as the text before it: what find found. Twice, where its name may be what follows. */
  below: '\uE005',
} as const;

const HOLES = /[\uE000-\uE005]/;
/** Holes that may hold spaces, dashes, slashes: anything at all. */
const FREE = /[\uE000\uE001]/;
/** All of them but digits. */
const OPEN = /[\uE000-\uE003\uE005]/;

export const hasHole = (text: string): boolean => HOLES.test(text);

/** Some of it may be anything at all. */
export const isFree = (text: string): boolean => FREE.test(text);

/** Matched against names, so that it may become several words. */
export const isPattern = (text: string): boolean => text.includes(HOLE.star) || text.includes(HOLE.one);

/** Some of it is not known, and may be more than digits. */
export const isOpen = (text: string): boolean => OPEN.test(text);

/** Some of it comes from outside of the line. */
export const isForeign = (text: string): boolean => text.includes(HOLE.any);

/** A pattern that may match `..`, as older shells let it. */
export const mayBeParent = (part: string): boolean =>
  /^\.[.\uE003]?\uE002+[.\uE003]?$|^(?:\.\uE003|\uE003\.|\uE003\uE003)$/.test(part);

/** Nothing but digits and what calculates. */
export const isNumeric = (text: string): boolean => /^[\d\uE004\s+*/%()-]*$/.test(text);

/** What comes before the first hole. */
export function literalStart(text: string): string {
  const at = text.search(HOLES);
  return at === -1 ? text : text.slice(0, at);
}

/** What follows the rest of a path. */
export const tailOf = (text: string): string => text.slice(text.lastIndexOf(HOLE.below) + 1);

/** What a substitution prints is read through it. */
export const isDescriptor = (path: string): boolean => path === `/dev/fd/${HOLE.number}`;

const SHOWN: Readonly<Record<string, string>> = {
  [HOLE.any]: '\u2026',
  [HOLE.output]: '\u2026',
  [HOLE.star]: '*',
  [HOLE.one]: '?',
  [HOLE.number]: '0',
  [HOLE.below]: '\u2026',
};

/** For people: holes as an ellipsis, or as the glob they were. */
export const showHoles = (text: string): string => text.replace(/[\uE000-\uE005]/g, (hole) => SHOWN[hole] ?? hole);
