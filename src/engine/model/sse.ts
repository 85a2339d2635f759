/** Server-sent events, as the Messages API sends them: little more than `indexOf` and `JSON.parse` per event. */
import { HeddleError } from '../../protocol/plain.js';

export interface SseEvent {
  type: string;
  [key: string]: unknown;
}

export interface SseParser {
  /** The events that this chunk completes, in order. Never throws. */
  push(chunk: Uint8Array): SseEvent[];
  /** The event that the end of the stream completes although its blank line is missing. */
  end(): SseEvent[];
  /** Set when the stream cannot be trusted any more: what came before it was still returned. */
  readonly failure: HeddleError | undefined;
}

export function createSseParser(): SseParser {
  const decoder = new TextDecoder();
  /** A line whose end has not arrived. Only ever appended to until it has: long lines stay linear. */
  let rest = '';
  let endedInCr = false;
  /** The `data:` lines of the event being read, joined. */
  let data: string | undefined;
  let isError = false;
  let failure: HeddleError | undefined;

  const dispatch = (events: SseEvent[]): void => {
    const text = data;
    const error = isError;
    data = undefined;
    isError = false;
    if (text === undefined || failure !== undefined) return;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      if (error) events.push({ type: 'error', error: { type: 'api_error', message: text } });
      else failure = badEvent('an event that is not JSON', cause);
      return;
    }
    if (isEvent(value)) events.push(error ? { ...value, type: 'error' } : value);
    else failure = badEvent('an event without a type');
  };

  const readLine = (line: string, events: SseEvent[]): void => {
    if (line === '') return dispatch(events);
    if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (line.startsWith('event:')) {
      isError = line === 'event: error' || line === 'event:error';
    }
  };

  const readText = (text: string, events: SseEvent[]): void => {
    const newline = text.indexOf('\n');
    if (newline < 0) {
      rest += text;
      return;
    }
    readLine(rest + text.slice(0, newline), events);
    const lines = text.slice(newline + 1).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) readLine(line, events);
  };

  /** Carriage returns are rare, so one search per chunk decides whether to rewrite it. */
  const withLineFeeds = (text: string): string => {
    const joined = endedInCr && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') endedInCr = text.endsWith('\r');
    return joined.includes('\r') ? joined.replace(/\r\n?/g, '\n') : joined;
  };

  return {
    push(chunk) {
      const events: SseEvent[] = [];
      readText(withLineFeeds(decoder.decode(chunk, { stream: true })), events);
      return events;
    },
    end() {
      const events: SseEvent[] = [];
      const earlier = failure;
      readText(`${decoder.decode()}\n\n`, events);
      // Half an event at the end is a cut stream, not a malformed one: the caller sees that message_stop is missing.
      failure = earlier;
      return events;
    },
    get failure() {
      return failure;
    },
  };
}

const isEvent = (value: unknown): value is SseEvent =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const badEvent = (what: string, cause?: unknown): HeddleError =>
  new HeddleError('model_stream', `The model API sent ${what}.`, { retryable: true, cause });
