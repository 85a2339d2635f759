import { describe, expect, it } from 'vitest';
import { createSseParser, type SseEvent } from '../../src/engine/model/sse.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function parse(chunks: readonly Uint8Array[]): { events: SseEvent[]; failure: string | undefined } {
  const parser = createSseParser();
  const events = [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()];
  return { events, failure: parser.failure?.code };
}

/** A small generator with a seed, so that a failing run can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const EVENTS: SseEvent[] = [
  { type: 'message_start', message: { id: 'msg_1' } },
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'naïve \u{1F9F5} 織る\u2028line\u2029' },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'data: not a line\nevent: error\r\n' } },
  { type: 'ping' },
  { type: 'message_stop' },
];

const write = (newline: string): string =>
  `\ufeff: a comment${newline}${newline}` +
  EVENTS.map((event, index) => {
    const json = JSON.stringify(event);
    const middle = json.indexOf(',') + 1;
    const data =
      index === 0
        ? `data: ${json.slice(0, middle)}${newline}data:${json.slice(middle)}`
        : `data:${index % 2 ? ' ' : ''}${json}`;
    return `event: ${event.type}${newline}id: ${index}${newline}${data}${newline}: note${newline}retry: 5${newline}${newline}`;
  }).join('');

describe('the SSE parser', () => {
  for (const [name, newline] of [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ] as const) {
    it(`reads ${name} streams cut anywhere, also inside a character`, () => {
      const whole = bytes(write(newline));
      const random = createRandom(7);
      for (let round = 0; round < 300; round++) {
        const chunks: Uint8Array[] = [];
        const most = 1 + random(round % 3 === 0 ? 4 : 120);
        for (let start = 0; start < whole.length; ) {
          const end = start + 1 + random(most);
          chunks.push(whole.subarray(start, end));
          start = end;
        }
        expect(parse(chunks)).toEqual({ events: EVENTS, failure: undefined });
      }
    });
  }

  it('returns what each chunk completes, as one batch', () => {
    const parser = createSseParser();
    const [first, second, third] = EVENTS.slice(2).map((event) => `data: ${JSON.stringify(event)}\n\n`);
    expect(parser.push(bytes(`${first}${second}${third?.slice(0, 9)}`))).toHaveLength(2);
    expect(parser.push(bytes(third?.slice(9) ?? ''))).toEqual([EVENTS[4]]);
    expect(parser.push(bytes(''))).toEqual([]);
  });

  it('keeps what came before bad JSON and names the failure (G10)', () => {
    const parser = createSseParser();
    expect(parser.push(bytes('data: {"type":"a"}\n\ndata: {"type":\n\ndata: {"type":"b"}\n\n'))).toEqual([
      { type: 'a' },
    ]);
    expect(parser.failure).toMatchObject({ code: 'model_stream', retryable: true });
    expect(parser.push(bytes('data: {"type":"c"}\n\n'))).toEqual([]);
  });

  it('refuses JSON that is no event', () => {
    for (const json of ['1', 'null', '[]', '"text"', '{"no":"type"}', '{"type":3}']) {
      expect(parse([bytes(`data: ${json}\n\n`)])).toEqual({ events: [], failure: 'model_stream' });
    }
  });

  it('makes an error event of whatever follows `event: error`', () => {
    const plain = parse([bytes('event: error\ndata: upstream gone\n\n')]);
    expect(plain.events).toEqual([{ type: 'error', error: { type: 'api_error', message: 'upstream gone' } }]);
    const json = parse([
      bytes('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n'),
    ]);
    expect(json.events).toEqual([{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }]);
  });

  it('takes a last event without its blank line, and drops half of one', () => {
    expect(parse([bytes('data: {"type":"message_stop"}')]).events).toEqual([{ type: 'message_stop' }]);
    expect(parse([bytes('data: {"type":"a"}\n\ndata: {"type":"messa')])).toEqual({
      events: [{ type: 'a' }],
      failure: undefined,
    });
  });

  it('reads one long event in many small chunks', () => {
    const text = 'x'.repeat(2_000_000);
    const whole = bytes(`data: ${JSON.stringify({ type: 'a', text })}\n\n`);
    const chunks = Array.from({ length: Math.ceil(whole.length / 512) }, (_, index) =>
      whole.subarray(index * 512, (index + 1) * 512),
    );
    expect(parse(chunks).events).toEqual([{ type: 'a', text }]);
  });
});
