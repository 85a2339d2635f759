/** Connections to hosts that may be reached, and to no others. */
import { lookup as lookUp } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import type { Clock, Logger } from '../../protocol/index.js';
import { type Domains, toHost } from './domains.js';

const CONNECT_MS = 30_000;

export interface DialOptions {
  domains: Domains;
  clock: Clock;
  logger?: Logger;
  /** All addresses of a host. */
  lookup?: (host: string) => Promise<readonly string[]>;
}

/** The rules forbid it; its message is for the command. */
export class Refusal extends Error {}

/** Rejects with a Refusal when the rules forbid it, with another error when the host cannot be reached. */
export type Dial = (host: string, port: number) => Promise<Socket>;

export function createDial({ domains, clock, logger, lookup = lookUpAll }: DialOptions): Dial {
  const judge = async (host: string, port: number): Promise<string[]> => {
    const reason = domains.refuse(host, port);
    if (reason !== undefined) throw new Refusal(reason);
    const addresses = isIP(host) === 0 ? await lookup(host) : [host];
    const reasons = addresses.map((address) => domains.refuseAddress(address, host, port));
    const usable = addresses.filter((_, at) => reasons[at] === undefined);
    if (usable.length > 0) return usable;
    throw reasons[0] === undefined ? new Error(`${host} has no address`) : new Refusal(reasons[0]);
  };
  return async (given, port) => {
    const host = toHost(given);
    if (host === undefined || !(port > 0 && port < 65_536)) throw new Refusal('The address cannot be read');
    try {
      return await within(clock, async (signal) => connectTo(await judge(host, port), port, signal));
    } catch (error) {
      if (error instanceof Refusal) logger?.('info', 'The sandbox refused a connection.', { host, port });
      throw error;
    }
  };
}

const lookUpAll = async (host: string): Promise<string[]> =>
  (await lookUp(host, { all: true })).map(({ address }) => address);

/** Everything about one connection must be done in a bounded time. */
async function within<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const control = new AbortController();
  let cancel = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(CONNECT_MS, () => {
      control.abort();
      reject(new Error('The host did not answer in time'));
    });
  });
  try {
    return await Promise.race([work(control.signal), late]);
  } finally {
    cancel();
  }
}

/** To the first of the addresses that answers; the name is not looked up again. */
async function connectTo(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  let failure: unknown;
  for (const host of addresses) {
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const socket = connect({ host, port, allowHalfOpen: true });
        const onAbort = () => socket.destroy(new Error('The host did not answer in time'));
        signal.addEventListener('abort', onAbort, { once: true });
        socket.once('error', reject);
        socket.once('connect', () => {
          signal.removeEventListener('abort', onAbort);
          socket.off('error', reject);
          socket.on('error', () => socket.destroy());
          resolve(socket);
        });
        if (signal.aborted) onAbort();
      });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Each end of one side ends the other; the loss of one is the loss of both. */
export function joinSockets(client: Socket, server: Socket): void {
  client.pipe(server);
  server.pipe(client);
  client.once('close', () => server.destroy());
  server.once('close', () => client.destroy());
  if (client.destroyed) server.destroy();
}
