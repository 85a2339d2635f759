import { extname } from 'node:path';
import type { ReadInput, ToolOutput } from '../../protocol/index.js';
import { cutText } from './bound.js';
import { showSize } from './ordinary-file.js';
import { isBinary, showBytes } from './text-file.js';
import type { Encoding } from './text-file.js';

const MAX_LINES = 2_000;
const MAX_LINE_LENGTH = 2_000;
/** The most text that one call gives. */
export const MAX_TEXT_BYTES = 256 * 1024;

const LF = 10;
const CR = 13;

const ENCODING_NOTES: Record<Encoding, readonly string[]> = {
  utf8: [],
  utf16le: ['The file is in UTF-16 LE.'],
  utf16be: ['The file is in UTF-16 BE.'],
  windows1252: ['The file is not UTF-8: it is shown as Windows-1252.'],
  bytes: ['The file is damaged UTF-8: \ufffd stands for bytes that are not.'],
};

export const remind = (text: string): string => `<system-reminder>Warning: ${text}</system-reminder>`;

const tooMuchText = (size: number): Error =>
  new Error(
    `File content (${showSize(size)}) exceeds maximum allowed size (${showSize(MAX_TEXT_BYTES)}). ` +
      'Use offset and limit to read a part of the file, or Grep to find what you need.',
  );

export function readText(file: { path: string; bytes: Uint8Array; input: ReadInput }): ToolOutput {
  const { path, bytes, input } = file;
  if (isBinary(bytes)) {
    const suffix = extname(path);
    throw new Error(
      `This tool cannot read binary files. The file appears to be a binary ${suffix === '' ? '' : `${suffix} `}file. ` +
        'Use a suitable program with Bash.',
    );
  }
  const isWhole = input.offset === undefined && input.limit === undefined;
  if (isWhole && bytes.length > MAX_TEXT_BYTES) throw tooMuchText(bytes.length);

  const { utf8, encoding } = showBytes(bytes);
  const startLine = Math.max(1, input.offset ?? 1);
  const part = findLines(utf8, { startLine, most: input.limit ?? MAX_LINES });
  const lines = showLines(utf8, part);
  const notes = [
    ...(input.limit === undefined ? noteRest({ startLine, shown: lines.length, total: part.total }) : []),
    ...ENCODING_NOTES[encoding],
  ];
  return {
    content: numberLines(lines, { startLine, total: part.total, notes }),
    structured: {
      type: 'text',
      file: {
        filePath: path,
        content: lines.join('\n'),
        numLines: lines.length,
        startLine,
        totalLines: part.total,
      },
    },
  };
}

interface Part {
  start: number;
  /** Behind the last line, its ending included. */
  end: number;
  /** Lines of the whole file. A newline at the end does not start another line. */
  total: number;
}

/** Goes through the bytes once: a file of a million lines must not become a million strings. */
function findLines(utf8: Buffer, wanted: { startLine: number; most: number }): Part {
  const first = wanted.startLine - 1;
  const last = first + wanted.most;
  let start = first === 0 ? 0 : utf8.length;
  let end = utf8.length;
  let lines = 0;
  for (let i = 0; i < utf8.length; i += 1) {
    if (utf8[i] !== LF) continue;
    lines += 1;
    if (lines === first) start = i + 1;
    if (lines === last) end = i + 1;
  }
  const endsOpen = utf8.length > 0 && utf8[utf8.length - 1] !== LF;
  return { start, end, total: endsOpen ? lines + 1 : lines };
}

function showLines(utf8: Buffer, { start, end }: Part): string[] {
  const lines: string[] = [];
  let length = 0;
  for (let at = start; at < end; ) {
    const newline = utf8.indexOf(LF, at);
    const next = newline === -1 || newline >= end ? end : newline;
    const line = showLine(utf8, { start: at, end: next > at && utf8[next - 1] === CR ? next - 1 : next });
    length += line.length + 1;
    if (length > MAX_TEXT_BYTES + 1) throw tooMuchText(end - start);
    lines.push(line);
    at = next + 1;
  }
  return lines;
}

function showLine(utf8: Buffer, { start, end }: { start: number; end: number }): string {
  const text = utf8.toString('utf8', start, end);
  if (text.length <= MAX_LINE_LENGTH) return text;
  // Cut from a copy of the head: a part of `text` would hold all of it in memory.
  const head = utf8.toString('utf8', start, Math.min(end, start + MAX_LINE_LENGTH * 3 + 3));
  return `${cutText(head, MAX_LINE_LENGTH)}... [cut: this line has ${text.length.toLocaleString('en-US')} characters]`;
}

function noteRest({ startLine, shown, total }: { startLine: number; shown: number; total: number }): string[] {
  const lastLine = startLine + shown - 1;
  if (shown === 0 || lastLine === total) return [];
  return [`Lines ${startLine} to ${lastLine} of ${total}. Use offset and limit to read more.`];
}

function numberLines(
  lines: readonly string[],
  at: { startLine: number; total: number; notes: readonly string[] },
): string {
  const { startLine, total, notes } = at;
  if (total === 0) return remind('the file exists but the contents are empty.');
  if (lines.length === 0) {
    return remind(
      `the file exists but is shorter than the provided offset (${startLine}). The file has ${total} lines.`,
    );
  }
  const text = lines.map((line, i) => `${startLine + i}\t${line}`).join('\n');
  return notes.length === 0 ? text : `${text}\n\n[${notes.join(' ')}]`;
}
