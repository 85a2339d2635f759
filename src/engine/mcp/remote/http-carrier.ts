/** A server behind a URL: streamable HTTP, or the two addresses of the old SSE transport. */
import type {
  AuthProvider,
  JSONRPCMessage,
  OAuthClientProvider,
  StreamableHTTPClientTransport,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { Clock, McpHttpServerConfig, McpSSEServerConfig } from '../../../protocol/index.js';
import { HeddleError } from '../../../protocol/plain.js';
import type { Secrets } from '../secrets.js';
import type { Carrier } from './carrier.js';
import type { Outstanding } from './outstanding.js';
import { type Evidence, NO_ANSWER } from './phase-error.js';
import { createReconnection, RECONNECTION, type Reconnection } from './reconnection.js';
import { createServerFetch, type ServerFetch } from './server-fetch.js';
import { isRecord } from './text.js';

export interface HttpCarrierOptions {
  config: McpHttpServerConfig | McpSSEServerConfig;
  auth?: unknown;
  env: Readonly<Record<string, string>>;
  clock: Clock;
  outstanding: Outstanding;
  secrets: Secrets;
}

/** The end of a session is told to the server, but nobody waits for it longer. */
const FAREWELL_MS = 1_000;

type Inner = Transport & Partial<Pick<StreamableHTTPClientTransport, 'terminateSession'>>;

/** Throws `invalid_config` for an address that is none. */
export async function createHttpCarrier(options: HttpCarrierOptions): Promise<HttpCarrier> {
  const { config, auth, env, clock, secrets } = options;
  const url = parseAddress(config.url);
  const { SSEClientTransport, SseError, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  let carrier: HttpCarrier | undefined;
  const net = await createServerFetch({
    url,
    headers: config.headers ?? {},
    env,
    secrets,
    onFlood: (error) => carrier?.fail(error),
  });
  const reconnection = createReconnection(clock, () =>
    carrier?.fail(lost('its stream broke and could not be resumed')),
  );
  const common = { fetch: net.fetch, authProvider: auth as AuthProvider | OAuthClientProvider | undefined };
  const inner: Inner =
    config.type === 'sse'
      ? new SSEClientTransport(url, common)
      : new StreamableHTTPClientTransport(url, {
          ...common,
          reconnectionOptions: RECONNECTION,
          reconnectionScheduler: reconnection.schedule,
        });
  carrier = new HttpCarrier({
    inner,
    net,
    reconnection,
    isStreamError: (error) => SseError.isInstance(error),
    options,
  });
  return carrier;
}

function parseAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    throw new HeddleError('invalid_config', 'its url holds a user or a password', {
      hint: 'Name them in `headers`: { "Authorization": "Basic ..." }.',
    });
  }
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new HeddleError('invalid_config', 'its url is not an http or https address', {
    hint: 'It looks like https://host/path.',
  });
}

const lost = (words: string): HeddleError => new HeddleError('channel_closed', words, { retryable: true });

interface HttpCarrierParts {
  inner: Inner;
  net: ServerFetch;
  reconnection: Reconnection;
  /** The one stream of an SSE server, rather than one of its answers. */
  isStreamError: (error: Error) => boolean;
  options: HttpCarrierOptions;
}

class HttpCarrier implements Carrier {
  onmessage?: Carrier['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  failure: Error | undefined;
  readonly #parts: HttpCarrierParts;
  /** The requests whose answers come on streams of their own, maybe. */
  readonly #streams = new Map<string, AbortController>();
  #isOpen = false;
  #isGreeted = false;
  #closing: Promise<void> | undefined;

  constructor(parts: HttpCarrierParts) {
    this.#parts = parts;
    const { inner, isStreamError } = parts;
    inner.onmessage = (message) => this.#receive(message);
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => {
      if (this.#isOpen && isStreamError(error)) return this.fail(lost(`its stream broke: ${error.message}`));
      this.onerror?.(error);
    };
  }

  get isStarted(): boolean {
    return this.#parts.net.isReached;
  }

  get evidence(): Evidence {
    return this.#parts.net.needsAuth ? { needsAuth: true } : {};
  }

  get sessionId(): string | undefined {
    return this.#parts.inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#isGreeted = true;
    this.#parts.inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    await this.#parts.inner.start();
    this.#isOpen = true;
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const { inner, options: parts } = this.#parts;
    const { asks, cancels } = parts.outstanding.sent(message);
    try {
      if (asks === undefined) await inner.send(message, options);
      else await this.#ask(message, asks, options);
    } catch (error) {
      if (asks !== undefined) this.#settle(asks);
      if (this.#isGreeted && this.evidence.needsAuth === true) this.fail(toError(error));
      else if (this.#isForgotten(error)) this.fail(lost('it has forgotten the session'));
      throw error;
    }
    if (cancels !== undefined) this.#settle(cancels)?.abort();
  }

  /** Sends a request whose answer may come on a stream of its own, which then must not end without it. */
  #ask(message: JSONRPCMessage, id: string, options: TransportSendOptions = {}): Promise<void> {
    const stream = new AbortController();
    this.#streams.set(id, stream);
    return this.#parts.inner.send(message, {
      ...options,
      requestSignal: options.requestSignal ?? stream.signal,
      onRequestStreamEnd: () => {
        if (!this.#streams.has(id)) return;
        const error = { code: NO_ANSWER, message: 'the stream of its answer ended without it' };
        this.#receive({ ...idOf(message), jsonrpc: '2.0', error });
      },
    });
  }

  #settle(id: string): AbortController | undefined {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    return stream;
  }

  #receive(message: JSONRPCMessage): void {
    if (!this.#parts.options.outstanding.admits(message)) return;
    if (!('method' in message)) this.#settle(String(message.id));
    this.onmessage?.(message);
  }

  /** Servers that were restarted say 404, and some 400, to sessions of before. */
  #isForgotten(error: unknown): boolean {
    if (this.sessionId === undefined || !isRecord(error) || !isRecord(error.data)) return false;
    const { status, text } = error.data;
    return status === 404 || (status === 400 && typeof text === 'string' && /session/i.test(text));
  }

  /** It is gone, and not because we wanted that. */
  fail(error: Error): void {
    if (this.failure !== undefined || this.#closing !== undefined) return;
    this.failure = error;
    this.#closing = this.#leave();
  }

  close(): Promise<void> {
    this.#closing ??= this.#sayFarewell();
    return this.#closing;
  }

  async #sayFarewell(): Promise<void> {
    const { inner, options } = this.#parts;
    if (inner.terminateSession !== undefined && inner.sessionId !== undefined) {
      const late = Promise.withResolvers<void>();
      const cancel = options.clock.after(FAREWELL_MS, late.resolve);
      await Promise.race([inner.terminateSession().catch(() => undefined), late.promise]);
      cancel();
    }
    await this.#leave();
  }

  async #leave(): Promise<void> {
    const { inner, net, reconnection } = this.#parts;
    reconnection.stop();
    await inner.close().catch(() => undefined);
    net.close();
  }
}

const idOf = (message: JSONRPCMessage) => ('id' in message ? { id: message.id } : {});

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
