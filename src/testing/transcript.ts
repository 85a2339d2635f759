/** What happened in a run, as text that stays the same from run to run. */
import type { Message } from '../protocol/index.js';
import { DEFAULT_MASKS, folderMask, type Mask, maskText } from '../engine/index.js';
import { diffLines, showDiff } from './line-diff.js';
import { textOfResult } from './messages.js';

export interface TranscriptOptions {
  /** Hidden beside ids, dates and the working directory: `[[folder, '<folder>']]`. */
  mask?: readonly Mask[];
  /** False leaves out the texts of tool results; whether they failed is always told. */
  resultTexts?: boolean;
}

/**
 * One line per message. Uuids and dates are masked, the working directory of the session is `<cwd>`, and ids of tool
 * calls that look random are numbered. Left out is what says nothing new (`tool_use_summary`) or depends on how long
 * something took (`tool_progress`).
 */
export function transcript(messages: readonly Message[], options: TranscriptOptions = {}): string {
  const masks = [...cwdMasks(messages), ...(options.mask ?? []), ...DEFAULT_MASKS];
  const lines = messages
    .filter((message) => !LEFT_OUT.has(message.type))
    .map((message) => maskText(lineOf(message, options), masks));
  return numberIds(lines.join('\n'));
}

const LEFT_OUT: ReadonlySet<string> = new Set(['tool_use_summary', 'tool_progress']);

/** Throws an Error that shows where the transcript differs from what was expected. Works with any test framework. */
export function expectTranscript(
  messages: readonly Message[],
  expected: string | readonly string[],
  options: TranscriptOptions = {},
): void {
  const received = transcript(messages, options).split('\n');
  const wanted = typeof expected === 'string' ? trimBlock(expected) : expected;
  const lines = diffLines(wanted, received);
  if (lines.every(([mark]) => mark === ' ')) return;
  const error = new Error(`The transcript is not the expected one (- expected, + received):\n${showDiff(lines)}`);
  Error.captureStackTrace(error, expectTranscript);
  throw error;
}

/** A text as it stands in a program: without the blank lines around it and without its indentation. */
function trimBlock(text: string): string[] {
  const lines = text.replace(/^(?:[ \t]*\n)+|\s+$/g, '').split('\n');
  const filled = lines.filter((line) => line.trim() !== '');
  const indent = Math.min(...filled.map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(indent));
}

function lineOf(message: Message, options: TranscriptOptions): string {
  const parent = 'parent_tool_use_id' in message ? message.parent_tool_use_id : undefined;
  return `${parent ? `${parent} > ` : ''}${describe(message, options)}`;
}

function describe(message: Message, options: TranscriptOptions): string {
  switch (message.type) {
    case 'system':
      return `system/${message.subtype}`;
    case 'assistant':
      return `assistant ${showBlocks(message.message.content, options)}${message.aborted ? ' (aborted)' : ''}`;
    case 'user':
      return `user ${showBlocks(message.message.content, options)}`;
    case 'result': {
      const code = message.error_code === undefined ? '' : `: ${message.error_code}`;
      return `result ${message.subtype}${message.is_error ? ` (error${code})` : ''} turns=${message.num_turns}`;
    }
    case 'stream_event':
      return `stream ${message.event.type}`;
    default:
      return message.type;
  }
}

interface AnyBlock {
  type: string;
}

function showBlocks(content: string | readonly AnyBlock[], options: TranscriptOptions): string {
  if (typeof content === 'string') return JSON.stringify(content);
  return content.map((block) => showBlock(block, options)).join(' + ');
}

function showBlock(block: AnyBlock, { resultTexts = true }: TranscriptOptions): string {
  const fields = block as Readonly<Record<string, unknown>> & AnyBlock;
  switch (block.type) {
    case 'text':
      return JSON.stringify(fields['text']);
    case 'tool_use':
      return `${String(fields['name'])}(${JSON.stringify(fields['input'])})`;
    case 'tool_result': {
      const outcome = `${fields['is_error'] === true ? 'error' : 'ok'} ${String(fields['tool_use_id'])}`;
      return resultTexts ? `${outcome} ${shorten(textOfResult(fields['content']))}` : outcome;
    }
    default:
      return block.type;
  }
}

const MOST_RESULT_TEXT = 200;

/** Results may be long: the start of one and the number of the rest tell them apart. */
function shorten(text: string): string {
  if (text.length <= MOST_RESULT_TEXT) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, MOST_RESULT_TEXT))} and ${text.length - MOST_RESULT_TEXT} characters more`;
}

function cwdMasks(messages: readonly Message[]): Mask[] {
  const init = messages.find((message) => message.type === 'system' && message.subtype === 'init');
  const cwd = init !== undefined && 'cwd' in init ? init.cwd : undefined;
  return typeof cwd === 'string' ? [folderMask(cwd, '<cwd>')] : [];
}

/** The ids that an API gives are long and random; those of scripts are short and stay. */
function numberIds(text: string): string {
  const numbers = new Map<string, number>();
  return text.replace(/\btoolu_\w{12,}/g, (id) => {
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    return `toolu_<${number}>`;
  });
}
