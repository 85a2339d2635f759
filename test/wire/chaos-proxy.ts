/** A TCP proxy on 127.0.0.1 that can cut, hold and refuse what passes through it. */
import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

export interface ChaosProxy {
  readonly url: string;
  /** Sockets that are open on either side. */
  readonly open: number;
  /** How many sockets clients have opened so far. */
  readonly accepted: number;
  /** Cuts every socket, now. */
  cut(): void;
  /** New sockets are cut at once, until told otherwise. */
  refuse(isRefusing: boolean): void;
  /** Nothing passes any more in either direction, and nobody is told. */
  freeze(): void;
  /** Resolves at the next socket of a client. */
  nextSocket(): Promise<void>;
  close(): Promise<void>;
}

export interface ChaosOptions {
  /** Where the server is, as its WebSocket URL. */
  target: string;
  /** After how many more bytes, counted both ways, a socket is cut; asked once per socket. Undefined: never. */
  cutAfter?: (socket: number) => number | undefined;
}

export async function startChaosProxy({ target, cutAfter = () => undefined }: ChaosOptions): Promise<ChaosProxy> {
  const { hostname, port, pathname } = new URL(target);
  const sockets = new Set<Socket>();
  let waits: (() => void)[] = [];
  let accepted = 0;
  let isRefusing = false;
  let isFrozen = false;

  const server = createServer((client) => {
    accepted += 1;
    for (const resolve of waits.splice(0)) resolve();
    if (isRefusing) {
      client.destroy();
      return;
    }
    isFrozen = false;
    const upstream = connect(Number(port), hostname);
    let left = cutAfter(accepted) ?? Number.POSITIVE_INFINITY;
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    const pass = (from: Socket, to: Socket): void => {
      sockets.add(from);
      from.on('data', (bytes: Buffer) => {
        if (isFrozen) return;
        if (bytes.length < left) {
          left -= bytes.length;
          to.write(bytes);
          return;
        }
        // The part before the cut still arrives, so that a frame ends in its middle.
        to.write(bytes.subarray(0, left), cut);
        left = Number.POSITIVE_INFINITY;
      });
      from.on('error', cut);
      from.on('close', () => {
        sockets.delete(from);
        cut();
      });
    };
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    get open() {
      return sockets.size;
    },
    get accepted() {
      return accepted;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    refuse(refusing) {
      isRefusing = refusing;
    },
    freeze() {
      isFrozen = true;
    },
    nextSocket: () => new Promise((resolve) => waits.push(resolve)),
    close() {
      waits = [];
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
