/** Text on disk: its encoding and line endings, decoded so that what was not changed comes back byte for byte. */
import { isUtf8 } from 'node:buffer';

/** `bytes` is UTF-8 with bytes in it that are not: each character of `text` stands for one byte. */
export type Encoding = 'utf8' | 'utf16le' | 'utf16be' | 'windows1252' | 'bytes';

export interface TextFile {
  /** Without the byte order mark. */
  text: string;
  encoding: Encoding;
  bom: boolean;
}

const PROBE_BYTES = 8 * 1024;
/** So many places are looked at to tell damaged UTF-8 from an encoding of one byte per character. */
const DAMAGE_PROBES = 4096;
const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);

const startsWith = (bytes: Uint8Array, ...prefix: number[]): boolean => prefix.every((byte, i) => bytes[i] === byte);

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const isTextByte = (byte: number): boolean =>
  (byte >= 0x20 && byte < 0x7f) || byte >= 0xa0 || (byte >= 0x08 && byte <= 0x0d) || byte === 0x1b;

function utf16Of(bytes: Uint8Array): { encoding: 'utf16le' | 'utf16be'; bom: boolean } | undefined {
  if (bytes.length % 2 === 1) return undefined;
  // The mark of UTF-32 starts with that of UTF-16.
  if (startsWith(bytes, 0xff, 0xfe)) {
    return startsWith(bytes, 0xff, 0xfe, 0, 0) ? undefined : { encoding: 'utf16le', bom: true };
  }
  if (startsWith(bytes, 0xfe, 0xff)) return { encoding: 'utf16be', bom: true };
  const probe = bytes.subarray(0, PROBE_BYTES);
  if (probe.length < 8 || !probe.includes(0)) return undefined;
  if (isPlainlyUtf16(probe, 1)) return { encoding: 'utf16le', bom: false };
  return isPlainlyUtf16(probe, 0) ? { encoding: 'utf16be', bom: false } : undefined;
}

/** Without a mark it must look like Western text: three of four characters in Latin-1, none of them a control character. */
function isPlainlyUtf16(probe: Uint8Array, highAt: 0 | 1): boolean {
  let latin = 0;
  for (let i = 0; i < probe.length; i += 2) {
    if (probe[i + highAt] !== 0) continue;
    if (!isTextByte(probe[i + 1 - highAt] ?? 0)) return false;
    latin += 1;
  }
  return latin * 8 >= probe.length * 3;
}

/** A NUL near the start means binary, unless the file is UTF-16; so do many control characters among invalid UTF-8. */
export function isBinary(bytes: Uint8Array): boolean {
  if (utf16Of(bytes) !== undefined) return false;
  const probe = bytes.subarray(0, PROBE_BYTES);
  if (probe.includes(0)) return true;
  if (isUtf8(bytes)) return false;
  const controls = probe.reduce((sum, byte) => (byte < 0x80 && !isTextByte(byte) ? sum + 1 : sum), 0);
  return controls * 20 > probe.length;
}

/** Whether some of what is not ASCII is UTF-8 after all, in a text that is not valid as a whole. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  let sequences = 0;
  let strays = 0;
  for (let i = 0; i < bytes.length && sequences + strays < DAMAGE_PROBES; i += 1) {
    const lead = bytes[i] ?? 0;
    if (lead < 0x80) continue;
    const length = sequenceLength(lead);
    if (length > 1 && isUtf8(bytes.subarray(i, i + length))) {
      sequences += 1;
      i += length - 1;
    } else {
      strays += 1;
    }
  }
  return sequences > 0 && sequences * 4 >= strays;
}

const sequenceLength = (lead: number): number => {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc2 ? 2 : 1;
};

function encodingOf(bytes: Uint8Array): { encoding: Encoding; bom: boolean } {
  const utf16 = utf16Of(bytes);
  if (utf16 !== undefined) return utf16;
  const bom = startsWith(bytes, ...UTF8_BOM);
  if (isUtf8(bytes)) return { encoding: 'utf8', bom };
  return { encoding: bom || isDamagedUtf8(bytes) ? 'bytes' : 'windows1252', bom };
}

export function decodeText(bytes: Uint8Array): TextFile {
  const { encoding, bom } = encodingOf(bytes);
  if (encoding === 'utf16le' || encoding === 'utf16be') {
    const body = bytes.subarray(bom ? 2 : 0);
    const little = encoding === 'utf16le' ? toBuffer(body) : Buffer.from(body).swap16();
    return { text: little.toString('utf16le'), encoding, bom };
  }
  const body = toBuffer(bytes.subarray(bom ? UTF8_BOM.length : 0));
  if (encoding === 'utf8') return { text: body.toString('utf8'), encoding, bom };
  return { text: encoding === 'windows1252' ? fromWindows1252(body) : body.toString('latin1'), encoding, bom };
}

/** Throws when the encoding of the file has no such character; nothing is replaced in silence. */
export function encodeText({ text, encoding, bom }: TextFile): Uint8Array {
  if (encoding === 'utf16le' || encoding === 'utf16be') {
    const bytes = Buffer.from(bom ? `\ufeff${text}` : text, 'utf16le');
    return encoding === 'utf16le' ? bytes : bytes.swap16();
  }
  if (encoding === 'windows1252') return toWindows1252(text);
  const body = Buffer.from(text, encoding === 'bytes' ? 'latin1' : 'utf8');
  return bom ? Buffer.concat([UTF8_BOM, body]) : body;
}

/** What Windows-1252 has at 0x80 to 0x9f; the five bytes that mean nothing stand for themselves, so all come back. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Character codes by byte, and bytes by character code with 0 for none but NUL: a call per character takes seconds. */
const CODE_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => {
  const isLatin = byte < 0x80 || byte > 0x9f;
  return isLatin ? byte : WINDOWS_1252.charCodeAt(byte - 0x80);
});
const BYTE_OF_CODE = new Uint8Array(0x10000);
for (const [byte, code] of CODE_OF_BYTE.entries()) BYTE_OF_CODE[code] = byte;

function fromWindows1252(bytes: Buffer): string {
  const latin = bytes.toString('latin1');
  if (!/[\x80-\x9f]/.test(latin)) return latin;
  const units = Buffer.allocUnsafe(bytes.length * 2);
  for (let i = 0; i < bytes.length; i += 1) {
    const code = CODE_OF_BYTE[bytes[i] ?? 0] ?? 0;
    units[2 * i] = code & 0xff;
    units[2 * i + 1] = code >> 8;
  }
  return units.toString('utf16le');
}

function toWindows1252(text: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    const byte = BYTE_OF_CODE[code] ?? 0;
    if (byte === 0 && code !== 0) throw notInWindows1252(String.fromCodePoint(text.codePointAt(i) ?? code));
    bytes[i] = byte;
  }
  return bytes;
}

const notInWindows1252 = (character: string): Error =>
  new Error(
    `The file is in Windows-1252, which has no "${character.toWellFormed()}". Use other characters, or convert the ` +
      'file to UTF-8 first, for example with iconv.',
  );

/** Text of the model in the terms of `TextFile.text`, so that it can be searched for and put in. */
export const toFileText = (value: string, encoding: Encoding): string =>
  encoding === 'bytes' ? Buffer.from(value, 'utf8').toString('latin1') : value;

/** The text as people and models read it. Bytes that are not UTF-8 show as U+FFFD. */
export const showText = ({ text, encoding }: TextFile): string =>
  encoding === 'bytes' ? Buffer.from(text, 'latin1').toString('utf8') : text.toWellFormed();

/** A text in bytes: each newline is the byte 10, so that lines can be found before they are decoded. */
export interface ShownBytes {
  bytes: Buffer;
  encoding: Encoding;
  /** As `showText` shows that part. It must not begin or end within a character. */
  show(start: number, end: number): string;
}

/** Only UTF-16 is decoded as a whole. A byte order mark is left out. */
export function showBytes(whole: Uint8Array): ShownBytes {
  const { encoding, bom } = encodingOf(whole);
  const isWide = encoding === 'utf16le' || encoding === 'utf16be';
  const bytes = isWide
    ? Buffer.from(showText(decodeText(whole)), 'utf8')
    : toBuffer(whole.subarray(bom ? UTF8_BOM.length : 0));
  const show: ShownBytes['show'] =
    encoding === 'windows1252'
      ? (start, end) => fromWindows1252(bytes.subarray(start, end))
      : (start, end) => bytes.toString('utf8', start, end);
  return { bytes, encoding, show };
}

/** The first lines, without their endings. A newline at the end does not start another line. */
export function splitLines(text: string, most = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length < most; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    lines.push(text.slice(at, end > at && text[end - 1] === '\r' ? end - 1 : end));
    at = end + 1;
  }
  return lines;
}
