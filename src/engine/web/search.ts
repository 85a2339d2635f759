/** Web search by a service of the user's choice: SearXNG, Brave or Tavily. */
import type { Clock } from '../../protocol/index.js';
import type { Env } from '../model/credentials.js';
import { proxyFor } from '../model/proxy.js';
import { cutText } from '../tools/bound.js';
import { addSites, type Domains, isWanted } from './domains.js';
import { readBody, sendRequest, startDeadline } from './exchange.js';

const MAX_RESULTS = 10;
const MAX_BYTES = 1024 * 1024;
const SEARCH_MS = 20_000;
const MAX_TITLE = 200;
const MAX_SNIPPET = 500;

export interface Hit {
  title: string;
  url: string;
  snippet?: string;
  age?: string;
}

export interface Query {
  query: string;
  domains: Domains;
}

interface SearchRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
}

export interface SearchEngine {
  /** As people know it. */
  name: string;
  /** The environment variable to check when it refuses. */
  setting: string;
  /** Never shown. */
  secret: string;
  /** Throws when the setting is no address. */
  toRequest(query: Query): SearchRequest;
  /** The list of results in the answer, wherever it is. */
  listOf(answer: Record<string, unknown>): unknown;
  /** What to do when it refuses, if it is not the key. */
  advice?: string;
}

function toUrl(setting: string, address: string): URL {
  if (URL.canParse(address) && /^https?:/i.test(address)) return new URL(address);
  throw new Error(`${setting} is not an http or https address. The user has to correct it.`);
}

function unescapePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function defineSearxng(address: string): SearchEngine {
  const setting = 'SEARXNG_URL';
  const secret = URL.canParse(address) ? unescapePart(new URL(address).password) : '';
  return {
    name: 'SearXNG',
    setting,
    secret,
    advice: 'The server has to allow the format json (search.formats in its settings.yml).',
    toRequest({ query, domains }) {
      const url = toUrl(setting, address);
      const user = unescapePart(url.username);
      const headers: Record<string, string> = { accept: 'application/json' };
      if (user !== '') headers.authorization = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
      url.username = '';
      url.password = '';
      url.hash = '';
      url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/search$/, '')}/search`;
      url.searchParams.set('q', addSites(query, domains));
      url.searchParams.set('format', 'json');
      return { url, method: 'GET', headers };
    },
    listOf: (answer) => answer.results,
  };
}

export function defineBrave(key: string, address = 'https://api.search.brave.com/res/v1/web/search'): SearchEngine {
  return {
    name: 'Brave Search',
    setting: 'BRAVE_API_KEY',
    secret: key,
    toRequest({ query, domains }) {
      const url = toUrl('BRAVE_API_URL', address);
      url.searchParams.set('q', addSites(query, domains));
      url.searchParams.set('count', '20');
      return { url, method: 'GET', headers: { accept: 'application/json', 'x-subscription-token': key } };
    },
    listOf: (answer) => (isRecord(answer.web) ? answer.web.results : []),
  };
}

export function defineTavily(key: string, address = 'https://api.tavily.com/search'): SearchEngine {
  return {
    name: 'Tavily',
    setting: 'TAVILY_API_KEY',
    secret: key,
    toRequest({ query, domains: { allowed, blocked } }) {
      const filters = {
        ...(allowed.length > 0 && { include_domains: allowed }),
        ...(blocked.length > 0 && { exclude_domains: blocked }),
      };
      return {
        url: toUrl('TAVILY_API_URL', address),
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
        },
        body: JSON.stringify({ query, max_results: MAX_RESULTS, ...filters }),
      };
    },
    listOf: (answer) => answer.results,
  };
}

export interface SearchOptions {
  env: Env;
  clock: Clock;
  signal: AbortSignal;
}

/** At most ten results from where they may come from. Throws words for the model, without the key. */
export async function search(engine: SearchEngine, query: Query, options: SearchOptions): Promise<Hit[]> {
  const words = `${engine.name} did not answer within ${SEARCH_MS / 1000} s. Try again later.`;
  const deadline = startDeadline(options.clock, options.signal, { ms: SEARCH_MS, words });
  try {
    const answer = await ask(engine, query, { env: options.env, signal: deadline.signal });
    const list = engine.listOf(answer);
    return (Array.isArray(list) ? list : [])
      .flatMap((entry: unknown) => toHit(entry) ?? [])
      .filter(({ url }) => isWanted(url, query.domains))
      .slice(0, MAX_RESULTS);
  } catch (thrown) {
    throw withoutSecret(thrown, engine);
  } finally {
    deadline.end();
  }
}

/** A server may repeat the key in its answer, and an error may repeat the server. */
function withoutSecret(thrown: unknown, { secret }: SearchEngine): unknown {
  if (!(thrown instanceof Error) || secret === '' || !thrown.message.includes(secret)) return thrown;
  return new Error(thrown.message.replaceAll(secret, '(key)'));
}

async function ask(
  engine: SearchEngine,
  query: Query,
  { env, signal }: { env: Env; signal: AbortSignal },
): Promise<Record<string, unknown>> {
  const request = engine.toRequest(query);
  const { url } = request;
  const { Agent, ProxyAgent } = await import('undici');
  const proxy = proxyFor(url, env);
  const dispatcher = proxy === undefined ? new Agent() : new ProxyAgent(proxy);
  try {
    const response = await sendRequest({ ...request, dispatcher, signal });
    const bytes = await readBody(response, { url, signal, maxBytes: MAX_BYTES, cut: !response.ok });
    const text = new TextDecoder().decode(bytes);
    if (!response.ok) throw new Error(explainStatus(engine, { status: response.status, text }));
    return parseAnswer(engine, text);
  } finally {
    void dispatcher.destroy().catch(() => {});
  }
}

function explainStatus({ name, setting, advice }: SearchEngine, answer: { status: number; text: string }): string {
  const { status } = answer;
  const said = cutText(toLine(answer.text), 300);
  const quote = said === '' ? '' : ` It said: ${said}`;
  if (status === 401 || status === 403) {
    const what = advice ?? `The user has to check ${setting}.`;
    return `${name} refused the search (${status}). ${what}${quote}`;
  }
  if (status === 429) return `${name} has had too many requests (429). Try again later.${quote}`;
  if (status >= 300 && status < 400) {
    return `${name} redirects (${status}), which is not followed. The user has to check its address (${setting}).`;
  }
  return `${name} answered with the error ${status}.${quote}`;
}

function parseAnswer({ name, setting, advice }: SearchEngine, text: string): Record<string, unknown> {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = undefined;
  }
  if (isRecord(answer)) return answer;
  const what = advice ?? 'The user has to check its address.';
  throw new Error(`${name} (${setting}) did not answer with JSON. ${what}`);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The three services name the same things differently. */
function toHit(entry: unknown): Hit | undefined {
  if (!isRecord(entry)) return undefined;
  const url = readText(entry.url);
  if (url === '') return undefined;
  const snippet = cutText(toLine(readText(entry.content) || readText(entry.description)), MAX_SNIPPET);
  const age = toLine(
    [entry.age, entry.page_age, entry.publishedDate, entry.published_date].map(readText).find((text) => text !== '') ??
      '',
  );
  return {
    title: cutText(toLine(readText(entry.title)), MAX_TITLE) || url,
    url,
    ...(snippet !== '' && { snippet }),
    ...(age !== '' && { age: cutText(age, 50) }),
  };
}

/** What one search of the provider gave: a list, or an object that names an error. */
export function readProviderHits(content: unknown): { hits: Hit[]; error?: string } {
  if (Array.isArray(content)) return { hits: content.flatMap((entry: unknown) => toHit(entry) ?? []) };
  const error = isRecord(content) ? readText(content.error_code) : '';
  return { hits: [], error: cutText(toLine(error), 100) || 'unavailable' };
}

const readText = (value: unknown): string => (typeof value === 'string' ? value : '');

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'" };

/** One line of plain text: the services mark what they found with tags. */
export const toLine = (text: string): string =>
  text
    .replace(/<\/?[a-z][^<>]{0,100}>/gi, '')
    .replace(/&(amp|lt|gt|quot|#x27|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
