/** From lines of a log, and from what a person looks for, to what the index understands. */
import type { UserContentBlock } from '../../protocol/index.js';
import { type AssistantEntry, isChainEntry, parseEntry, toBlocks, type UserEntry } from '../sessions/entry.js';

/** What one line of a log adds to the index. */
export type Indexed =
  | { kind: 'said'; uuid: string; text: string; cwd?: string }
  | { kind: 'title' | 'tag'; text: string };

/** Of a longer text the start is found. */
const MAX_TEXT = 64 * 1024;
const MAX_INPUT = 400;

/** Undefined for a line in which nothing can be found: results of tools, and what the engine put in. */
export function toIndexed(line: string): Indexed | undefined {
  if (line.startsWith('{"type":"heddle"')) return undefined;
  const mark = toMark(line);
  if (mark !== undefined) return mark;
  const entry = parseEntry(line);
  if (entry === undefined || !isChainEntry(entry) || entry.type === 'system' || entry.isSidechain) return undefined;
  const text = entry.type === 'user' ? textOfPrompt(entry) : textOfAnswer(entry);
  if (text.trim() === '') return undefined;
  return { kind: 'said', uuid: entry.uuid, text: splitLetters(text.slice(0, MAX_TEXT)), cwd: entry.cwd };
}

function toMark(line: string): Indexed | undefined {
  const type = /^\{"type":"(custom-title|tag)"/.exec(line)?.[1];
  if (type === undefined) return undefined;
  try {
    const { customTitle, tag } = JSON.parse(line) as { customTitle?: unknown; tag?: unknown };
    const text = type === 'tag' ? tag : customTitle;
    return { kind: type === 'tag' ? 'tag' : 'title', text: typeof text === 'string' ? splitLetters(text) : '' };
  } catch {
    return undefined;
  }
}

function textOfPrompt({ isMeta, isCompactSummary, message }: UserEntry): string {
  if (isMeta || isCompactSummary) return '';
  return textsOf(toBlocks(message.content)).join('\n');
}

const textOfAnswer = ({ message }: AssistantEntry): string =>
  message.content
    .flatMap((block) => {
      if (block.type === 'text') return [block.text];
      return block.type === 'tool_use' ? [`${block.name} ${textOfInput(block.input)}`] : [];
    })
    .join('\n');

const textsOf = (blocks: readonly UserContentBlock[]): string[] =>
  blocks.flatMap((block) => (block?.type === 'text' ? [block.text] : []));

/** Commands, paths and patterns stand at the start of an input; whole files are no words that someone remembers. */
function textOfInput(input: unknown): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value.slice(0, MAX_INPUT));
    else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) collect(one);
  };
  collect(input);
  return texts.join(' ').slice(0, MAX_INPUT);
}

/** Scripts without spaces between words: each sign is a word of its own, or nothing inside of a sentence is found. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const DENSE_LETTERS = new RegExp(DENSE.source, 'gu');
/** Draws nothing, and parts words. */
const SEAM = '\u200B';

export const splitLetters = (text: string): string =>
  DENSE.test(text) ? text.replaceAll(SEAM, '').replace(DENSE_LETTERS, `${SEAM}$&${SEAM}`) : text;

export const joinLetters = (text: string): string => text.replaceAll(SEAM, '');

const MAX_WORDS = 32;

/**
 * What was typed as phrases of the index, each of which stands for itself: whatever signs are in it, none of them is
 * syntax. Words also find what begins with them; what stands in quotes is meant exactly.
 */
export function toPhrases(query: string): string[] {
  const parts = query.slice(0, 2_000).match(/"[^"]*"|[^\s"]+/gu) ?? [];
  return parts
    .filter((part) => /[\p{L}\p{N}\p{Co}]/u.test(part))
    .slice(0, MAX_WORDS)
    .map((part) => {
      const isExact = part.startsWith('"');
      const text = splitLetters(part.replaceAll('"', ' ').replaceAll('\0', ' ')).trim();
      return `"${text}"${isExact ? '' : ' *'}`;
    });
}
