import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Engine, serveHost } from '../engine/index.js';
import type { Channel, Clock, Frame, Logger, SessionConfig } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { acceptWebSockets } from '../wire/index.js';
import { askedIn, pickSafe } from './client-config.js';
import { awaitFirstFrame } from './first-frame.js';
import { decideUpgrade, type GateRules, type Refusal, requireToken, WEBSOCKET_PATH } from './gate.js';

/** Decides the configuration of one client's session. `asked` is the safe part of what the client asks for. */
export type ConfigFor = (
  request: IncomingMessage,
  asked: Partial<SessionConfig>,
) => SessionConfig | Promise<SessionConfig>;

export interface ServerOptions {
  engine: Engine;
  /** The same for every client, who may choose what is safe and not set here. */
  config?: SessionConfig;
  /** In place of `config`. If it throws, the client is told and its channel is closed. */
  configFor?: ConfigFor;
  /** Needed to connect. Made at random when absent, which only a server on a loopback address may do. */
  token?: string;
  host?: string;
  /** Any free one when absent. */
  port?: number;
  /** Names, without port, under which the server may be addressed, beside its own. */
  allowedHosts?: readonly string[];
  /** Origins of pages that may connect; none when absent. A request without an Origin comes from no page. */
  allowedOrigins?: readonly string[];
  clock: Clock;
  logger?: Logger;
  /** How long a client may be away before its session is closed (30 s). */
  graceMs?: number;
}

export interface RunningServer {
  /** For `connectWebSocket`; without the token. */
  readonly url: string;
  readonly token: string;
  /** Closes every session and resolves when nothing is left. */
  close(): Promise<void>;
}

/** Hosts an engine for clients on WebSockets. Rejects with `invalid_config` when it could be reached without a token. */
export async function createServer(options: ServerOptions): Promise<RunningServer> {
  const { engine, clock, logger = () => {}, host = '127.0.0.1', port = 0, graceMs } = options;
  const configFor = toConfigFor(options);
  const rules: GateRules = {
    token: requireToken(options.token, host, () => randomBytes(32).toString('base64url')),
    host,
    allowedHosts: options.allowedHosts ?? [],
    allowedOrigins: options.allowedOrigins ?? [],
  };
  const serving = new Set<Promise<void>>();

  const serve = async (channel: Channel, request: IncomingMessage): Promise<void> => {
    try {
      const { channel: held, first } = await awaitFirstFrame(channel, isAllowed);
      const { safe, ignored } = pickSafe(askedIn(first));
      if (ignored.length > 0) logger('info', 'A client asked for what it may not choose.', { ignored });
      // Clients decide what runs here: they see nothing of the server's environment that it does not name, and write
      // nothing to its settings.
      const config = { childEnv: [], settingsWrites: 'none' as const, ...(await configFor(request, safe)) };
      await serveHost({ engine, channel: held, config, isDecided: true, logger });
    } catch (thrown) {
      const error = toHeddleError(thrown);
      logger('warn', `A client was not served to the end. ${error.message}`, { code: error.code });
      channel.close(error);
    }
  };

  const acceptor = await acceptWebSockets({
    clock,
    logger,
    graceMs,
    onStream(channel, request) {
      const served = serve(channel, request).finally(() => serving.delete(served));
      serving.add(served);
    },
  });
  const http = createHttpServer((request, response) => {
    const { status, text } = decideUpgrade(request, rules) ?? { status: 426, text: 'An upgrade was expected.' };
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
  });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', (error) => logger('debug', `A socket failed. ${error.message}`));
    const refusal = decideUpgrade(request, rules);
    if (refusal === undefined) acceptor.accept(request, socket, head);
    else refuse(socket, refusal);
  });
  await listen(http, { host, port });

  return {
    url: urlOf(http.address() as AddressInfo),
    token: rules.token,
    async close() {
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      await acceptor.close(new HeddleError('channel_closed', 'The server was closed.', { retryable: true }));
      http.closeAllConnections();
      await Promise.all([closed, ...serving]);
    },
  };
}

function toConfigFor({ config, configFor }: ServerOptions): ConfigFor {
  if (configFor !== undefined && config === undefined) return configFor;
  if (config !== undefined && configFor === undefined) return (_, asked) => ({ ...asked, ...config });
  throw new HeddleError('invalid_config', 'A server needs either config or configFor.');
}

/** The environment of a session is the server's affair. */
const isAllowed = (frame: Frame): boolean => frame.type !== 'update_environment_variables';

function refuse(socket: Duplex, { status, text }: Refusal): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text) + 1}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}\n`, () => socket.destroy());
}

function listen(http: ReturnType<typeof createHttpServer>, at: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (cause) =>
      reject(
        new HeddleError('invalid_config', `Cannot listen on ${at.host}:${at.port}: ${cause.message}`, {
          cause,
          hint: 'Choose another port or address; port 0 takes any free one.',
        }),
      ),
    );
    http.listen(at.port, at.host, resolve);
  });
}

const urlOf = ({ address, family, port }: AddressInfo): string =>
  `ws://${family === 'IPv6' ? `[${address}]` : address}:${port}${WEBSOCKET_PATH}`;
