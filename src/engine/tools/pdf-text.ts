/** The text of PDF pages, taken out in a worker thread: a hostile file can neither block this one nor eat its memory. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../protocol/index.js';

export interface PdfRequest {
  bytes: Uint8Array;
  /** First and last page, from 1. Absent: all, unless there are more than `most`. */
  range?: readonly [number, number] | undefined;
  most: number;
}

export interface PdfPage {
  number: number;
  text: string;
  /** Why the page could not be read. */
  problem?: string;
}

export interface PdfText {
  numPages: number;
  /** Empty when the range is not in the document, or without one there are too many. */
  pages: PdfPage[];
}

type Answer = PdfText | { failure: { name: string; message: string } };

const TIMEOUT_MS = 60_000;
/** By all sessions of this process together, for each may take as much memory as `MAX_MEMORY`. */
const MAX_WORKERS = 2;
const MAX_MEMORY = 512 * 1024 * 1024;
/** The limits of V8 do not count array buffers, which is where decompressed data is. */
const WATCH_MS = 100;
const MAX_PAGE_TEXT = 100_000;

/** Plain JavaScript, so that it runs the same from source and from a bundle. */
const SOURCE = `
const { parentPort, workerData } = require('node:worker_threads');
const { url, bytes, range, most, maxPageText } = workerData;

async function readPage(pdf, number) {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => (item.str ?? '') + (item.hasEOL ? '\\n' : '')).join('');
    page.cleanup();
    const shown = text.replaceAll('\\0', '').trimEnd();
    if (shown.length <= maxPageText) return { number, text: shown.toWellFormed() };
    const note = '\\n[Cut: this page has ' + shown.length.toLocaleString('en-US') + ' characters.]';
    return { number, text: shown.slice(0, maxPageText).toWellFormed() + note };
  } catch (error) {
    return { number, text: '', problem: String(error?.message ?? error) };
  }
}

async function read() {
  const { getDocumentProxy } = await import(url);
  const pdf = await getDocumentProxy(bytes, { verbosity: 0, isEvalSupported: false, useSystemFonts: false });
  const { numPages } = pdf;
  const [first, last] = range ?? [1, numPages > most ? 0 : numPages];
  const pages = [];
  for (let number = first; number <= Math.min(last, numPages); number += 1) pages.push(await readPage(pdf, number));
  return { numPages, pages };
}

read().then(
  (text) => parentPort.postMessage(text),
  (error) => parentPort.postMessage({ failure: { name: String(error?.name), message: String(error?.message ?? error) } }),
);
`;

export interface PdfOptions {
  signal: AbortSignal;
  clock: Clock;
}

/** Throws for files that are encrypted, damaged or take too much. Ends the worker within a second of the signal. */
export async function extractPdfText(request: PdfRequest, options: PdfOptions): Promise<PdfText> {
  await takeTurn(options.signal);
  try {
    return toText(await runWorker(request, options));
  } finally {
    giveTurn();
  }
}

function toText(answer: Answer): PdfText {
  if (!('failure' in answer)) return answer;
  const { name, message } = answer.failure;
  if (name === 'PasswordException')
    throw new Error('It is encrypted. Decrypt it first, for example with qpdf in Bash.');
  throw new Error(`It is damaged, cut off or not a PDF at all: ${message}`);
}

function locateReader(): string {
  try {
    return import.meta.resolve('unpdf');
  } catch (error) {
    throw new Error('The package unpdf is not installed, and without it PDF files cannot be read.', { cause: error });
  }
}

async function runWorker({ bytes, range, most }: PdfRequest, { signal, clock }: PdfOptions): Promise<Answer> {
  const copy = new Uint8Array(bytes);
  const worker = new Worker(SOURCE, {
    eval: true,
    workerData: { url: locateReader(), bytes: copy, range, most, maxPageText: MAX_PAGE_TEXT },
    transferList: [copy.buffer],
    env: {},
    execArgv: [],
    // Nothing may reach the stdout of this process, which can be a channel.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const undo: (() => void)[] = [];
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const fail = (reason: string) => reject(new Error(reason));
      worker.once('message', resolve);
      worker.once('error', (error: NodeJS.ErrnoException) =>
        fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? TOO_MUCH_MEMORY : `Its reader broke: ${error.message}`),
      );
      worker.once('exit', () => fail('Its reader ended without an answer.'));
      undo.push(clock.after(TIMEOUT_MS, () => fail(`It took more than ${TIMEOUT_MS / 1000} seconds.`)));
      undo.push(watchMemory(worker, { clock, onExceeded: () => fail(TOO_MUCH_MEMORY) }));
      const abort = () => fail('Reading was interrupted.');
      signal.addEventListener('abort', abort, { once: true });
      undo.push(() => signal.removeEventListener('abort', abort));
      if (signal.aborted) abort();
    });
  } finally {
    for (const stop of undo) stop();
    await worker.terminate();
  }
}

const TOO_MUCH_MEMORY = 'It takes too much memory.';

function watchMemory(worker: Worker, options: { clock: Clock; onExceeded(): void }): () => void {
  let cancel = () => {};
  const look = () =>
    worker.getHeapStatistics().then(
      (memory) => {
        if (memory.total_heap_size + memory.external_memory > MAX_MEMORY) options.onExceeded();
        else cancel = options.clock.after(WATCH_MS, () => void look(), { background: true });
      },
      // It has ended, and says so itself.
      () => undefined,
    );
  cancel = options.clock.after(WATCH_MS, () => void look(), { background: true });
  return () => cancel();
}

let free = MAX_WORKERS;
const waiting = new Set<() => void>();

function takeTurn(signal: AbortSignal): Promise<void> {
  if (free > 0) {
    free -= 1;
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    const start = () => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    const abort = () => {
      waiting.delete(start);
      reject(new Error('Reading was interrupted.'));
    };
    waiting.add(start);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

/** To the one that has waited longest. */
function giveTurn(): void {
  const [next] = waiting;
  if (next === undefined) {
    free += 1;
    return;
  }
  waiting.delete(next);
  next();
}
