/** Writes small PDF files, good and bad ones. */
import { constants, deflateRawSync } from 'node:zlib';

export interface PdfParts {
  /** One content stream per page. */
  pages: readonly (string | PdfStream)[];
  /** Further objects, numbered from `FIRST_EXTRA` on. */
  extras?: readonly (string | PdfStream)[];
  /** What pages may use besides the font F1. */
  resources?: string;
  trailer?: string;
}

export interface PdfStream {
  dict: string;
  data: Uint8Array;
}

/** Numbers 1 to 3 are the catalog, the page tree and the font; extras come next, pages last. */
export const FIRST_EXTRA = 4;

/** A content stream that shows lines of text. */
export const showing = (...lines: string[]): string =>
  `BT /F1 12 Tf 72 720 Td ${lines.map((line) => `(${line}) Tj 0 -20 Td`).join(' ')} ET`;

const toStream = (part: string | PdfStream): PdfStream =>
  typeof part === 'string' ? { dict: '', data: Buffer.from(part, 'latin1') } : part;

const printStream = ({ dict, data }: PdfStream): Buffer =>
  Buffer.concat([
    Buffer.from(`<< /Length ${data.length} ${dict} >>\nstream\n`),
    data,
    Buffer.from('\nendstream', 'latin1'),
  ]);

export function makePdf({ pages, extras = [], resources = '', trailer = '' }: PdfParts): Buffer {
  const firstPage = FIRST_EXTRA + extras.length;
  const kids = pages.map((_, i) => `${firstPage + i * 2} 0 R`).join(' ');
  const objects: Buffer[] = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'),
    ...extras.map((extra) => (typeof extra === 'string' ? Buffer.from(extra, 'latin1') : printStream(extra))),
    ...pages.flatMap((page, i) => [
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${firstPage + i * 2 + 1} 0 R ` +
          `/Resources << /Font << /F1 3 0 R >> ${resources} >> >>`,
      ),
      printStream(toStream(page)),
    ]),
  ];
  const parts = [Buffer.from('%PDF-1.4\n')];
  let length = 9;
  const offsets: number[] = [];
  for (const [i, object] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    offsets.push(length);
    length += part.length;
    parts.push(part);
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\n` +
        `startxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** Needs a password that nobody knows. */
export const makeEncryptedPdf = (): Buffer =>
  makePdf({
    pages: [showing('secret')],
    extras: [`<< /Filter /Standard /V 1 /R 2 /P -4 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >>`],
    trailer: `/Encrypt ${FIRST_EXTRA} 0 R /ID [<00> <00>]`,
  });

/** Its page draws a form that draws forms that draw forms: ten times as many at each of twelve levels. */
export function makeEndlessPdf(): Buffer {
  const levels = 12;
  const extras = Array.from({ length: levels }, (_, i): PdfStream => {
    const next = i + 1 < levels ? '/X Do '.repeat(10) : showing('x');
    const inner = `/Font << /F1 3 0 R >> /XObject << /X ${FIRST_EXTRA + i + 1} 0 R >>`;
    return {
      dict: `/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << ${i + 1 < levels ? inner : '/Font << /F1 3 0 R >>'} >>`,
      data: Buffer.from(next),
    };
  });
  return makePdf({ pages: ['/X Do'], extras, resources: `/XObject << /X ${FIRST_EXTRA} 0 R >>` });
}

/** A few hundred kilobytes that unpack to gigabytes. */
export function makePdfBomb(): Buffer {
  const piece = deflateRawSync(Buffer.alloc(16 * 1024 * 1024), { finishFlush: constants.Z_FULL_FLUSH });
  const data = Buffer.concat([Buffer.from([0x78, 0x9c]), ...Array.from({ length: 200 }, () => piece)]);
  return makePdf({ pages: [{ dict: '/Filter /FlateDecode', data }] });
}
