/** The arguments of a call, as words, and as they may stand in a shell line. */
import { findPlaces, type Place, type Quote, readPrograms } from './argument-place.js';
import { BLANK, isOption, setsRunning, steers } from './argument-role.js';

/** Words between blanks; `"two words"` and `'two words'` are one. */
export function splitArguments(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|\S+/g)].map(
    ([whole, one, other]) => one ?? other ?? whole,
  );
}

export interface ShellValues {
  /** What `$ARGUMENTS` stands for. */
  args: string;
  words: readonly string[];
  /** What `${NAME}` stands for. */
  places: Readonly<Record<string, string | undefined>>;
  /** A number that no word was given for stays within single quotes, wherever these stand. */
  keepsQuoted?: boolean;
}

export type FilledLine = { line: string; usesArguments: boolean } | { fault: string };

const PLACEHOLDER = /\$ARGUMENTS\b|\$[1-9](?!\d)|\$\{\w+\}/g;
/** Characters that mean nothing to a shell, wherever they stand. */
const HARMLESS = /^[\w./:@%+=,-]*$/;
const HARMLESS_WORDS = /^[\w./:@%+=, -]*$/;

/**
 * Puts arguments into a shell line as words and nothing but words. The line is read as the shell reads it: where a word is
 * given to a program that takes any text for text, arguments may hold anything; everywhere else only what is harmless
 * wherever it stands. They name no program, no script and no option of one. As in a shell, `$1` within single quotes is not
 * an argument (`awk '{print $1}'`).
 */
export function fillShellLine(line: string, values: ShellValues): FilledLine {
  const slots = [...line.matchAll(PLACEHOLDER)].flatMap(({ 0: name, index: pos }) => {
    const value = valueOf(name, values);
    return value === undefined ? [] : [{ name, pos, value }];
  });
  if (slots.length === 0) return { line, usesArguments: false };
  const places = findPlaces(line);
  let filled = '';
  /** The same with words that say nothing. */
  let blank = '';
  let end = 0;
  let usesArguments = false;
  let isAllHarmless = true;
  const seen: string[] = [];
  /** The same for the same word, so that the lines stay alike. */
  const blankOf = (word: string): string => {
    if (!seen.includes(word)) seen.push(word);
    return `${BLANK}${seen.indexOf(word)}.`;
  };
  for (const { name, pos, value } of slots) {
    const place = places.find((each) => each.pos <= pos && pos < each.end);
    if (place === undefined ? isEscaped(line, pos) : place.quote === "'" && /\d$/.test(name)) continue;
    const isMissing = /\d$/.test(name) && value.words.length === 0;
    if (values.keepsQuoted === true && isMissing && isInSingleQuotes(line, pos)) continue;
    const isArgument = !name.startsWith('${');
    const quote = place?.quote ?? '';
    const isHarmless =
      value.words.every((word) => HARMLESS.test(word)) && (quote === '' || HARMLESS_WORDS.test(value.whole));
    if (!isHarmless && (place === undefined || (isArgument && !mayHold(place, value)))) {
      return { fault: faultOf(name, value, line) };
    }
    if (isArgument && setsRunning(line.slice(0, pos))) return { fault: faultOf(name, value, line) };
    usesArguments ||= isArgument;
    isAllHarmless &&= isHarmless || !isArgument;
    const before = line.slice(end, pos);
    const put = isHarmless && quote === '' ? value.words.join(' ') : quoteValue(value, quote);
    filled += before + put;
    const parts = quote === '' ? value.words : [value.whole];
    blank += before + (isArgument ? parts.map(blankOf).join(' ') : put);
    end = pos + name.length;
  }
  filled += line.slice(end);
  blank += line.slice(end);
  if (usesArguments && !runsSame({ blank, filled, isAllHarmless, seen })) {
    return { fault: faultOf('$ARGUMENTS', { whole: values.args, words: values.words }, line) };
  }
  return { line: filled, usesArguments };
}

/** Within a line of a script, by its quotes alone; they are closed in the same line. */
export function isInSingleQuotes(line: string, pos: number): boolean {
  const before = line.slice(0, pos).replace(/\\.|"(?:\\.|[^"\\])*"|'[^']*'/g, (piece) => ' '.repeat(piece.length));
  const open = /["']/.exec(before)?.[0];
  return open === "'" && line.includes("'", pos);
}

/** With and without the arguments, the line runs the same programs in the same ways. */
function runsSame(lines: { blank: string; filled: string; isAllHarmless: boolean; seen: readonly string[] }): boolean {
  const [wanted, given] = [readPrograms(lines.blank), readPrograms(lines.filled)];
  if (wanted.programs !== given.programs || steers(wanted.segments, given.segments)) return false;
  // Of what nobody reads it is not known to whom it is an option.
  const read = wanted.segments.flatMap(({ words }) => words.map(({ value }) => value)).join(' ');
  if (lines.seen.some((word, at) => isOption(word) && !read.includes(`${BLANK}${at}.`))) return false;
  return lines.isAllHarmless || wanted.isClear;
}

/** What looks like an option and is more than that is no text. */
const mayHold = ({ isText, isFirst, quote }: Place, { whole, words }: Value): boolean =>
  isText && !(isFirst && (quote === '' ? words : [whole]).some((word) => word.startsWith('-') && !HARMLESS.test(word)));

const isEscaped = (line: string, pos: number): boolean => (/\\*$/.exec(line.slice(0, pos))?.[0].length ?? 0) % 2 === 1;

const faultOf = (name: string, { whole }: Value, line: string): string =>
  `${name} holds ${JSON.stringify(whole)}, which cannot be put safely into: ${line}\n` +
  'It could be run there, is an option, or is given to a program that may run it. Give plain words, or have a script of your own take it: ./script "$1"';

interface Value {
  whole: string;
  words: readonly string[];
}

function valueOf(name: string, { args, words, places }: ShellValues): Value | undefined {
  if (name === '$ARGUMENTS') return { whole: args, words };
  if (!name.startsWith('${')) {
    const word = words[Number(name.slice(1)) - 1];
    return word === undefined ? { whole: '', words: [] } : { whole: word, words: [word] };
  }
  const key = name.slice(2, -1);
  const place = Object.hasOwn(places, key) ? places[key] : undefined;
  return place === undefined ? undefined : { whole: place, words: [place] };
}

function quoteValue({ whole, words }: Value, quote: Quote): string {
  if (quote === '"') return whole.replace(/[\\"$`]/g, '\\$&');
  if (quote === "'") return whole.replaceAll("'", "'\\''");
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}
