/** A Messages API on loopback that plays a script, faults included. For tests of whatever speaks HTTP to a model. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { MessagesBody, ModelEvent } from '../protocol/index.js';
import {
  createStepIds,
  pauseIndex,
  readStep,
  type ScriptAnswer,
  type ScriptStep,
  stepEvents,
} from '../engine/index.js';

/**
 * `badjson` an event that is not JSON · `truncate` the socket dies inside an event · `no_stop` a clean end without
 * message_stop · `garbage` bytes that are no events · `sse_error` an error event · `empty` nothing at all · `reset` the
 * socket dies before the headers · `silent` nothing after the first delta · `no_answer` no headers either.
 */
export type Malformed =
  | 'badjson'
  | 'truncate'
  | 'no_stop'
  | 'garbage'
  | 'sse_error'
  | 'empty'
  | 'reset'
  | 'silent'
  | 'no_answer';

export interface FakeAnswer extends Omit<ScriptAnswer, 'error' | 'batches'> {
  /** Anything but 200 is an error; `body` is sent as it is, else one in the API's shape with `message`. */
  status?: number;
  headers?: Record<string, string>;
  body?: string | Record<string, unknown>;
  message?: string;
  malformed?: Malformed;
  /** The error of `sse_error`; an overload when absent. */
  streamError?: { type: string; message: string };
  /** Events per write; one when absent. */
  eventsPerWrite?: number;
  /** Cuts the stream at every so many bytes, also inside characters. */
  bytesPerWrite?: number;
  /** Milliseconds between writes. */
  delayMs?: number;
}

export interface FakeRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: MessagesBody;
  bytes: number;
}

export interface FakeApi {
  /** The base URL. */
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  /** Sockets that are open now. */
  readonly sockets: number;
  /** Resolves when `count` requests have arrived. */
  received(count: number): Promise<void>;
  /** Resolves when no socket is open. */
  disconnected(): Promise<void>;
  /** Throws when the script was not used up, or when more was asked for. */
  assertDone(): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

export interface FakeApiOptions {
  /** The last step answers every further request. */
  repeatLast?: boolean;
  /** Characters per delta where a step does not say. */
  deltaSize?: number;
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export async function startFakeApi(
  steps: readonly ScriptStep<FakeAnswer>[],
  options: FakeApiOptions = {},
): Promise<FakeApi> {
  const requests: FakeRequest[] = [];
  const sockets = new Set<Socket>();
  const ids = createStepIds();
  let waiters: { ready: () => boolean; resolve: () => void }[] = [];

  const until = (ready: () => boolean): Promise<void> =>
    ready() ? Promise.resolve() : new Promise((resolve) => waiters.push({ ready, resolve }));
  const settle = (): void => {
    const over = waiters.filter((waiter) => waiter.ready());
    waiters = waiters.filter((waiter) => !over.includes(waiter));
    for (const waiter of over) waiter.resolve();
  };

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await readAll(incoming);
    const path = incoming.url ?? '/';
    if (incoming.method !== 'POST' || !/\/v1\/messages(\?|$)/.test(path)) {
      return sendError(response, { status: 404, message: `no route for ${incoming.method} ${path}` }, 'req_0');
    }
    const body = JSON.parse(raw.toString('utf8')) as MessagesBody;
    const index = requests.length;
    const requestId = `req_${index + 1}`;
    requests.push({ method: 'POST', path, headers: flatHeaders(incoming), body, bytes: raw.length });
    settle();
    const written = steps[index] ?? (options.repeatLast === true ? steps.at(-1) : undefined);
    if (written === undefined) {
      return sendError(response, { status: 400, message: `the script has only ${steps.length} steps` }, requestId);
    }
    const betas = flatHeaders(incoming)['anthropic-beta']?.split(',') ?? [];
    const step: FakeAnswer = await readStep(written, { body, betas }, index);
    if (step.malformed === 'no_answer') return;
    if (step.malformed === 'reset') return void incoming.socket.resetAndDestroy();
    if ((step.status ?? 200) !== 200) return sendError(response, step, requestId);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': requestId, ...step.headers });
    const events = stepEvents(step, { ids, model: body.model, deltaSize: options.deltaSize });
    await sendStream(response, step, events);
  };

  const server = createServer((incoming, response) => {
    // A client that has gone away, or a step that throws: the connection ends, and the client sees it.
    answer(incoming, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      settle();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get sockets() {
      return sockets.size;
    },
    received: (count) => until(() => requests.length >= count),
    disconnected: () => until(() => sockets.size === 0),
    assertDone() {
      if (requests.length === steps.length) return;
      throw new Error(`The script has ${steps.length} steps, the fake API was called ${requests.length} times.`);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendError(response: ServerResponse, step: FakeAnswer, requestId: string): void {
  const { status = 500, headers, body, message = `fake error ${step.status}` } = step;
  const shaped = { type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message }, request_id: requestId };
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': requestId, ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body ?? shaped));
}

async function sendStream(response: ServerResponse, step: FakeAnswer, events: readonly ModelEvent[]): Promise<void> {
  const write = createWriter(response, step);
  const { malformed } = step;
  if (malformed === 'empty') return void response.end();
  if (malformed === 'garbage') {
    await write(Buffer.from('\u0000\u0001 not an event \ufffd\n\n<html>nothing here</html>\r\n'));
    return void response.end();
  }
  const firstDelta = events.findIndex((event) => event.type === 'content_block_delta') + 1;
  const cut = malformed === 'no_stop' ? events.findIndex((event) => event.type === 'message_delta') : firstDelta;
  const shown = malformed === undefined ? events : events.slice(0, cut);
  const pause = pauseIndex(shown, step);
  const perWrite = step.eventsPerWrite ?? 1;
  if (malformed === 'silent' && shown.length === 0) response.flushHeaders();
  for (let position = 0; position < shown.length; ) {
    if (position === pause) await step.waitFor;
    const limit = pause > position ? Math.min(pause, position + perWrite) : position + perWrite;
    await write(Buffer.from(shown.slice(position, limit).map(toSse).join('')));
    position = Math.min(limit, shown.length);
  }
  if (pause === shown.length) await step.waitFor;
  switch (malformed) {
    case 'silent':
      return;
    case 'badjson':
      await write(Buffer.from('event: content_block_delta\ndata: {"type":"content_block_delta","index":0,\n\n'));
      break;
    case 'sse_error':
      await write(Buffer.from(toSse({ type: 'error', error: step.streamError ?? OVERLOAD })));
      break;
    case 'truncate':
      // Destroying drops what is not yet written, so this write is waited for.
      await new Promise((resolve) => response.write('event: content_block_delta\ndata: {"type":"content_blo', resolve));
      return void response.destroy();
  }
  response.end();
}

const OVERLOAD = { type: 'overloaded_error', message: 'Overloaded' };

const toSse = (event: ModelEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Writes pieces one event-loop turn or `delayMs` apart, no faster than the client reads. */
function createWriter(response: ServerResponse, { bytesPerWrite, delayMs }: FakeAnswer) {
  const writePiece = async (piece: Buffer): Promise<void> => {
    if (response.destroyed) throw new Error('the client has gone away');
    if (!response.write(piece)) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          response.off('drain', go).off('close', go);
          resolve();
        };
        response.on('drain', go).on('close', go);
      });
    }
    if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs));
    else if (bytesPerWrite !== undefined) await new Promise((resolve) => setImmediate(resolve));
  };
  return async (bytes: Buffer): Promise<void> => {
    const size = bytesPerWrite ?? bytes.length;
    for (let start = 0; start < bytes.length; start += size) await writePiece(bytes.subarray(start, start + size));
  };
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const flatHeaders = (incoming: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]));
