import type { Clock, ToolOutput } from '../../protocol/index.js';
import { findPdfHeader, MAX_PDF_BYTES } from './file-kind.js';
import { showSize } from './ordinary-file.js';
import { extractPdfText } from './pdf-text.js';
import type { PdfPage } from './pdf-text.js';

const MAX_PAGES = 20;
/** So many are given without being asked for by number. */
const MAX_PAGES_UNASKED = 10;

/** The first and last page of `3` or `10-20`. */
export function parsePages(pages: string): readonly [number, number] {
  const [, from, to = from] = /^\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?$/.exec(pages) ?? [];
  const range = [Number(from), Number(to)] as const;
  const [first, last] = range;
  if (from === undefined || first < 1 || last < first) {
    throw new Error(
      `The parameter \`pages\` is not valid: "${pages}". Give one page or a range, such as "3" or "1-5".`,
    );
  }
  if (last - first >= MAX_PAGES) {
    throw new Error(
      `"${pages}" is ${last - first + 1} pages; at most ${MAX_PAGES} can be read per call. ` +
        `Start with "${first}-${first + MAX_PAGES - 1}".`,
    );
  }
  return range;
}

export async function readPdf(
  pdf: { path: string; bytes: Uint8Array; pages?: string | undefined },
  options: { signal: AbortSignal; clock: Clock },
): Promise<ToolOutput> {
  const { path, bytes } = pdf;
  if (findPdfHeader(bytes) === -1) {
    throw new Error(
      `${path} is not a PDF: it has no %PDF- header. Use the program "file" with Bash to find out what it is.`,
    );
  }
  if (bytes.length > MAX_PDF_BYTES) {
    throw new Error(
      `The PDF ${path} (${showSize(bytes.length)}) is too large: at most ${showSize(MAX_PDF_BYTES)} can be read.`,
    );
  }
  const range = pdf.pages === undefined ? undefined : parsePages(pdf.pages);
  const { numPages, pages } = await extractPdfText({ bytes, range, most: MAX_PAGES_UNASKED }, options).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`The PDF ${path} cannot be read. ${reason}`, { cause: error });
    },
  );
  const [first, last] = [pages[0], pages.at(-1)];
  if (first === undefined || last === undefined) throw new Error(explainNoPages(numPages, range));
  if (pages.every(({ problem }) => problem !== undefined)) {
    throw new Error(`The PDF ${path} cannot be read. It is damaged: ${first.problem}`);
  }
  const content = pages.map(showPage).join('\n');
  const note = pages.length < numPages ? `\n\n[The PDF has ${numPages} pages.]` : '';
  return {
    content: `${content}${note}`,
    structured: {
      type: 'pdf',
      file: { filePath: path, numPages, pages: [first.number, last.number], content, originalSize: bytes.length },
    },
  };
}

function explainNoPages(numPages: number, range: readonly [number, number] | undefined): string {
  const has = `This PDF has ${numPages} ${numPages === 1 ? 'page' : 'pages'}`;
  if (range !== undefined) return `${has}; there is no page ${range[0]}.`;
  if (numPages === 0) return `${has}. It may be damaged.`;
  return `${has}, too many to read at once. Say which in \`pages\`, such as "1-5"; at most ${MAX_PAGES} per call.`;
}

function showPage({ number, text, problem }: PdfPage): string {
  return `<page number="${number}">\n${describePage({ text, problem })}\n</page>`;
}

function describePage({ text, problem }: Pick<PdfPage, 'text' | 'problem'>): string {
  if (problem !== undefined) return `[This page could not be read: ${problem}]`;
  return text === '' ? '[This page has no text. It may be a scan or a drawing.]' : text;
}
