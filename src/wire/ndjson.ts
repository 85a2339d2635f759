/** NDJSON by hand: lines end at LF and nowhere else, because line readers also split on U+2028, U+2029, NEL or CR. */
import { HeddleError } from '../protocol/plain.js';

const LF = 0x0a;
const BYTE_ORDER_MARK = '\uFEFF';

export const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

export interface LineDecoderOptions {
  /** The longest line accepted, in bytes without its LF. */
  maxLineBytes?: number;
  /** One line without its LF; empty and blank lines are left out. Must not throw. */
  onLine: (line: string) => void;
  /** Called at most once; the decoder ignores everything after it. */
  onError: (error: HeddleError) => void;
}

export interface LineDecoder {
  /** Takes the next bytes. They are kept by reference until their line is complete, so they must not change. */
  write(chunk: Uint8Array): void;
  /** Delivers a last line that has no LF. */
  end(): void;
  /** Ignores everything from here on, also the rest of the chunk that is being read. */
  stop(): void;
}

export function createLineDecoder(options: LineDecoderOptions): LineDecoder {
  const { onLine, onError, maxLineBytes = DEFAULT_MAX_LINE_BYTES } = options;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let stopped = false;
  let isStart = true;

  function stop(): void {
    stopped = true;
    pending = [];
    pendingBytes = 0;
  }

  function fitsWith(bytes: number): boolean {
    if (pendingBytes + bytes <= maxLineBytes) return true;
    stop();
    onError(
      new HeddleError('frame_too_large', `A line is longer than ${maxLineBytes} bytes.`, { data: { maxLineBytes } }),
    );
    return false;
  }

  function keep(part: Uint8Array): void {
    if (part.length === 0 || !fitsWith(part.length)) return;
    pending.push(part);
    pendingBytes += part.length;
  }

  function deliver(bytes: Buffer, from: number, to: number): void {
    const text = bytes.toString('utf8', from, to);
    // Some writers begin a stream with it; anywhere else it is a mistake in the frame.
    const line = isStart && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    isStart = false;
    if (line.length === 0 || isBlank(line)) return;
    onLine(line);
  }

  function deliverPending(): void {
    const whole = Buffer.concat(pending, pendingBytes);
    pending = [];
    pendingBytes = 0;
    deliver(whole, 0, whole.length);
  }

  function write(chunk: Uint8Array): void {
    if (stopped) return;
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let lf = bytes.indexOf(LF); lf !== -1; lf = bytes.indexOf(LF, start)) {
      if (pendingBytes > 0) {
        keep(bytes.subarray(start, lf));
        if (!stopped) deliverPending();
      } else if (fitsWith(lf - start)) {
        deliver(bytes, start, lf);
      }
      if (stopped) return;
      start = lf + 1;
    }
    keep(bytes.subarray(start));
  }

  function end(): void {
    if (!stopped && pendingBytes > 0) deliverPending();
    stop();
  }

  return { write, end, stop };
}

/** JSON leaves U+2028 and U+2029 raw; they are escaped so that nobody's line reader cuts a frame in two. */
export function encodeLine(frame: object): string {
  const json = stringify(frame);
  return /[\u2028\u2029]/.test(json)
    ? `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
    : `${json}\n`;
}

/** The value of one line. Throws `invalid_frame` with how the line begins. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    const start = line.slice(0, 80);
    throw new HeddleError('invalid_frame', `A line of ${line.length} characters is not JSON: ${start}`, {
      cause,
      data: { start, length: line.length },
    });
  }
}

function stringify(frame: object): string {
  try {
    return JSON.stringify(frame);
  } catch (cause) {
    throw new HeddleError('invalid_frame', `A frame cannot be written as JSON: ${String(cause)}`, { cause });
  }
}

/** JSON whitespace only, as a CRLF writer leaves between frames. */
function isBlank(line: string): boolean {
  const first = line.charCodeAt(0);
  return (first === 0x0d || first === 0x20 || first === 0x09) && /^[ \t\r]*$/.test(line);
}
