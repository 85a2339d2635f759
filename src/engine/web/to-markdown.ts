/**
 * HTML to Markdown, in a thread of its own: a page can be made so that the converter needs seconds for it, and neither
 * the other sessions of the process nor an interrupt can wait for that.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../protocol/index.js';
import { cutText } from '../tools/bound.js';

const MAX_HTML = 2_000_000;
const MAX_MARKDOWN = 4_000_000;
const CONVERT_MS = 10_000;
/** Far more than any page was seen to need. A thread that reaches it can take the process with it. */
const MEMORY_MB = 1024;

/**
 * The thread's whole program; it gets no environment and can only answer. Quotes in quotes, lists in lists and code in
 * code are repeated on every line by the converter, so a page that nests them too deeply (two megabytes became two
 * gigabytes) is taken as plain text, and so is one on which the converter fails. Images that are written out in the
 * page are left out. The empty table is there because the converter fails on rows before the first table.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { converter, html, origin, max } = workerData;
const deepest = new Map([['blockquote', 5], ['code', 3], ['li', 20]]);
import(converter).then(({ htmlToMarkdown, NodeEventEnter }) => {
  const levels = new Map();
  const beforeNodeProcess = ({ node, type }) => {
    if (node.name === 'img') return { skip: /^\\s*data:/i.test(node.attributes?.src ?? '') };
    const most = deepest.get(node.name);
    if (most === undefined) return;
    const level = (levels.get(node.name) ?? 0) + (type === NodeEventEnter ? 1 : -1);
    if (level > most) throw new Error('nested too deeply');
    levels.set(node.name, level);
  };
  let text;
  try {
    text = htmlToMarkdown('<table></table>' + html, { origin, hooks: [{ beforeNodeProcess }] });
  } catch {
    text = htmlToMarkdown(html, { origin, format: 'text' });
  }
  parentPort.postMessage(text.slice(0, max));
});
`;

export interface MarkdownOptions {
  /** Where the page is: its links become absolute. */
  url: URL;
  clock: Clock;
  signal: AbortSignal;
}

export interface Markdown {
  text: string;
  /** What of the page is missing, in words. */
  gap?: string;
}

/** Throws words for the model when the page cannot be converted; ends with the signal. */
export async function toMarkdown(html: string, options: MarkdownOptions): Promise<Markdown> {
  const { url, signal } = options;
  if (signal.aborted) throw new Error('The conversion was interrupted.');
  const shown = cutText(html, MAX_HTML);
  const text = await convert(shown, { ...options, url: baseOf(shown, url) });
  if (shown.length === html.length) return { text };
  const [part, whole] = [MAX_HTML, html.length].map((length) => length.toLocaleString('en-US'));
  return { text, gap: `The HTML was cut: only the first ${part} of ${whole} characters were read.` };
}

/** Where the page's relative links start: its own address, unless it names another. */
function baseOf(html: string, url: URL): URL {
  const [, base] = /<base\s[^>]{0,200}?\bhref\s*=\s*["']?([^"'\s>]{1,2000})/i.exec(html.slice(0, 20_000)) ?? [];
  return base !== undefined && URL.canParse(base, url.href) ? new URL(base, url) : url;
}

async function convert(html: string, { url, clock, signal }: MarkdownOptions): Promise<string> {
  const converter = pathToFileURL(createRequire(import.meta.url).resolve('@mdream/js')).href;
  const worker = new Worker(PROGRAM, {
    eval: true,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    workerData: { converter, html, origin: url.href, max: MAX_MARKDOWN },
  });
  let cancel = (): void => {};
  let abort = (): void => {};
  try {
    return await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => (): void => reject(new Error(`The page of ${url.host} ${why}`));
      cancel = clock.after(CONVERT_MS, fail(`could not be read as Markdown within ${CONVERT_MS / 1000} s.`));
      abort = fail('was not converted: the call was interrupted.');
      signal.addEventListener('abort', abort, { once: true });
      worker.once('message', (text: unknown) => resolve(String(text)));
      worker.once('error', fail('is not HTML that can be read as Markdown.'));
      worker.once('exit', fail('is not HTML that can be read as Markdown.'));
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
    void worker.terminate().catch(() => {});
  }
}
