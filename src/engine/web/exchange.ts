/** One bounded HTTP exchange: a request, and an answer of at most so many bytes in at most so much time. */
import type { Dispatcher, Response } from 'undici';
import type { Clock } from '../../protocol/index.js';
import { HEDDLE_VERSION } from '../version.js';
import { hostOf, portOf } from './private-hosts.js';

export interface Request {
  url: URL;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  dispatcher: Dispatcher;
  signal: AbortSignal;
}

export interface Deadline {
  readonly signal: AbortSignal;
  /** In time: from here on only the outer signal counts. */
  meet(): void;
  /** Lets go of the outer signal too. */
  end(): void;
}

/** A signal that aborts with the outer one, and with these words when the time is over. */
export function startDeadline(
  clock: Clock,
  outer: AbortSignal,
  { ms, words }: { ms: number; words: string },
): Deadline {
  const controller = new AbortController();
  const stop = (): void => controller.abort(outer.reason);
  const cancelTimer = clock.after(ms, () => controller.abort(new Error(words)));
  if (outer.aborted) stop();
  outer.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    meet: cancelTimer,
    end() {
      cancelTimer();
      outer.removeEventListener('abort', stop);
    },
  };
}

/** Sends, and waits for the headers of the answer. Redirects are not followed. Throws words for the model. */
export async function sendRequest({ url, dispatcher, signal, ...request }: Request): Promise<Response> {
  const { fetch } = await import('undici');
  const headers = { 'user-agent': `Heddle/${HEDDLE_VERSION}`, ...request.headers };
  try {
    const response = await fetch(url, { ...request, headers, dispatcher, signal, redirect: 'manual' });
    // Each further coding can multiply the size once more. Nobody needs a second one.
    if (!(response.headers.get('content-encoding') ?? '').includes(',')) return response;
    await response.body?.cancel().catch(() => {});
  } catch (thrown) {
    throw explainFailure(thrown, { url, signal });
  }
  throw new Error(`${url.host} sent an answer that is compressed more than once. It was not read.`);
}

export interface BodyLimit {
  url: URL;
  signal: AbortSignal;
  maxBytes: number;
  /** Give the head of a body that is too long, rather than an error. */
  cut?: boolean;
}

/** The body, decompressed. Stops reading as soon as it is too long. */
export async function readBody(response: Response, limit: BodyLimit): Promise<Uint8Array> {
  const { url, signal, maxBytes, cut = false } = limit;
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  const announced = Number(response.headers.get('content-length') ?? 0);
  let length = announced > maxBytes && !cut ? announced : 0;
  try {
    while (length <= maxBytes) {
      const next = await reader.read();
      if (next.done) break;
      const chunk: Uint8Array = next.value;
      chunks.push(chunk);
      length += chunk.byteLength;
    }
  } catch (thrown) {
    throw explainFailure(thrown, { url, signal });
  } finally {
    reader.cancel().catch(() => {});
  }
  if (length <= maxBytes || cut) return Buffer.concat(chunks).subarray(0, maxBytes);
  throw new Error(`The answer of ${url.host} is larger than ${showMegabytes(maxBytes)} MB. It was not read.`);
}

const showMegabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

interface Failure {
  code: string;
  message: string;
}

/** `fetch failed` hides what happened in its cause, and several tried addresses hide it in a list. */
function findFailure(thrown: unknown): Failure {
  if (!(thrown instanceof Error)) return { code: '', message: String(thrown) };
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return findFailure(thrown.errors[0]);
  if (thrown.cause instanceof Error) return findFailure(thrown.cause);
  return { code: 'code' in thrown ? String(thrown.code) : '', message: thrown.message };
}

/** One line that names the host, what went wrong, and what to do. */
export function explainFailure(thrown: unknown, { url, signal }: { url: URL; signal: AbortSignal }): Error {
  if (signal.aborted) return signal.reason instanceof Error ? signal.reason : new Error('The request was interrupted.');
  const { code, message } = findFailure(thrown);
  const host = hostOf(url);
  if (/^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/.test(code)) {
    return new Error(`The host ${host} cannot be found (${code}). Check the spelling of the address.`);
  }
  if (code === 'ECONNREFUSED') {
    return new Error(`${host} refuses connections on port ${portOf(url)}. Check the address, or try again later.`);
  }
  if (/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/.test(code)) {
    return new Error(`${host} did not accept a connection in time. Try again later, or use another source.`);
  }
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(code)) {
    return new Error(`${host} cannot be reached from here (${code}). Use another source.`);
  }
  if (/CERT|SIGNED|SIGNATURE|ISSUER|TLS|SSL|EPROTO/.test(code)) {
    const hint = /WRONG_VERSION|PACKET_LENGTH/.test(`${code}${message}`)
      ? ' The server seems to speak plain http.'
      : '';
    return new Error(`No safe connection (TLS) to ${host} on port ${portOf(url)}: ${code}.${hint} Use another source.`);
  }
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) {
    return new Error(`${host} closed the connection before its answer was complete. Try again, or use another source.`);
  }
  return new Error(`The request to ${host} failed: ${message}`);
}
