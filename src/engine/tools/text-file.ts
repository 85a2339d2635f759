/** Text on disk: its encoding and line endings, decoded so that what was not changed comes back byte for byte. */

/** `bytes` is text that is not valid UTF-8: each character of `text` stands for one byte. */
export type Encoding = 'utf8' | 'utf16le' | 'utf16be' | 'bytes';

export interface TextFile {
  /** Without the byte order mark. */
  text: string;
  encoding: Encoding;
  bom: boolean;
}

const PROBE_BYTES = 8 * 1024;

const startsWith = (bytes: Uint8Array, ...prefix: number[]): boolean => prefix.every((byte, i) => bytes[i] === byte);

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const utf16Of = (bytes: Uint8Array): 'utf16le' | 'utf16be' | undefined => {
  if (bytes.length % 2 === 1) return undefined;
  if (startsWith(bytes, 0xff, 0xfe)) return 'utf16le';
  return startsWith(bytes, 0xfe, 0xff) ? 'utf16be' : undefined;
};

/** A NUL near the start means binary, unless the file says that it is UTF-16. */
export const isBinary = (bytes: Uint8Array): boolean =>
  utf16Of(bytes) === undefined && bytes.subarray(0, PROBE_BYTES).includes(0);

export function decodeText(bytes: Uint8Array): TextFile {
  const utf16 = utf16Of(bytes);
  if (utf16 !== undefined) {
    const body = Buffer.from(bytes.subarray(2));
    const little = utf16 === 'utf16le' ? body : body.swap16();
    return { text: little.toString('utf16le'), encoding: utf16, bom: true };
  }
  const bom = startsWith(bytes, 0xef, 0xbb, 0xbf);
  const body = bom ? bytes.subarray(3) : bytes;
  const text = decodeUtf8(body);
  if (text !== undefined) return { text, encoding: 'utf8', bom };
  return { text: toBuffer(body).toString('latin1'), encoding: 'bytes', bom };
}

export function encodeText(file: TextFile): Uint8Array {
  if (file.encoding === 'utf16le' || file.encoding === 'utf16be') {
    const bytes = Buffer.from(`\ufeff${file.text}`, 'utf16le');
    return file.encoding === 'utf16le' ? bytes : bytes.swap16();
  }
  const body = Buffer.from(file.text, file.encoding === 'bytes' ? 'latin1' : 'utf8');
  return file.bom ? Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]) : body;
}

/** Text of the model in the terms of `TextFile.text`, so that it can be searched for and put in. */
export const toFileText = (value: string, encoding: Encoding): string =>
  encoding === 'bytes' ? Buffer.from(value, 'utf8').toString('latin1') : value;

/** The text as people and models read it. Bytes that are not UTF-8 show as U+FFFD. */
export const showText = ({ text, encoding }: TextFile): string =>
  encoding === 'bytes' ? Buffer.from(text, 'latin1').toString('utf8') : text.toWellFormed();

/** How many times `part` occurs, not counting overlaps. `part` must not be empty. */
export function countOccurrences(text: string, part: string): number {
  let found = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) found += 1;
  return found;
}

/** Whether most lines end in CRLF. */
export function endsInCrlf(text: string): boolean {
  const crlf = countOccurrences(text, '\r\n');
  return crlf > 0 && crlf * 2 >= countOccurrences(text, '\n');
}

export const toCrlf = (text: string): string => text.replace(/\r?\n/g, '\r\n');

/** Lines without their endings. A newline at the end does not start another line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}
