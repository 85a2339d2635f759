import { describe, expect, it } from 'vitest';
import type { ToolOutput } from '../../src/protocol/index.js';
import { boundOutput, cutText } from '../../src/engine/tools/bound.js';
import { createReadLedger } from '../../src/engine/tools/ledger.js';
import { createOutputBuffer } from '../../src/engine/tools/output-buffer.js';
import { createRandom } from './apply-patch.js';

/** Bounds to 200 characters, and remembers what was kept. */
async function bound(content: ToolOutput['content'], structured?: unknown) {
  const kept: [string, string | Uint8Array][] = [];
  const keep = async (name: string, data: string | Uint8Array) => {
    kept.push([name, data]);
    return `/kept/${name}`;
  };
  const output = await boundOutput({ content, structured }, { limits: { text: 200, field: 50 }, name: 'it', keep });
  return { output, kept };
}

describe('boundOutput', () => {
  it('leaves a short output alone', async () => {
    const { output, kept } = await bound('abc', { a: ['x'] });
    expect(output).toEqual({ content: 'abc', structured: { a: ['x'] } });
    expect(kept).toEqual([]);
  });

  it('keeps the head within the limit and says where the whole is', async () => {
    const text = 'x'.repeat(1_000);
    const { output, kept } = await bound(text);
    expect(output.content.length).toBeLessThanOrEqual(200);
    expect(output.content).toMatch(
      /^x+\n\n\[Cut: \d+ of 1,000 characters are left out\. The whole is kept in \/kept\/it\.txt\]\n\nx+$/,
    );
    expect(kept).toEqual([['it.txt', text]]);
  });

  it('lets blocks share the limit: one note and one file for all of them', async () => {
    const text = (length: number) => ({ type: 'text' as const, text: 'y'.repeat(length) });
    const { output, kept } = await bound([text(150), text(300), text(90), text(90)]);
    const shown = (output.content as { text: string }[]).map((block) => block.text);
    expect(shown).toEqual([
      'y'.repeat(150),
      'y'.repeat(50),
      '[Cut: 430 of 630 characters are left out. The whole is kept in /kept/it.txt]',
    ]);
    expect(kept.map(([name]) => name)).toEqual(['it.txt']);
  });

  it('bounds the number and the size of images', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png', data: 'A'.repeat(4_000_000) };
    const { output, kept } = await bound(Array.from({ length: 6 }, () => ({ type: 'image' as const, source })));
    expect((output.content as { type: string }[]).map(({ type }) => type)).toEqual(['image', 'image', 'image', 'text']);
    expect(kept).toHaveLength(3);
  });

  it('mends text that no model API takes', async () => {
    expect((await bound('a\ud800b')).output.content).toBe('a\ufffdb');
  });

  it('keeps an image that no model API takes', async () => {
    const bytes = Buffer.alloc(6 * 1024 * 1024, 7);
    const source = { type: 'base64' as const, media_type: 'image/png', data: bytes.toString('base64') };
    const { output, kept } = await bound([{ type: 'image', source }]);
    expect(output.content).toMatchObject([{ type: 'text', text: expect.stringContaining('/kept/it-1.png') }]);
    expect(Buffer.compare(kept[0]?.[1] as Uint8Array, bytes)).toBe(0);
  });

  it('cuts long strings of the structured result, however deep', async () => {
    const given = { list: [{ long: 'z'.repeat(80), short: 'z' }], same: { a: 1 } };
    const { output } = await bound('', given);
    const { list, same } = output.structured as typeof given;
    expect(list[0]).toEqual({ long: `${'z'.repeat(50)}\n\n[Cut: 80 characters]`, short: 'z' });
    expect(same).toBe(given.same);
    expect(given.list[0]?.long).toHaveLength(80);
  });

  it('says when the whole could not be kept', async () => {
    const keep = () => Promise.reject(new Error('disk full'));
    const output = await boundOutput({ content: 'x'.repeat(1_000) }, { limits: { text: 200 }, name: 'it', keep });
    expect(output.content).toContain('could not be kept: disk full');
  });

  it('never splits a surrogate pair', () => {
    expect(cutText('a😀b', 2)).toBe('a');
    expect(cutText('a😀b', 3)).toBe('a😀');
  });
});

describe('createOutputBuffer', () => {
  it('gives back what fits', () => {
    const buffer = createOutputBuffer({ headBytes: 4, tailBytes: 4 });
    for (const part of ['ab', 'cde', 'fgh']) buffer.append(Buffer.from(part));
    expect(buffer.text()).toBe('abcdefgh');
  });

  it('keeps head and tail of more, however it is cut into chunks', () => {
    const random = createRandom(3);
    for (let round = 0; round < 200; round += 1) {
      const bytes = Buffer.from(Array.from({ length: random(400) }, () => 97 + random(26)));
      const [headBytes, tailBytes] = [1 + random(50), 1 + random(50)];
      const buffer = createOutputBuffer({ headBytes, tailBytes });
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + random(80);
        buffer.append(bytes.subarray(at, at + size));
        at += size;
      }
      const dropped = bytes.length - headBytes - tailBytes;
      const expected =
        dropped <= 0
          ? bytes.toString()
          : `${bytes.subarray(0, headBytes).toString()}\n\n[${dropped} bytes were dropped here]\n\n${bytes.subarray(-tailBytes).toString()}`;
      expect(buffer.text()).toBe(expected);
    }
  });

  it('drops characters that were cut in half', () => {
    const buffer = createOutputBuffer({ headBytes: 5, tailBytes: 5 });
    buffer.append(Buffer.from('aaaéxxxxxéaaa'.replace('aaaé', 'aaaaé')));
    expect(buffer.text()).toMatch(/^aaaa\n\n\[\d+ bytes were dropped here\]\n\néaaa$/);
    const half = createOutputBuffer({ headBytes: 3, tailBytes: 4 });
    half.append(Buffer.from('xxxxxxéaaa'));
    expect(half.text()).toMatch(/^xxx\n\n.*\n\naaa$/);
  });
});

describe('createReadLedger', () => {
  it('knows content, not names, and can be kept and taken back', () => {
    const known: Record<string, string> = {};
    const ledger = createReadLedger({ onNote: (path, hash) => Object.assign(known, { [path]: hash }) });
    const bytes = Buffer.from('x');
    expect(ledger.compare('/a', bytes)).toBe('unread');
    ledger.note('/a', bytes);
    expect(ledger.compare('/a', Buffer.from('x'))).toBe('current');
    expect(ledger.compare('/a', Buffer.from('y'))).toBe('changed');
    const again = createReadLedger({ known });
    expect(again.compare('/a', bytes)).toBe('current');
    expect(again.compare('/b', bytes)).toBe('unread');
  });
});
