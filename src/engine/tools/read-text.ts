import { extname } from 'node:path';
import type { ReadInput, ToolOutput } from '../../protocol/index.js';
import { cutText } from './bound.js';
import { UnshowableFile } from './file-kind.js';
import { showExcess, showSize } from './ordinary-file.js';
import { isBinary, showBytes } from './text-file.js';
import type { Encoding, ShownBytes } from './text-file.js';

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
    `File content (${showExcess(size, MAX_TEXT_BYTES)}) exceeds maximum allowed size (${showSize(MAX_TEXT_BYTES)}). ` +
      'Use offset and limit to read a part of the file, or Grep to find what you need.',
  );

export function readText(file: { path: string; bytes: Uint8Array; input: ReadInput }): ToolOutput {
  const { path, bytes, input } = file;
  if (isBinary(bytes)) {
    const suffix = extname(path);
    throw new UnshowableFile(
      `This tool cannot read binary files. The file appears to be a binary ${suffix === '' ? '' : `${suffix} `}file. ` +
        'Use a suitable program with Bash; Write may replace all of it.',
    );
  }
  const isWhole = input.offset === undefined && input.limit === undefined;
  if (isWhole && bytes.length > MAX_TEXT_BYTES) throw tooMuchText(bytes.length);

  const shown = showBytes(bytes);
  const startLine = Math.max(1, input.offset ?? 1);
  const part = findLines(shown.bytes, { startLine, most: input.limit ?? MAX_LINES });
  const lines = showLines(shown, part);
  const notes = [
    ...(input.limit === undefined ? noteRest({ startLine, shown: lines.length, total: part.total }) : []),
    ...ENCODING_NOTES[shown.encoding],
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
function findLines(bytes: Buffer, wanted: { startLine: number; most: number }): Part {
  const first = wanted.startLine - 1;
  const last = first + wanted.most;
  let start = first === 0 ? 0 : bytes.length;
  let end = bytes.length;
  let lines = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    if (bytes[i] !== LF) continue;
    lines += 1;
    if (lines === first) start = i + 1;
    if (lines === last) end = i + 1;
  }
  const endsOpen = bytes.length > 0 && bytes[bytes.length - 1] !== LF;
  return { start, end, total: endsOpen ? lines + 1 : lines };
}

function showLines(shown: ShownBytes, { start, end }: Part): string[] {
  const { bytes } = shown;
  const lines: string[] = [];
  let length = 0;
  for (let at = start; at < end; ) {
    const newline = bytes.indexOf(LF, at);
    const next = newline === -1 || newline >= end ? end : newline;
    const line = shown.show(at, next > at && bytes[next - 1] === CR ? next - 1 : next);
    // Without the notes on what was cut, lest a text under the limit be called too long.
    length += Math.min(line.length, MAX_LINE_LENGTH) + 1;
    if (length > MAX_TEXT_BYTES + 1) throw tooMuchText(end - start);
    lines.push(cutLine(line));
    at = next + 1;
  }
  return lines;
}

function cutLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  // A copy: a part of the line would hold all of it in memory.
  const head = Buffer.from(cutText(line, MAX_LINE_LENGTH)).toString();
  return `${head}... [cut: this line has ${line.length.toLocaleString('en-US')} characters]`;
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
