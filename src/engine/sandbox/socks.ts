/** The server's side of SOCKS5 (RFC 1928): no authentication, CONNECT alone. */
import type { Socket } from 'node:net';
import { type Dial, joinSockets, Refusal } from './dial.js';

const VERSION = 5;
const ADDRESS = { ipv4: 1, name: 3, ipv6: 4 } as const;
const REPLY = { done: 0, failed: 1, forbidden: 2, unknownCommand: 7 } as const;

/** Speaks with the client until it is connected to what it asks for. Rejects when the client breaks the protocol. */
export async function acceptSocks(client: Socket, dial: Dial): Promise<void> {
  const take = createTake(client);
  const [, methods = 0] = await take(2);
  if (!(await take(methods)).includes(0)) return void client.end(Buffer.from([VERSION, 0xff]));
  client.write(Buffer.from([VERSION, 0]));
  const [, command, , kind] = await take(4);
  const host = await readHost(kind, take);
  const port = (await take(2)).readUInt16BE();
  if (command !== 1) return void client.end(toReply(REPLY.unknownCommand));
  try {
    const server = await dial(host, port);
    client.write(toReply(REPLY.done));
    joinSockets(client, server);
  } catch (error) {
    client.end(toReply(error instanceof Refusal ? REPLY.forbidden : REPLY.failed));
  }
}

type Take = (bytes: number) => Promise<Buffer>;

async function readHost(kind: number | undefined, take: Take): Promise<string> {
  if (kind === ADDRESS.ipv4) return [...(await take(4))].join('.');
  if (kind === ADDRESS.name) return (await take((await take(1))[0] ?? 0)).toString('latin1');
  if (kind !== ADDRESS.ipv6) throw new Error('unknown kind of address');
  const bytes = await take(16);
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':');
}

const toReply = (code: number): Buffer => Buffer.from([VERSION, code, 0, ADDRESS.ipv4, 0, 0, 0, 0, 0, 0]);

/** Takes exactly so many bytes and leaves the rest in the socket. */
function createTake(socket: Socket): Take {
  return (bytes) =>
    new Promise((resolve, reject) => {
      if (bytes === 0) return resolve(Buffer.alloc(0));
      const stop = (settle: () => void): void => {
        socket.off('readable', read).off('close', fail).off('end', fail);
        settle();
      };
      const fail = () => stop(() => reject(new Error('the client went away')));
      const read = () => {
        const chunk = socket.read(bytes) as Buffer | null;
        if (chunk !== null && chunk.byteLength === bytes) return stop(() => resolve(chunk));
        if (chunk !== null) return fail();
        if (socket.destroyed || socket.readableEnded) fail();
      };
      socket.on('readable', read).on('close', fail).on('end', fail);
      read();
    });
}
