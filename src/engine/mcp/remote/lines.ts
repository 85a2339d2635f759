/** One JSON-RPC message a line, as servers on stdio speak. */
import { HeddleError } from '../../../protocol/plain.js';

export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** A server that prints more than this beside its messages is not one. */
const MAX_GARBAGE_BYTES = MAX_MESSAGE_BYTES;
const GARBAGE_SHOWN = 200;

const LF = 10;

export interface LineSink {
  message(message: Record<string, unknown>): void;
  /** A line that is no message. `count` says how many there were by now. */
  garbage(text: string, count: number): void;
  /** There is no point in reading on. Nothing is delivered after it. */
  flood(error: HeddleError): void;
}

/** Gives a function that takes the bytes as they come. Lines end with LF only: U+2028 may stand inside of JSON. */
export function createLineReader(sink: LineSink): (chunk: Uint8Array) => void {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let garbageLines = 0;
  let garbageBytes = 0;
  let over = false;

  const fail = (words: string): void => {
    over = true;
    held = [];
    sink.flood(
      new HeddleError('frame_too_large', words, { hint: 'Ask the maker of the server to send less at once.' }),
    );
  };

  const reject = (text: string): void => {
    garbageLines += 1;
    garbageBytes += text.length;
    if (garbageBytes > MAX_GARBAGE_BYTES) return fail('it printed more than 16 MB that are no messages');
    sink.garbage(text.slice(0, GARBAGE_SHOWN), garbageLines);
  };

  const take = (line: Uint8Array): void => {
    const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8').trim();
    if (text === '') return;
    const parsed = parseMessages(text);
    if (parsed === undefined) return reject(text);
    for (const message of parsed) sink.message(message);
  };

  return (chunk) => {
    let at = 0;
    while (!over) {
      const end = chunk.indexOf(LF, at);
      if (end === -1) break;
      const piece = chunk.subarray(at, end);
      at = end + 1;
      if (heldBytes + piece.byteLength > MAX_MESSAGE_BYTES) return fail('it sent a message of more than 16 MB');
      const line = heldBytes === 0 ? piece : Buffer.concat([...held, piece]);
      held = [];
      heldBytes = 0;
      take(line);
    }
    if (over || at === chunk.byteLength) return;
    held.push(chunk.subarray(at));
    heldBytes += chunk.byteLength - at;
    if (heldBytes > MAX_MESSAGE_BYTES) fail('it sent a message of more than 16 MB');
  };
}

/** The messages of a line; several where the server sends a batch. Undefined for anything else. */
function parseMessages(text: string): Record<string, unknown>[] | undefined {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const messages: unknown[] = Array.isArray(value) ? value : [value];
  return messages.length > 0 && messages.every(isMessage) ? messages : undefined;
}

const isMessage = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
