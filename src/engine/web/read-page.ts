/** From an address to the text of its page: fetched or remembered, decoded, as Markdown. */
import type { ToolContext } from '../../protocol/index.js';
import type { Env } from '../model/credentials.js';
import { cutText } from '../tools/bound.js';
import { type Content, toContent } from './content.js';
import { type FetchedPage, fetchPage, type Redirected, toPageUrl, type WebEffects } from './fetch-page.js';
import { type CachedPage, createPageCache } from './page-cache.js';
import { readPrivateHosts } from './private-hosts.js';
import { toMarkdown } from './to-markdown.js';

const MAX_ERROR_TEXT = 2_000;

export type PageText = { kind: 'text' } & CachedPage;

/** What is not text is kept in a file. */
export interface PageFile {
  kind: 'file';
  url: string;
  code: number;
  codeText: string;
  bytes: number;
  type: string;
  path: string;
}

export interface PageReader {
  /** Why this address is never fetched, in words for the model. */
  findProblem(address: string): string | undefined;
  /** Throws words for the model, also for answers that are errors. */
  read(address: string, context: ToolContext): Promise<PageText | PageFile | Redirected>;
}

export function createPageReader({ env, effects }: { env: Env; effects?: Partial<WebEffects> }): PageReader {
  const hosts = readPrivateHosts(env.HEDDLE_WEB_PRIVATE_HOSTS);
  const cache = createPageCache();
  return {
    findProblem(address) {
      try {
        toPageUrl(address, hosts);
      } catch (thrown) {
        return thrown instanceof Error ? thrown.message : String(thrown);
      }
    },
    async read(address, context) {
      const { clock, signal } = context;
      const url = toPageUrl(address, hosts);
      const cached = cache.get(url.href, clock);
      if (cached !== undefined) return { kind: 'text', ...cached };
      const fetched = await fetchPage(url, { hosts, env, clock, signal, effects });
      if (fetched.kind === 'redirect') return fetched;
      const content = toContent(fetched.bytes, fetched.contentType);
      if (fetched.status < 200 || fetched.status >= 300) {
        throw new Error(await explainStatus(fetched, content, context));
      }
      const facts = factsOf(fetched);
      if (content.kind === 'binary' && fetched.bytes.byteLength > 0) {
        const name = `${context.toolUseId}${endingOf(fetched.url, content.type)}`;
        const path = await context.keep(name, fetched.bytes);
        return { kind: 'file', ...facts, type: content.type, path };
      }
      const page = { ...facts, ...(await toText(fetched, content, context)) };
      cache.set(url.href, page, clock);
      return { kind: 'text', ...page };
    },
  };
}

const factsOf = ({ url, status, statusText, bytes }: FetchedPage) => ({
  url: url.href,
  code: status,
  codeText: statusText,
  bytes: bytes.byteLength,
});

async function toText(
  { url }: FetchedPage,
  { kind, text }: Content,
  { clock, signal }: ToolContext,
): Promise<{ text: string; gap?: string }> {
  return kind === 'html' ? toMarkdown(text, { url, clock, signal }) : { text };
}

/** What to do about an answer, by its status. */
function adviceFor({ status, retryAfter, url }: FetchedPage): string {
  if (status === 401 || status === 403) return 'The page needs a login, or does not want programs. Use another source.';
  if (status === 404 || status === 410) return 'There is no such page. Check the address, or search for it.';
  if (status === 429 || status === 503) {
    const wait = /^\d{1,6}$/.test(retryAfter ?? '') ? `after ${retryAfter} s` : 'later';
    return `Try again ${wait}, or use another source.`;
  }
  return status >= 500 ? `The fault lies with ${url.host}. Try again later, or use another source.` : '';
}

async function explainStatus(page: FetchedPage, content: Content, context: ToolContext): Promise<string> {
  const said = await toText(page, content, context).catch(() => ({ text: '' }));
  return [
    `${page.url.href} answered ${page.status} ${page.statusText}.`.replace(' .', '.'),
    adviceFor(page),
    cutText(said.text.trim(), MAX_ERROR_TEXT),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

const ENDINGS: Readonly<Record<string, string>> = {
  'application/pdf': '.pdf',
  'application/zip': '.zip',
  'application/gzip': '.gz',
  'image/gif': '.gif',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
};

/** Read opens images and PDF files by the ending of their names. */
function endingOf(url: URL, type: string): string {
  const [ending = '.bin'] = /\.[a-z0-9]{1,8}$/i.exec(url.pathname) ?? [];
  return (Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : undefined) ?? ending.toLowerCase();
}
