import { describe, expect, it } from 'vitest';
import { boundText, cutText } from '../../src/engine/tools/bound.js';
import { createReadLedger } from '../../src/engine/tools/ledger.js';
import { createOutputBuffer } from '../../src/engine/tools/output-buffer.js';
import { createRandom } from './apply-patch.js';

describe('boundText', () => {
  it('leaves short text alone', async () => {
    expect(await boundText('abc', { max: 3 })).toBe('abc');
  });

  it('keeps the head within the limit and says where the whole is', async () => {
    const kept: string[] = [];
    const text = 'x'.repeat(1_000);
    const bounded = await boundText(text, {
      max: 200,
      keep: async (whole) => {
        kept.push(whole);
        return '/kept/it';
      },
    });
    expect(bounded.length).toBeLessThanOrEqual(200);
    expect(bounded).toMatch(/^x+\n\n\[Cut: the first \d+ of 1,000 characters\. The whole text is in \/kept\/it\]$/);
    expect(kept).toEqual([text]);
  });

  it('says when the whole could not be kept', async () => {
    const bounded = await boundText('x'.repeat(1_000), {
      max: 200,
      keep: () => Promise.reject(new Error('disk full')),
    });
    expect(bounded).toContain('could not be kept: disk full');
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
