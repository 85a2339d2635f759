import { describe, expect, it } from 'vitest';
import type { HeddleError } from '../../src/protocol/index.js';
import { createLineDecoder, encodeLine, parseLine } from '../../src/wire/index.js';
import { createRandom } from './doubles.js';

function decode(chunks: readonly Uint8Array[], maxLineBytes?: number) {
  const lines: string[] = [];
  const errors: HeddleError[] = [];
  const decoder = createLineDecoder({
    maxLineBytes,
    onLine: (line) => lines.push(line),
    onError: (error) => errors.push(error),
  });
  for (const chunk of chunks) decoder.write(chunk);
  decoder.end();
  return { lines, errors };
}

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');

function cutAtRandom(whole: Buffer, random: (below: number) => number, longest: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let start = 0; start < whole.length; ) {
    const end = start + random(longest + 1);
    chunks.push(whole.subarray(start, end));
    start = end;
  }
  return chunks;
}

const ALPHABET = [
  'a',
  '"',
  '\\',
  '\n',
  '\r',
  '\r\n',
  '\u0085',
  '\u2028',
  '\u2029',
  'é',
  '漢',
  '😀',
  '\u0000',
  '\t',
  ' ',
  '{',
  '\uFEFF',
];

describe('line decoder', () => {
  it('gives back every frame whatever the chunks are', () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const random = createRandom(seed);
      const frames = Array.from({ length: 1 + random(12) }, (_, number) => ({
        type: 'x',
        number,
        text: Array.from({ length: random(40) }, () => ALPHABET[random(ALPHABET.length)]).join(''),
      }));
      const whole = bytes(frames.map(encodeLine).join(''));
      const { lines, errors } = decode(cutAtRandom(whole, random, 1 + random(64)));
      expect({ seed, frames: lines.map(parseLine), errors }).toEqual({ seed, frames, errors: [] });
    }
  });

  it('joins a multi-byte character that is cut at any byte', () => {
    const whole = bytes('{"t":"é漢😀"}\n{"t":"z"}\n');
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const { lines } = decode([whole.subarray(0, cut), whole.subarray(cut)]);
      expect(lines).toEqual(['{"t":"é漢😀"}', '{"t":"z"}']);
    }
    expect(decode([...whole].map((byte) => Uint8Array.of(byte))).lines).toEqual(['{"t":"é漢😀"}', '{"t":"z"}']);
  });

  it('splits on LF and on nothing else', () => {
    const text = 'a\u2028b\u2029c\u0085d\re\u000bf\u000cg';
    const { lines } = decode([bytes(`{"t":"${text}"}\n[1]\n`)]);
    expect(lines).toEqual([`{"t":"${text}"}`, '[1]']);
  });

  it('takes CR before LF as white space, and skips empty and blank lines', () => {
    const { lines } = decode([bytes('{"a":1}\r\n\r\n\n  \t\n{"b":2}\r\n')]);
    expect(lines.map(parseLine)).toEqual([{ a: 1 }, { b: 2 }]);
  });

  it('delivers a last line without LF at the end', () => {
    expect(decode([bytes('{"a":1}\n{"b"'), bytes(':2}')]).lines).toEqual(['{"a":1}', '{"b":2}']);
    expect(decode([bytes('{"a":1}\n')]).lines).toEqual(['{"a":1}']);
    expect(decode([]).lines).toEqual([]);
  });

  it('replaces broken UTF-8 instead of failing, and does not lose the LF after it', () => {
    const { lines } = decode([Buffer.concat([bytes('{"t":"'), Buffer.from([0xe6, 0xbc]), bytes('"}\n{}\n')])]);
    expect(lines).toEqual(['{"t":"\uFFFD"}', '{}']);
  });

  it('refuses a line over the cap, counted in bytes, in one chunk or in many', () => {
    const fits = `"${'é'.repeat(49)}"`;
    const tooLong = `"${'é'.repeat(49)}x"`;
    for (const size of [1, 7, 4096]) {
      const whole = bytes(`${fits}\n${tooLong}\n{}\n`);
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
        whole.subarray(i * size, (i + 1) * size),
      );
      const { lines, errors } = decode(chunks, 100);
      expect(lines).toEqual([fits]);
      expect(errors.map(({ code, data }) => ({ code, data }))).toEqual([
        { code: 'frame_too_large', data: { maxLineBytes: 100 } },
      ]);
    }
  });

  it('says so as soon as the cap is passed, not when the line ends', () => {
    const errors: HeddleError[] = [];
    const decoder = createLineDecoder({ maxLineBytes: 10, onLine: () => {}, onError: (error) => errors.push(error) });
    decoder.write(bytes('12345678901'));
    expect(errors).toHaveLength(1);
    decoder.write(bytes('more\n{}\n'));
    decoder.end();
    expect(errors).toHaveLength(1);
  });

  it('stops in the middle of a chunk when told to', () => {
    const lines: string[] = [];
    const decoder = createLineDecoder({
      onLine(line) {
        lines.push(line);
        if (lines.length === 2) decoder.stop();
      },
      onError: () => {},
    });
    decoder.write(bytes('1\n2\n3\n'));
    decoder.write(bytes('4\n'));
    decoder.end();
    expect(lines).toEqual(['1', '2']);
  });

  it('reads a chunk of many lines, and a line of many chunks, in linear time', () => {
    const line = `${JSON.stringify({ type: 'x', text: 'y'.repeat(40) })}\n`;
    expect(decode([bytes(line.repeat(200_000))]).lines).toHaveLength(200_000);
    const chunk = bytes('z'.repeat(256));
    const { lines } = decode([bytes('"'), ...Array.from({ length: 100_000 }, () => chunk), bytes('"\n')]);
    expect(lines[0]).toHaveLength(25_600_002);
  });
});

describe('a byte order mark', () => {
  const MARK = [0xef, 0xbb, 0xbf];

  it('is no part of the first line, however it is cut', () => {
    const whole = Buffer.from([...MARK, ...bytes('{"a":1}\n{"b":2}\n')]);
    expect(decode([whole]).lines).toEqual(['{"a":1}', '{"b":2}']);
    expect(decode(Array.from(whole, (byte) => Uint8Array.of(byte))).lines).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('stays where it stands anywhere else', () => {
    expect(decode([bytes('1\n\uFEFF2\n')]).lines).toEqual(['1', '\uFEFF2']);
    expect(decode([bytes('\n\uFEFF2\n')]).lines).toEqual(['\uFEFF2']);
    expect(decode([bytes('\uFEFF\uFEFF2\n')]).lines).toEqual(['\uFEFF2']);
  });
});

describe('line encoder', () => {
  it('writes one line that no line reader splits', () => {
    const frame = { type: 'x', text: 'a\u2028b\u2029c\n\r', '\u2028': 1 };
    const line = encodeLine(frame);
    expect(line).toBe('{"type":"x","text":"a\\u2028b\\u2029c\\n\\r","\\u2028":1}\n');
    expect(parseLine(line)).toEqual(frame);
  });

  it('refuses what JSON cannot hold with a typed error', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const frame of [cycle, { n: 1n }]) {
      expect(() => encodeLine(frame)).toThrow(expect.objectContaining({ code: 'invalid_frame' }));
    }
  });
});

describe('parseLine', () => {
  it('names the start and the length of what is not JSON', () => {
    const line = `oops ${'x'.repeat(200)}`;
    expect(() => parseLine(line)).toThrow(
      expect.objectContaining({ code: 'invalid_frame', data: { start: line.slice(0, 80), length: 205 } }),
    );
  });
});
