/** The server's end of reliable channels over WebSockets: it keeps each stream while its client is away. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Channel, Clock, Logger } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import {
  badHello,
  CLOSE_CODES,
  closeCodeFor,
  encodeHello,
  type Hello,
  HELLO_MS,
  LINGER_MS,
  parseHello,
} from './hello.js';
import { DEFAULT_MAX_LINE_BYTES } from './ndjson.js';
import { ReliableChannel } from './reliable.js';
import { createSocketLink, SILENCE_MS, type SocketLink } from './socket.js';

export interface AcceptOptions {
  clock: Clock;
  logger?: Logger;
  /** A new stream, once: later sockets go on with the same channel. `request` is that of the first. Must not throw. */
  onStream: (channel: Channel, request: IncomingMessage) => void;
  /** How long a stream without a socket is kept (30 s). */
  graceMs?: number;
  /** A socket on which nothing arrives for so long is dropped (30 s). */
  silenceMs?: number;
  /** The largest frame accepted, in bytes (64 MiB). */
  maxFrameBytes?: number;
}

export interface WebSocketAcceptor {
  /** Streams that are open or waiting for their client. */
  readonly streams: number;
  /** Takes over a request for an upgrade. Whether it is allowed must have been decided before. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every stream with the reason and resolves when no socket and no timer is left. */
  close(reason?: HeddleError): Promise<void>;
}

interface Stream {
  channel: ReliableChannel;
  link: SocketLink | undefined;
  stopGrace: () => void;
}

const GRACE_MS = 30_000;

export async function acceptWebSockets(options: AcceptOptions): Promise<WebSocketAcceptor> {
  const { WebSocketServer } = await import('ws');
  const { maxFrameBytes = DEFAULT_MAX_LINE_BYTES } = options;
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxFrameBytes });
  const streams = new StreamTable(options);
  return {
    get streams() {
      return streams.size;
    },
    accept(request, socket, head) {
      server.handleUpgrade(request, socket, head, (accepted) => streams.welcome(accepted, request));
    },
    async close(reason) {
      await streams.close(reason);
      server.close();
    },
  };
}

class StreamTable {
  readonly #options: AcceptOptions;
  readonly #streams = new Map<string, Stream>();
  readonly #links = new Set<SocketLink>();
  #whenEmpty: (() => void) | undefined;
  #isClosing = false;

  constructor(options: AcceptOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  welcome(socket: WebSocket, request: IncomingMessage): void {
    const { clock, silenceMs = SILENCE_MS } = this.#options;
    let stream: Stream | undefined;
    const stopWaiting = clock.after(HELLO_MS, () => link.close(CLOSE_CODES.silent, 'No hello came.'), {
      background: true,
    });
    const link = createSocketLink(socket, {
      clock,
      silenceMs,
      onText: (text) => {
        if (stream !== undefined) return stream.channel.take(text);
        stopWaiting();
        stream = this.#greet(link, request, text);
      },
      onBroken: (error) => stream?.channel.drop(error),
      onWritten: () => stream?.channel.goOn(),
      onClosed: () => {
        stopWaiting();
        this.#links.delete(link);
        if (stream?.link === link) this.#leave(stream);
        this.#checkEmpty();
      },
    });
    this.#links.add(link);
    link.watch(request.socket);
    if (this.#isClosing) link.close(CLOSE_CODES.goingAway, 'The server is closing.');
  }

  async close(reason = new HeddleError('channel_closed', 'The server was closed.')): Promise<void> {
    this.#isClosing = true;
    for (const { channel, link } of this.#streams.values()) {
      channel.close(reason);
      if (link === undefined) channel.drop();
    }
    const attached = new Set(Array.from(this.#streams.values(), ({ link }) => link));
    for (const link of this.#links) {
      if (!attached.has(link)) link.close(CLOSE_CODES.goingAway, reason.message);
    }
    const stopLinger = this.#options.clock.after(LINGER_MS, () => {
      for (const { channel } of this.#streams.values()) channel.drop();
      for (const link of this.#links) link.terminate();
    });
    await this.#empty();
    stopLinger();
  }

  /** The stream that a socket belongs to; undefined when it was refused. */
  #greet(link: SocketLink, request: IncomingMessage, text: string): Stream | undefined {
    try {
      const hello = parseHello(text);
      const known = this.#streams.get(hello.stream);
      if (known === undefined && (hello.resume || hello.cursor > 0)) {
        link.close(CLOSE_CODES.unknownStream, `There is no stream ${hello.stream}.`);
        return undefined;
      }
      if (known !== undefined && !known.channel.canResumeFrom(hello.cursor)) {
        throw badHello('cursor: this stream is somewhere else');
      }
      const stream = known ?? this.#open(hello, request);
      this.#join(stream, link, hello);
      return stream;
    } catch (thrown) {
      const error = toHeddleError(thrown);
      link.close(CLOSE_CODES.badFrame, error.message);
      this.#options.logger?.('warn', `A WebSocket was refused. ${error.message}`);
      return undefined;
    }
  }

  #open({ stream: id }: Hello, request: IncomingMessage): Stream {
    const stream: Stream = {
      link: undefined,
      stopGrace: () => {},
      channel: new ReliableChannel({
        clock: this.#options.clock,
        onClosing: () => {},
        onSettled: (error) => {
          this.#streams.delete(id);
          stream.stopGrace();
          stream.link?.close(closeCodeFor(error), error?.message ?? '');
          stream.link = undefined;
          this.#checkEmpty();
        },
      }),
    };
    this.#streams.set(id, stream);
    this.#options.onStream(stream.channel, request);
    return stream;
  }

  #join(stream: Stream, link: SocketLink, hello: Hello): void {
    stream.stopGrace();
    const { link: old, channel } = stream;
    channel.detach();
    stream.link = link;
    old?.close(CLOSE_CODES.replaced, 'A newer socket of this stream came.');
    link.send(encodeHello({ stream: hello.stream, cursor: channel.cursor }));
    channel.attach(link, hello.cursor);
  }

  #leave(stream: Stream): void {
    const { clock, graceMs = GRACE_MS } = this.#options;
    stream.link = undefined;
    stream.channel.detach();
    if (this.#isClosing) return stream.channel.drop();
    const giveUp = (): void =>
      stream.channel.drop(
        new HeddleError('channel_closed', `The client went away and did not come back within ${graceMs / 1000} s.`),
      );
    stream.stopGrace = clock.after(graceMs, giveUp, { background: true });
  }

  #empty(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEmpty = resolve;
      this.#checkEmpty();
    });
  }

  #checkEmpty(): void {
    if (this.#links.size === 0 && this.#streams.size === 0) this.#whenEmpty?.();
  }
}
