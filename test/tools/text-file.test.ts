import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  decodeText,
  type Encoding,
  encodeText,
  isBinary,
  showBytes,
  showText,
  toFileText,
} from '../../src/engine/tools/text-file.js';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const little = (text: string): Buffer => Buffer.from(text, 'utf16le');
const big = (text: string): Buffer => little(text).swap16();

const texts: [string, Buffer, Encoding, boolean, string][] = [
  ['UTF-8', Buffer.from('é 😀\r\n'), 'utf8', false, 'é 😀\r\n'],
  ['UTF-8 with a mark', Buffer.from('\ufeffé'), 'utf8', true, 'é'],
  ['nothing', Buffer.alloc(0), 'utf8', false, ''],
  ['UTF-16 LE', little('\ufeffé😀'), 'utf16le', true, 'é😀'],
  ['UTF-16 BE', big('\ufeffé😀'), 'utf16be', true, 'é😀'],
  ['UTF-16 LE without a mark', little('plain text, é\r\n'), 'utf16le', false, 'plain text, é\r\n'],
  ['UTF-16 BE without a mark', big('plain text, é\r\n'), 'utf16be', false, 'plain text, é\r\n'],
  ['half a surrogate pair', little('\ufeffa\ud83d b'), 'utf16le', true, 'a\ufffd b'],
  ['Windows-1252', latin('caf\xe9 \x80 \x93quoted\x94'), 'windows1252', false, 'café € “quoted”'],
  ['bytes that mean nothing', latin('caf\xe9 \x81\x8d\x8f\x90\x9d'), 'windows1252', false, 'café \x81\x8d\x8f\x90\x9d'],
  ['French capitals before »', latin('\xe9\xe8\xe0\xe7\xe9 \xabCAF\xc9\xbb'), 'windows1252', false, 'éèàçé «CAFÉ»'],
  ['damaged UTF-8', Buffer.concat([Buffer.from('é ü '), Buffer.from([0xff])]), 'bytes', false, 'é ü \ufffd'],
  ['damage behind a mark', Buffer.concat([Buffer.from('\ufeffa '), Buffer.from([0xe9])]), 'bytes', true, 'a \ufffd'],
];

describe('text files', () => {
  it.each(texts)('%s is read, and comes back byte for byte', (_, bytes, encoding, bom, shown) => {
    const file = decodeText(bytes);
    expect({ encoding: file.encoding, bom: file.bom }).toEqual({ encoding, bom });
    expect(showText(file)).toBe(shown);
    const byBytes = showBytes(bytes);
    expect(byBytes.show(0, byBytes.bytes.length)).toBe(shown);
    expect(Buffer.from(encodeText(file))).toEqual(bytes);
    expect(isBinary(bytes)).toBe(false);
  });

  it('any bytes come back', () => {
    for (let length = 0; length < 400; length += 1) {
      const bytes = randomBytes(length);
      expect(Buffer.from(encodeText(decodeText(bytes)))).toEqual(bytes);
    }
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    expect(Buffer.from(encodeText(decodeText(all)))).toEqual(all);
  });

  it('the text of a model is put in as the file is encoded', () => {
    const file = decodeText(latin('caf\xe9'));
    expect(Buffer.from(encodeText({ ...file, text: file.text + toFileText(' – “ü”', file.encoding) }))).toEqual(
      latin('caf\xe9 \x96 \x93\xfc\x94'),
    );
    expect(toFileText('é', 'bytes')).toBe('\xc3\xa9');
  });

  it.each(['→', '😀', '\x85'])('Windows-1252 has no %j, which is said instead of being replaced', (character) => {
    const file = decodeText(latin('caf\xe9'));
    expect(() => encodeText({ ...file, text: `café ${character}` })).toThrow(
      `The file is in Windows-1252, which has no "${character}".`,
    );
  });

  it.each<[string, Buffer]>([
    ['a NUL', Buffer.from('text\0text')],
    ['numbers of 16 bits', Buffer.from(Uint16Array.from({ length: 100 }, (_, i) => i).buffer)],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0])],
    ['an odd number of bytes of UTF-16', little('plain text').subarray(0, 15)],
    ['control characters among bytes that are not UTF-8', latin('\x01\x02\xff\x03\xfe\x04abcdefghij')],
  ])('%s is binary', (_, bytes) => {
    expect(isBinary(bytes)).toBe(true);
  });

  it('colours of a terminal are text', () => {
    expect(isBinary(Buffer.from('\x1b[31mred\x1b[0m\x07\b\f'))).toBe(false);
    expect(isBinary(latin('\x1b[31mcaf\xe9\x1b[0m'))).toBe(false);
  });
});
