/** A cassette: model calls kept as JSON lines. The first line says what it is, every other one holds a call. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ModelEvent } from '../../protocol/index.js';
import { ERROR_CODES, type ErrorCode, HeddleError } from '../../protocol/plain.js';
import type { CanonicalRequest } from './canonical.js';
import { makeFolders } from '../workspace/folders.js';

export const CASSETTE_FORMAT = 1;

export interface CassetteHeader {
  cassette: number;
  /** The provider that was recorded, as it called itself. */
  provider: string;
  keySource: string;
  searchesWeb?: true;
}

/** The failure of a call: what a HeddleError holds. */
export interface RecordedError {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  hint: string;
  data: Record<string, unknown>;
}

export interface Recording {
  /** Which call of the recorder this was, from 1. Calls that overlap end in another order than they begin. */
  call: number;
  request: CanonicalRequest;
  requestId?: string;
  events: readonly ModelEvent[];
  /** The call failed after these events. */
  error?: RecordedError;
  /** The caller ended the call after these events. */
  cut?: true;
}

/** A recording and the line where it stands, from 1. */
export interface PlacedRecording extends Recording {
  line: number;
}

export interface Cassette {
  header: CassetteHeader;
  /** In the order in which the calls began. */
  recordings: readonly PlacedRecording[];
}

/** Takes one line, without its newline. The first is the header. */
export type CassetteSink = (line: string) => void | Promise<void>;

/** Each call is one write to the end of the file. The first one replaces what an earlier recording left. */
export function createFileSink(file: string): CassetteSink {
  let header: string | undefined;
  let begun = false;
  return (line) => {
    if (header === undefined) {
      header = line;
      return;
    }
    try {
      if (begun) {
        appendFileSync(file, `${line}\n`);
        return;
      }
      makeFolders(dirname(file));
      writeFileSync(file, `${header}\n${line}\n`);
      begun = true;
    } catch (error) {
      throw new HeddleError('invalid_config', `The cassette ${file} cannot be written: ${messageOf(error)}`, {
        hint: 'Name a file in a folder that can be written to.',
        cause: error,
      });
    }
  };
}

/** Reads a file, or lines as a sink was given them. Throws `invalid_config` with the file and the line at fault. */
export function readCassette(source: string | readonly string[]): Cassette {
  return typeof source === 'string'
    ? parseCassette(readLines(source), source)
    : parseCassette(source, 'the given lines');
}

function readLines(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const problem = isMissing ? 'does not exist' : `cannot be read: ${messageOf(error)}`;
    throw new HeddleError('invalid_config', `The cassette ${file} ${problem}.`, {
      hint: 'Record it first: run the same program with its provider wrapped in createRecorder.',
      cause: error,
      data: { file },
    });
  }
  return text.replace(/^\uFEFF/, '').split(/\r?\n/);
}

function parseCassette(lines: readonly string[], file: string): Cassette {
  const [first = '', ...rest] = lines;
  const header = parseHeader(first, file);
  const recordings = rest.flatMap((text, index): PlacedRecording[] => {
    if (text.trim() === '') return [];
    return [parseRecording(text, { file, line: index + 2 })];
  });
  return { header, recordings: recordings.toSorted((a, b) => a.call - b.call) };
}

interface Place {
  file: string;
  line: number;
}

function parseHeader(text: string, file: string): CassetteHeader {
  const place = { file, line: 1 };
  const value =
    text.trim() === '' ? fail(place, 'is empty, and should say that this is a cassette') : parseObject(text, place);
  const { cassette, provider, keySource, searchesWeb } = value;
  if (typeof cassette !== 'number') return fail(place, 'does not say that this is a cassette');
  if (cassette !== CASSETTE_FORMAT) {
    return fail(place, `says format ${cassette}, and this version reads format ${CASSETTE_FORMAT}`);
  }
  return {
    cassette,
    provider: typeof provider === 'string' ? provider : 'replay',
    keySource: typeof keySource === 'string' ? keySource : 'none',
    ...(searchesWeb === true && { searchesWeb }),
  };
}

function parseRecording(text: string, place: Place): PlacedRecording {
  const value = parseObject(text, place);
  const { call, request, events, requestId, error, cut } = value;
  if (typeof call !== 'number') return fail(place, 'has no number `call`');
  if (!isRecord(request) || !isRecord(request['body']) || !Array.isArray(request['body']['messages'])) {
    return fail(place, 'has no `request` with a `body` and its `messages`');
  }
  if (!Array.isArray(request['betas'])) return fail(place, 'has no list `request.betas`');
  if (!Array.isArray(events)) return fail(place, 'has no list `events`');
  const wrong = events.findIndex((event) => !isRecord(event) || typeof event['type'] !== 'string');
  if (wrong >= 0) return fail(place, `has something in \`events[${wrong}]\` that is no event`);
  return {
    line: place.line,
    call,
    request,
    events: events as ModelEvent[],
    ...(typeof requestId === 'string' && { requestId }),
    ...(error !== undefined && { error: parseError(error, place) }),
    ...(cut === true && { cut }),
  };
}

function parseError(value: unknown, place: Place): RecordedError {
  if (!isRecord(value)) return fail(place, 'has an `error` that is no object');
  const { code, message, retryable, hint, data } = value;
  if (typeof code !== 'string' || !Object.hasOwn(ERROR_CODES, code)) {
    return fail(place, `has the unknown error code ${JSON.stringify(code)}`);
  }
  return {
    code: code as ErrorCode,
    message: String(message),
    retryable: retryable === true,
    hint: typeof hint === 'string' ? hint : ERROR_CODES[code as ErrorCode],
    data: isRecord(data) ? data : {},
  };
}

function parseObject(text: string, place: Place): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fail(place, `is not JSON (${messageOf(error)})`);
  }
  return isRecord(value) ? value : fail(place, 'is not a JSON object');
}

function fail({ file, line }: Place, problem: string): never {
  throw new HeddleError('invalid_config', `The cassette ${file} cannot be used: line ${line} ${problem}.`, {
    hint: 'If it is a cassette, record it again; lines are not meant to be edited by hand.',
    data: { file, line },
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
