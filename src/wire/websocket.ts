/** The client's end of a reliable channel over WebSockets: it connects, and connects again when a socket is lost. */
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { Channel, Clock, Logger } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { closeCodeFor, encodeHello, fatalClose, HELLO_MS, LINGER_MS, parseHello } from './hello.js';
import { DEFAULT_MAX_LINE_BYTES } from './ndjson.js';
import { ReliableChannel } from './reliable.js';
import { createSocketLink, SILENCE_MS, type SocketLink } from './socket.js';

export interface WebSocketOptions {
  /** `ws://`, `wss://`, `http://` or `https://`. */
  url: string;
  /** Sent as `Authorization: Bearer`. */
  token?: string;
  headers?: Readonly<Record<string, string>>;
  clock: Clock;
  logger?: Logger;
  /** How long a lost socket is replaced before the channel closes (30 s). */
  reconnectMs?: number;
  /** A socket on which nothing arrives for so long is dropped (30 s). */
  silenceMs?: number;
  /** The largest frame accepted, in bytes (64 MiB). */
  maxFrameBytes?: number;
}

const RECONNECT_MS = 30_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

/** Reasons of a first failure that will not pass by themselves. */
const HOPELESS = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'ERR_INVALID_URL',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/**
 * Opens a channel; frames can be sent at once. Throws `invalid_config` for a URL that cannot be used. A server that
 * refuses, cannot be reached at first, or stays away for too long closes the channel with an error that says so.
 */
export function connectWebSocket(options: WebSocketOptions): Channel {
  const connector = new Connector(options);
  connector.start();
  return connector.channel;
}

class Connector {
  readonly channel: ReliableChannel;
  readonly #options: WebSocketOptions;
  readonly #url: URL;
  readonly #stream: string;
  #link: SocketLink | undefined;
  /** A server has said hello on this stream. */
  #isKnown = false;
  #failures = 0;
  /** Since when there is no socket. */
  #lostAt: number;
  #isClosing = false;
  #isSettled = false;
  #stopTimer: () => void = () => {};

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.#url = parseUrl(options.url);
    this.#stream = options.clock.uuid();
    this.#lostAt = options.clock.monotonic();
    this.channel = new ReliableChannel({
      clock: options.clock,
      onClosing: () => this.#linger(),
      onSettled: (error) => this.#settle(error),
    });
  }

  start(): void {
    this.#connect().catch((thrown: unknown) => this.channel.drop(toHeddleError(thrown)));
  }

  /** The address without what may be secret in it. */
  get #place(): string {
    return `${this.#url.protocol}//${this.#url.host}${this.#url.pathname}`;
  }

  async #connect(): Promise<void> {
    // Loaded here, because only a program that uses a WebSocket should pay for it.
    const { WebSocket } = await import('ws');
    if (this.#isSettled) return;
    const { token, headers, maxFrameBytes = DEFAULT_MAX_LINE_BYTES } = this.#options;
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.#url, {
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        perMessageDeflate: false,
        maxPayload: maxFrameBytes,
      });
    } catch (cause) {
      throw new HeddleError('invalid_config', `No request can be made to ${this.#place}: ${wordsOf(cause)}`, { cause });
    }
    this.#use(socket);
  }

  #use(socket: WebSocket): void {
    const { clock, silenceMs = SILENCE_MS } = this.#options;
    let refusal: HeddleError | undefined;
    let isAttached = false;
    const link = createSocketLink(socket, {
      clock,
      silenceMs,
      onText: (text) => {
        if (isAttached) return this.channel.take(text);
        isAttached = this.#greet(link, text);
      },
      onBroken: (error) => this.channel.drop(error),
      onWritten: () => this.channel.goOn(),
      onClosed: ({ code, reason, cause }) => this.#lose(refusal ?? fatalClose(code, reason), cause ?? closedWith(code)),
    });
    this.#link = link;
    socket.on('upgrade', (response) => link.watch(response.socket));
    socket.on('open', () => {
      const { cursor } = this.channel;
      link.send(encodeHello({ stream: this.#stream, cursor, ...(this.#isKnown && { resume: true }) }));
    });
    socket.on('unexpected-response', (_, response) => {
      readRefusal(response).then(
        (words) => {
          refusal = this.#toRefusal(response.statusCode ?? 0, words);
          link.terminate();
        },
        () => link.terminate(),
      );
    });
    this.#stopTimer = clock.after(HELLO_MS, () => link.terminate());
  }

  /** False, and over, when what answers is no server of ours. */
  #greet(link: SocketLink, text: string): boolean {
    try {
      const { cursor } = parseHello(text);
      if (!this.channel.canResumeFrom(cursor)) {
        throw new HeddleError('channel_closed', `${this.#place} no longer has what was sent to it before.`);
      }
      this.#stopTimer();
      this.#isKnown = true;
      this.#failures = 0;
      this.channel.attach(link, cursor);
      return true;
    } catch (thrown) {
      this.channel.drop(toHeddleError(thrown));
      return false;
    }
  }

  #lose(fatal: HeddleError | undefined, cause: Error): void {
    this.#stopTimer();
    this.#link = undefined;
    if (this.#isSettled) return;
    this.channel.detach();
    const { clock, logger, reconnectMs = RECONNECT_MS } = this.#options;
    if (fatal !== undefined) return this.channel.drop(fatal);
    // Whoever closed waits for no other socket: the server gives the stream up by itself.
    if (this.#isClosing) return this.channel.drop();
    if (this.#failures === 0) this.#lostAt = clock.monotonic();
    if (!this.#isKnown && isHopeless(cause)) return this.channel.drop(this.#toUnreachable(cause));
    const delay = backoff(this.#failures, clock.random());
    this.#failures += 1;
    if (clock.monotonic() + delay - this.#lostAt > reconnectMs) return this.channel.drop(this.#toUnreachable(cause));
    logger?.('debug', `The socket to ${this.#place} was lost; connecting again in ${Math.round(delay)} ms.`, {
      cause: cause.message,
    });
    this.#stopTimer = clock.after(delay, () => this.start());
  }

  #linger(): void {
    this.#isClosing = true;
    if (this.#link === undefined) return this.channel.drop();
    this.#stopTimer();
    this.#stopTimer = this.#options.clock.after(LINGER_MS, () => this.channel.drop(), { background: true });
  }

  #settle(error: Error | undefined): void {
    this.#isSettled = true;
    this.#stopTimer();
    if (this.#isKnown) this.#link?.close(closeCodeFor(error), error?.message ?? '');
    else this.#link?.terminate();
  }

  #toRefusal(status: number, words: string): HeddleError | undefined {
    if (status === 408 || status === 429 || status >= 500) return undefined;
    const message = `${this.#place} refused the WebSocket with status ${status}${words === '' ? '.' : `: ${words}`}`;
    const hint = status === 401 ? 'Give the token of this server.' : 'Check the URL, and what this server allows.';
    return new HeddleError('invalid_config', message, { hint, data: { status } });
  }

  #toUnreachable(cause: Error): HeddleError {
    const { reconnectMs = RECONNECT_MS } = this.#options;
    const what = this.#isKnown
      ? `The WebSocket to ${this.#place} was lost and could not be opened again within ${reconnectMs / 1000} s`
      : `No WebSocket to ${this.#place} could be opened`;
    return new HeddleError('channel_closed', `${what} (${wordsOf(cause)}).`, {
      cause,
      retryable: true,
      hint: 'Check the URL, the network, and that the server runs.',
    });
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && ['ws:', 'wss:', 'http:', 'https:'].includes(url.protocol)) return url;
  throw new HeddleError('invalid_config', 'The URL of a WebSocket must begin with ws:// or wss://.', {
    hint: 'For example ws://127.0.0.1:8080/ws.',
  });
}

/** Between half of a time that doubles and the whole of it. */
const backoff = (failures: number, random: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** failures, MAX_DELAY_MS) * (0.5 + random / 2);

const isHopeless = (cause: Error & { code?: string }): boolean => HOPELESS.has(cause.code ?? '');

const closedWith = (code: number): Error => new Error(`closed with code ${code}`);

/** Some errors of the network have only a code. */
const wordsOf = (cause: unknown): string => {
  const { message = '', code = '' } = cause as { message?: string; code?: string };
  return message || code || String(cause);
};

async function readRefusal(response: IncomingMessage): Promise<string> {
  let words = '';
  for await (const chunk of response.setEncoding('utf8')) {
    words += String(chunk);
    if (words.length > 200) break;
  }
  return words.slice(0, 200).trim();
}
