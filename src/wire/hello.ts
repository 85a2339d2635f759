/** What the two ends of a reliable channel tell each other beside frames, and how a WebSocket between them may close. */
import { HeddleError } from '../protocol/plain.js';
import { isObject } from './envelope.js';
import { parseLine } from './ndjson.js';

/** The first message of each side on every socket. */
export interface Hello {
  type: 'heddle_hello';
  /** Chosen by the client; the same for every socket of one channel. */
  stream: string;
  /** How many frames the sender of this hello has received so far. */
  cursor: number;
  /** The client has met this stream before: a server that does not know it must not start a new one. */
  resume?: boolean;
}

/** Not counted: the sender may forget what lies before the cursor. */
export interface Ack {
  type: 'heddle_ack';
  cursor: number;
}

/** Counted like a frame, so that a half-close arrives once and in order. */
export const END = { type: 'heddle_end' } as const;

/** Counted like a frame. The carrier is closed both ways, with the words of the error if there was one. */
export interface Close {
  type: 'heddle_close';
  error?: string;
  error_code?: string;
}

/** Codes of WebSocket close frames; those above 4000 are ours. */
export const CLOSE_CODES = {
  done: 1000,
  goingAway: 1001,
  binary: 1003,
  tooLarge: 1009,
  failed: 1011,
  badFrame: 4400,
  unknownStream: 4404,
  silent: 4408,
  replaced: 4409,
} as const;

/** Both sides say hello within this time, or the socket is dropped. */
export const HELLO_MS = 10_000;
/** A side that closes waits this long for the other to have taken everything. */
export const LINGER_MS = 1_000;

const STREAM_ID = /^[\w-]{8,128}$/;

export const encodeHello = (hello: Omit<Hello, 'type'>): string => JSON.stringify({ type: 'heddle_hello', ...hello });

/** Throws `invalid_frame` with what is wrong. */
export function parseHello(text: string): Hello {
  const hello = parseLine(text);
  if (!isObject(hello) || hello.type !== 'heddle_hello')
    throw badHello('expected a message of type heddle_hello first');
  const { stream, cursor, resume } = hello;
  if (typeof stream !== 'string' || !STREAM_ID.test(stream)) {
    throw badHello('stream: expected 8 to 128 letters, digits, dashes or underscores');
  }
  if (!isCursor(cursor)) throw badHello('cursor: expected a count of frames');
  return { type: 'heddle_hello', stream, cursor, resume: resume === true };
}

export const badHello = (what: string): HeddleError => new HeddleError('invalid_frame', `heddle_hello: ${what}`);

export const isCursor = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** The code with which a socket closes when its stream has ended with this error. */
export function closeCodeFor(error: Error | undefined): number {
  if (error === undefined) return CLOSE_CODES.done;
  if (!(error instanceof HeddleError)) return CLOSE_CODES.failed;
  if (error.code === 'frame_too_large') return CLOSE_CODES.tooLarge;
  return error.code === 'invalid_frame' ? CLOSE_CODES.badFrame : CLOSE_CODES.failed;
}

/** Why a socket that closed with this code must not be opened again; undefined when it may be. */
export function fatalClose(code: number, reason: string): HeddleError | undefined {
  const words = reason === '' ? '' : `: ${reason}`;
  const data = { closeCode: code };
  switch (code) {
    case CLOSE_CODES.unknownStream:
      return new HeddleError('channel_closed', `The server no longer knows this stream${words}`, {
        data,
        hint: 'It was restarted, or waited in vain for this client. Open a new channel and resume the session.',
      });
    case CLOSE_CODES.replaced:
      return new HeddleError('channel_closed', `Another socket took over this stream${words}`, { data });
    case CLOSE_CODES.tooLarge:
      return new HeddleError('frame_too_large', `The other side refused a frame as too large${words}`, { data });
    case CLOSE_CODES.badFrame:
    case CLOSE_CODES.binary:
    case 1002:
    case 1007:
      return new HeddleError('invalid_frame', `The other side could not read what was sent${words}`, { data });
    default:
      return undefined;
  }
}
