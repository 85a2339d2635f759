/** The Messages API over `fetch`. One call per request: retries are decided elsewhere. */
import { AbortError, HeddleError } from '../../protocol/plain.js';
import type { Clock, Logger, ModelEvent, ModelProvider, ModelRequest } from '../../protocol/index.js';
import { HEDDLE_VERSION } from '../version.js';
import { type ModelErrorData, toConnectionError, toEventError, toStatusError, toStreamError } from './api-error.js';
import { beginCall, type Call } from './call.js';
import {
  checkHeaders,
  createCredentials,
  type CredentialSources,
  type Env,
  parseCustomHeaders,
  type RunHelper,
} from './credentials.js';
import { type BodyReader, createProxyFetch, type Fetch, type FetchInit, proxyFor } from './proxy.js';
import { readRateLimit } from './rate-limit-headers.js';
import { createSseParser, type SseEvent } from './sse.js';

export interface AnthropicOptions extends CredentialSources {
  clock: Clock;
  /** Stronger than ANTHROPIC_BASE_URL; may have a path. */
  baseUrl?: string;
  /** Sent with every request, over those of ANTHROPIC_CUSTOM_HEADERS. */
  headers?: Readonly<Record<string, string>>;
  /** The app we run in, for the user-agent. */
  appName?: string;
  logger?: Logger;
  /** In place of the global one and of any proxy. */
  fetch?: Fetch;
  /** Needed when `apiKeyHelper` is set. */
  runHelper?: RunHelper;
  /** How long the API may stay silent; 60 s when absent. */
  stallMs?: number;
}

type StreamOptions = Parameters<ModelProvider['stream']>[1];
type Facts = ModelErrorData & { endpoint: string };

const STALL_MS = 60_000;
const API_VERSION = '2023-06-01';

export function createAnthropicProvider(options: AnthropicOptions): ModelProvider {
  const { env, clock, logger, stallMs = STALL_MS } = options;
  const url = messagesUrl(options.baseUrl ?? (env['ANTHROPIC_BASE_URL'] || 'https://api.anthropic.com'));
  const endpoint = hostAndPort(url);
  const fixedHeaders = fixedHeadersOf(options);
  const proxy = options.fetch === undefined ? proxyFor(url, env) : undefined;
  const credentials = createCredentials({ ...options, extraSecrets: secretsIn(fixedHeaders, proxy) });
  const redact = (text: string): string => credentials.redact(text);
  const route = proxy === undefined ? endpoint : `${endpoint} (through the proxy ${hostAndPort(new URL(proxy))})`;
  let proxyFetch: Promise<Fetch> | undefined;

  const chooseFetch = (): Promise<Fetch> | Fetch => {
    if (options.fetch !== undefined) return options.fetch;
    if (proxy === undefined) return globalThis.fetch;
    proxyFetch ??= createProxyFetch(proxy);
    return proxyFetch;
  };

  async function open(
    request: ModelRequest,
    call: Call,
    onResponse: StreamOptions['onResponse'],
  ): Promise<{ reader: BodyReader; facts: Facts }> {
    const credential = await call.unlessStopped(credentials.current());
    const headers = { ...fixedHeaders };
    if (request.betas.length > 0) headers['anthropic-beta'] = joinLists(headers['anthropic-beta'], request.betas);
    if (credential !== undefined) headers[credential.header] = credential.value;
    checkHeaders(headers);
    const body = JSON.stringify(request.body);
    logger?.('debug', 'model request', {
      endpoint,
      model: request.body.model,
      betas: request.betas,
      bytes: body.length,
    });

    const send = await chooseFetch();
    const init: FetchInit = { method: 'POST', headers, body, redirect: 'manual', signal: call.signal };
    const response = await call.unlessSilent(send(url.href, init)).catch((error: unknown) => {
      throw call.stopReason() ?? toConnectionError(error, { endpoint: route, redact });
    });
    const { status } = response;
    const requestId = response.headers.get('request-id') ?? undefined;
    logger?.('debug', 'model answer', { endpoint, status, requestId });
    onResponse?.({ requestId, rateLimit: readRateLimit(response.headers) });

    if (!response.ok) {
      const text = redact(await call.readText(response));
      const error = toStatusError({ status, headers: response.headers, body: text, endpoint, now: clock.now() });
      throw status === 401 && credentials.refused(credential) ? asRetryable(error) : error;
    }
    const facts = { requestId, endpoint };
    const type = response.headers.get('content-type') ?? '';
    if (response.body === null || /^(text\/html|application\/json)\b/i.test(type)) {
      throw toStreamError(`${endpoint} answered with ${type || 'nothing'} instead of an event stream.`, facts);
    }
    return { reader: call.readerOf(response.body), facts };
  }

  async function* stream(
    request: ModelRequest,
    { signal, onResponse }: StreamOptions,
  ): AsyncGenerator<readonly ModelEvent[]> {
    if (signal.aborted) throw new AbortError();
    const call = beginCall({ signal, clock, stallMs });
    let facts: Facts = { endpoint };
    try {
      const opened = await open(request, call, onResponse);
      const { reader } = opened;
      facts = opened.facts;
      const parser = createSseParser();
      for (let isEmpty = true; ; ) {
        call.readBegins();
        const { done, value } = await reader.read();
        call.readEnds();
        const stopped = done ? call.stopReason() : undefined;
        if (stopped !== undefined) throw stopped;

        const events = value === undefined ? parser.end() : parser.push(value);
        const { batch, last } = cut(events);
        if (batch.length > 0) {
          isEmpty = false;
          // The events are passed on as they came: their shape is the API's promise, and looking at each costs too much.
          yield batch as unknown as ModelEvent[];
        }
        if (last?.type === 'error') throw toEventError(last, { ...facts, redact });
        if (last !== undefined) return done ? call.close() : call.drain(reader);
        if (parser.failure !== undefined) throw toStreamError(parser.failure.message, facts);
        if (!done) continue;
        const problem = isEmpty ? 'was empty' : 'ended before the answer was complete';
        throw toStreamError(`The model stream ${problem}.`, facts);
      }
    } catch (error) {
      const reason = call.stopReason() ?? error;
      if (reason instanceof HeddleError) throw reason;
      throw toStreamError(`The model stream broke off: ${redact(reasonOf(reason))}.`, facts);
    } finally {
      call.finish();
    }
  }

  return { name: 'anthropic', keySource: credentials.source, searchesWeb: true, stream };
}

/** What of a batch is passed on: pings are not, nor is anything from an error on. `last` ends the answer, if it is there. */
function cut(events: SseEvent[]): { batch: SseEvent[]; last?: SseEvent } {
  let hasPing = false;
  for (let index = 0; index < events.length; index++) {
    const event = events[index];
    if (event === undefined) continue;
    if (event.type === 'ping') hasPing = true;
    else if (event.type === 'message_stop') return { batch: withoutPings(events.slice(0, index + 1)), last: event };
    else if (event.type === 'error') return { batch: withoutPings(events.slice(0, index)), last: event };
  }
  return { batch: hasPing ? withoutPings(events) : events };
}

const withoutPings = (events: SseEvent[]): SseEvent[] => events.filter((event) => event.type !== 'ping');

function messagesUrl(base: string): URL {
  const hint = 'ANTHROPIC_BASE_URL looks like https://host or https://host/prefix.';
  if (!URL.canParse(base))
    throw new HeddleError('invalid_config', 'The base URL of the model API is not a URL.', { hint });
  const url = new URL(base);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new HeddleError('invalid_config', 'The base URL must be http or https, without a user or password.', {
      hint,
    });
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/messages`;
  return url;
}

function fixedHeadersOf({ env, headers, appName }: AnthropicOptions & { env: Env }): Record<string, string> {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const agent = `heddle/${HEDDLE_VERSION}${appName === undefined ? '' : ` (${appName})`}`;
  return {
    'user-agent': agent,
    accept: 'text/event-stream, application/json',
    ...parseCustomHeaders(env['ANTHROPIC_CUSTOM_HEADERS']),
    ...Object.fromEntries(given),
    'content-type': 'application/json',
    'anthropic-version': API_VERSION,
  };
}

function secretsIn(headers: Readonly<Record<string, string>>, proxy: string | undefined): string[] {
  const named = Object.entries(headers).filter(([name]) => /key|token|auth|secret|cookie/.test(name));
  const values = named.map(([, value]) => value.replace(/^(Bearer|Basic) /i, ''));
  const password = proxy === undefined ? '' : new URL(proxy).password;
  return [...values, password, decodeURIComponent(password)].filter((value) => value !== '');
}

const joinLists = (first: string | undefined, rest: readonly string[]): string =>
  [...new Set([...(first?.split(',').map((part) => part.trim()) ?? []), ...rest])].join(',');

const hostAndPort = (url: URL): string => `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;

const asRetryable = ({ code, message, hint, data }: HeddleError): HeddleError =>
  new HeddleError(code, message, { retryable: true, hint, data });

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return cause.message;
  return error instanceof Error ? error.message : 'unknown reason';
}
