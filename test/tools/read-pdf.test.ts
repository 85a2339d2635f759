import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTool } from '../../src/engine/tools/read.js';
import { parsePages } from '../../src/engine/tools/read-pdf.js';
import { systemClock } from '../../src/protocol/plain.js';
import { type Bench, createBench } from './bench.js';
import { makeEncryptedPdf, makeEndlessPdf, makePdf, makePdfBomb, showing } from './pdf-maker.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const read = (input: object, signal?: AbortSignal) => bench.call(readTool, input, signal);

const refusal = async (input: object, signal?: AbortSignal): Promise<string> => {
  const { text, isError } = await read(input, signal);
  expect(isError).toBe(true);
  return text;
};

const pagesOf = (count: number): Buffer =>
  makePdf({ pages: Array.from({ length: count }, (_, i) => showing(`page ${i + 1}`)) });

/** The worker of the next PDF that is read, once it runs. */
async function nextWorker(): Promise<Worker> {
  const [worker] = (await once(process, 'worker')) as [Worker];
  await once(worker, 'online');
  return worker;
}

describe('Read of PDF', () => {
  it('gives the text of each page, and says where there is none', async () => {
    const bytes = makePdf({ pages: [showing('Hello', 'second line'), '', showing('caf\\351')] });
    const path = bench.write('a.pdf', bytes);
    const { text, isError, structured } = await read({ file_path: path });
    const content = [
      '<page number="1">\nHello\nsecond line\n</page>',
      '<page number="2">\n[This page has no text. It may be a scan or a drawing.]\n</page>',
      '<page number="3">\ncafé\n</page>',
    ].join('\n');
    expect(isError).toBeUndefined();
    expect(text).toBe(content);
    expect(structured).toEqual({
      type: 'pdf',
      file: { filePath: path, numPages: 3, pages: [1, 3], content, originalSize: bytes.length },
    });
    expect(bench.ledger.compare(path, bytes)).toBe('current');
  });

  it('is known by its content too', async () => {
    expect((await read({ file_path: bench.write('report', pagesOf(1)) })).text).toContain('page 1');
  });

  it('gives the pages that were asked for', async () => {
    const path = bench.write('a.pdf', pagesOf(25));
    const { text, structured } = await read({ file_path: path, pages: '3-4' });
    expect(text).toBe(
      '<page number="3">\npage 3\n</page>\n<page number="4">\npage 4\n</page>\n\n[The PDF has 25 pages.]',
    );
    expect(structured).toMatchObject({ file: { numPages: 25, pages: [3, 4] } });
    expect((await read({ file_path: path, pages: '24-40' })).structured).toMatchObject({ file: { pages: [24, 25] } });
    expect((await read({ file_path: path, pages: '7' })).text).toContain('page 7');
  });

  it('says how many pages there are when they are too many', async () => {
    const path = bench.write('a.pdf', pagesOf(11));
    expect(await refusal({ file_path: path })).toBe(
      'This PDF has 11 pages, too many to read at once. Say which in `pages`, such as "1-5"; at most 20 per call.',
    );
    expect(await refusal({ file_path: path, pages: '12' })).toBe('This PDF has 11 pages; there is no page 12.');
    expect(await refusal({ file_path: path, pages: '1-21' })).toBe(
      '"1-21" is 21 pages; at most 20 can be read per call. Start with "1-20".',
    );
  });

  it.each(['', '0', '5-3', 'one', '1,2', '-3', '1-', '1-2-3'])('refuses the pages "%s"', async (pages) => {
    expect(() => parsePages(pages)).toThrow('Give one page or a range, such as "3" or "1-5".');
  });

  it('takes pages only for PDF', async () => {
    const path = bench.write('a.txt', 'text');
    expect(await refusal({ file_path: path, pages: '1' })).toContain('`pages` is only for PDF files');
  });

  it('cuts a page without end', async () => {
    const line = `(${'x'.repeat(1_000)}) Tj 0 -1 Td`;
    const page = `BT /F1 0.1 Tf 72 720 Td ${line.repeat(150)} ET`;
    const path = bench.write('a.pdf', makePdf({ pages: [page] }));
    const { text } = await read({ file_path: path });
    expect(text).toMatch(/\[Cut: this page has 150,149 characters\.\]\n<\/page>$/);
    expect(text.length).toBeLessThan(101_000);
  });

  it('reads several at once', async () => {
    const paths = Array.from({ length: 5 }, (_, i) =>
      bench.write(`${i}.pdf`, makePdf({ pages: [showing(`file ${i}`)] })),
    );
    const texts = await Promise.all(paths.map(async (path) => (await read({ file_path: path })).text));
    expect(texts.map((text) => /file \d/.exec(text)?.[0])).toEqual(['file 0', 'file 1', 'file 2', 'file 3', 'file 4']);
  });
});

describe('Read of a bad PDF', () => {
  it('refuses one that is encrypted, cut off, or none at all', async () => {
    expect(await refusal({ file_path: bench.write('secret.pdf', makeEncryptedPdf()) })).toContain('It is encrypted.');
    const whole = pagesOf(3);
    const cut = bench.write('cut.pdf', whole.subarray(0, whole.length / 3));
    expect(await refusal({ file_path: cut })).toContain('It is damaged, cut off or not a PDF at all');
    expect(await refusal({ file_path: bench.write('head.pdf', '%PDF-1.7\n') })).toContain('It is damaged, cut off');
    expect(await refusal({ file_path: bench.write('page.pdf', '<html></html>') })).toContain('it has no %PDF- header');
    expect((await read({ file_path: bench.write('empty.pdf', '') })).text).toContain('the contents are empty');
  });

  it('refuses one of more than 32 MB before it reads it', async () => {
    const path = bench.write('big.pdf', Buffer.concat([pagesOf(1), Buffer.alloc(33 * 1024 * 1024)]));
    expect(await refusal({ file_path: path })).toContain('(33MB) is too large: at most 32MB can be read.');
    const unnamed = bench.write('big', Buffer.concat([pagesOf(1), Buffer.alloc(33 * 1024 * 1024)]));
    expect(await refusal({ file_path: unnamed })).toContain('(33MB) is too large: at most 32MB can be read.');
  });

  it('ends one that unpacks to gigabytes', async () => {
    const path = bench.write('bomb.pdf', makePdfBomb());
    // On a machine that is slow enough its time is over first.
    expect(await refusal({ file_path: path })).toMatch(
      /cannot be read\. It (?:takes too much memory|took more than 60 seconds)\./,
    );
  });

  it('ends one that would take for ever, while this thread goes on', async () => {
    bench.clock = { ...systemClock, after: (ms, call, options) => systemClock.after(ms / 100, call, options) };
    const path = bench.write('endless.pdf', makeEndlessPdf());
    const running = nextWorker();
    const outcome = refusal({ file_path: path });
    const worker = await running;
    expect(await outcome).toContain('It took more than 60 seconds.');
    expect(worker.threadId).toBe(-1);
  });

  it('stops when it is interrupted, also while it waits for others', async () => {
    const path = bench.write('endless.pdf', makeEndlessPdf());
    const stops = Array.from({ length: 3 }, () => new AbortController());
    const workers: Worker[] = [];
    const outcomes: Promise<string>[] = [];
    for (const { signal } of stops.slice(0, 2)) {
      const running = nextWorker();
      outcomes.push(refusal({ file_path: path }, signal));
      workers.push(await running);
    }
    const waiting = refusal({ file_path: path }, stops[2]?.signal);
    stops[2]?.abort();
    expect(await waiting).toContain('interrupted');
    stops[0]?.abort();
    stops[1]?.abort();
    expect(await Promise.all(outcomes)).toEqual([
      expect.stringContaining('interrupted'),
      expect.stringContaining('interrupted'),
    ]);
    expect(workers.map(({ threadId }) => threadId)).toEqual([-1, -1]);
    const stopped = new AbortController();
    stopped.abort();
    expect(await refusal({ file_path: path }, stopped.signal)).toContain('interrupted');
  });
});
