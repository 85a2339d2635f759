/** What the WebSocket tests share: a bare server for streams, clocks that can be counted, and clean-up. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Channel, Clock } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { acceptWebSockets, type AcceptOptions } from '../../src/wire/index.js';

export interface CountingClock extends Clock {
  /** Timers that neither fired nor were cancelled. */
  readonly timers: number;
}

/** The real time, with a count of the timers that wait. `scale` makes every delay that much shorter. */
export function createCountingClock(scale = 1): CountingClock {
  const waiting = new Set<object>();
  return {
    ...systemClock,
    after(ms, callback, options) {
      const timer = {};
      waiting.add(timer);
      const cancel = systemClock.after(
        ms / scale,
        () => {
          waiting.delete(timer);
          callback();
        },
        options,
      );
      return () => {
        waiting.delete(timer);
        cancel();
      };
    },
    get timers() {
      return waiting.size;
    },
  };
}

export interface StreamServer {
  readonly url: string;
  readonly port: number;
  /** The channels of streams that were opened, in order. */
  readonly channels: readonly Channel[];
  readonly streams: number;
  /** Resolves with the n-th stream, once it is there. */
  stream(index?: number): Promise<Channel>;
  close(): Promise<void>;
}

/** A server that lets everyone in. */
export async function startStreamServer(
  options: Partial<AcceptOptions> & { port?: number } = {},
): Promise<StreamServer> {
  const channels: Channel[] = [];
  let waits: { index: number; resolve: (channel: Channel) => void }[] = [];
  const acceptor = await acceptWebSockets({
    clock: systemClock,
    onStream(channel) {
      channels.push(channel);
      for (const wait of waits) if (wait.index === channels.length - 1) wait.resolve(channel);
      waits = waits.filter((wait) => wait.index >= channels.length);
    },
    ...options,
  });
  const http = createServer();
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {});
    acceptor.accept(request, socket, head);
  });
  await new Promise<void>((resolve) => http.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}/ws`,
    port,
    channels,
    get streams() {
      return acceptor.streams;
    },
    stream(index = 0) {
      const there = channels[index];
      return there ? Promise.resolve(there) : new Promise((resolve) => waits.push({ index, resolve }));
    },
    async close() {
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      await acceptor.close();
      http.closeAllConnections();
      await closed;
    },
  };
}

/** Resolves once the condition holds; looks whenever the event loop comes round. */
export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setTimeout(resolve, 1));
}
