/**
 * Takes apart what ripgrep prints with `--null`: names that end with NUL, alone or each in front of a line. By bytes,
 * since a name may hold line ends.
 */

/** A line as `--line-number` prints it: `12:text` is a match, `12-text` is near one. */
export interface FoundLine {
  /** Absent in a remark of ripgrep about the file. */
  number?: number;
  isMatch: boolean;
  text: string;
}

export interface RecordTaker {
  /** For names alone. Like `onLine` it gives false when no more is wanted. */
  onName?(name: string): boolean;
  onLine?(name: string, line: FoundLine): boolean;
  /** `--column` is given: matches are printed as `12:5:text`, and long lines are shown around the match. */
  hasColumns?: boolean;
  /** A match may go over several lines. */
  isMultiline?: boolean;
}

export interface RecordReader {
  /** False when no more is wanted. */
  add(chunk: Uint8Array): boolean;
  end(): void;
}

const NUL = 0x00;
const LINE_END = 0x0a;
const REMARK =
  /^([^]*?): ((?:binary file matches|WARNING: stopped searching binary file after match) \(found "[^\n]*" byte around offset \d+\))\n/;

export function createRecordReader(taker: RecordTaker): RecordReader {
  const { onName, onLine, hasColumns = false, isMultiline = false } = taker;
  let open: Buffer[] = [];
  let isLine = false;
  let raw: Buffer = Buffer.alloc(0);
  let name = '';
  let last: Place | undefined;
  let wanted = true;

  /** Remarks come as lines of their own, without NUL: they end up in front of the next name. */
  const takeRemarks = (text: string): string => {
    let rest = text;
    for (let found = REMARK.exec(rest); found !== null; found = REMARK.exec(rest)) {
      const [whole, about = '', remark = ''] = found;
      wanted = wanted && onLine?.(nameOf(about), { isMatch: true, text: remark }) !== false;
      rest = rest.slice(whole.length);
    }
    return rest;
  };

  const takeName = (bytes: Buffer): void => {
    if (onLine === undefined) {
      wanted = onName?.(nameOf(bytes.toString())) !== false;
      return;
    }
    isLine = true;
    // The same name stands in front of each line of a file.
    if (raw.equals(bytes)) return;
    // Copied: the chunk that it is part of need not be kept.
    raw = Buffer.from(bytes);
    name = nameOf(takeRemarks(raw.toString()));
    last = undefined;
  };

  const takeLine = (bytes: Buffer): void => {
    isLine = false;
    let line: FoundLine;
    if (hasColumns) {
      const { place, text } = readAround(bytes, last);
      last = isMultiline ? place : undefined;
      line = { number: place.number, isMatch: place.column !== undefined, text };
    } else line = readLine(bytes);
    wanted = wanted && onLine?.(name, line) !== false;
  };

  return {
    add(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let from = 0; from < bytes.length && wanted; ) {
        const end = bytes.indexOf(isLine ? LINE_END : NUL, from);
        open.push(bytes.subarray(from, end === -1 ? bytes.length : end));
        if (end === -1) break;
        from = end + 1;
        const [first = bytes] = open;
        const whole = open.length === 1 ? first : Buffer.concat(open);
        open = [];
        if (isLine) takeLine(whole);
        else takeName(whole);
      }
      return wanted;
    },
    end() {
      if (onLine !== undefined && !isLine) takeRemarks(Buffer.concat(open).toString());
    },
  };
}

const nameOf = (printed: string): string => (printed.startsWith('./') ? printed.slice(2) : printed);

/** How much of a line is shown, in bytes, and how much of that is in front of the match. */
export const MAX_LINE = 500;
const BEFORE = 150;
/** As ripgrep says it. */
const [NO_START, NO_END] = ['[omitted start of long line ...] ', ' [... omitted end of long line]'];

/** Whether ripgrep has cut the line, and the match maybe with it. */
export const isCut = ({ isMatch, text }: FoundLine): boolean => isMatch && text.endsWith(NO_END);

function readLine(bytes: Buffer): FoundLine {
  const text = bytes.toString();
  const [head = '', number, mark] = /^(\d+)([:-])/.exec(text) ?? [];
  if (number === undefined) return { isMatch: true, text };
  return { number: Number(number), isMatch: mark === ':', text: text.slice(head.length) };
}

interface Place {
  number: number;
  /** Where the match starts, in bytes from 0; absent when the line is only near one. */
  column?: number;
}

function readAround(bytes: Buffer, last: Place | undefined): { place: Place; text: string } {
  // The numbers are shorter than that.
  const [head = '', number, match] = /^(\d+)(?:-|:(\d+):)/.exec(bytes.toString('latin1', 0, 48)) ?? [];
  const place: Place = { number: Number(number), ...(match !== undefined && { column: Number(match) - 1 }) };
  // Of a match over several lines each has the column of the first.
  const goesOn = last?.number === place.number - 1 && last.column === place.column;
  return { place, text: cutAround(bytes.subarray(head.length), goesOn ? 0 : (place.column ?? 0)) };
}

/** Half characters at the edges are left out too. */
function cutAround(line: Buffer, column: number): string {
  if (line.length <= MAX_LINE) return line.toString();
  const first = column <= MAX_LINE - BEFORE ? 0 : column - BEFORE;
  let start = first;
  while (first > 0 && ((line[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const part = line.subarray(start, first + MAX_LINE);
  if (first + MAX_LINE >= line.length) return `${NO_START}${part.toString()}`;
  // A decoder that expects more keeps half a character back.
  return `${first > 0 ? NO_START : ''}${new TextDecoder().decode(part, { stream: true })}${NO_END}`;
}
