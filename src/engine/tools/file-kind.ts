/** What kind of file it is, by its name or its first bytes. How each kind is read is loaded when it is needed. */
import { extname } from 'node:path';

export const MAX_PDF_BYTES = 32 * 1024 * 1024;
/** Parsed JSON can take thirty times its size in memory, and nothing else runs meanwhile. */
export const MAX_NOTEBOOK_BYTES = 16 * 1024 * 1024;
/** Readers accept a header that comes a little late. */
const HEADER_WITHIN = 1024;

export const isNotebook = (path: string): boolean => extname(path).toLowerCase() === '.ipynb';

export const isNamedPdf = (path: string): boolean => extname(path).toLowerCase() === '.pdf';

/** Where the header of a PDF begins; -1 when there is none. */
export const findPdfHeader = (bytes: Uint8Array): number =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_WITHIN)).indexOf('%PDF-');

/** The media type by the first bytes; undefined for what model APIs do not take. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  return start.startsWith('RIFF') && start.slice(8) === 'WEBP' ? 'image/webp' : undefined;
}

/** Read tells what the file is, and cannot show it. Whoever knows that may replace it, so it counts as read. */
export class UnshowableFile extends Error {}
