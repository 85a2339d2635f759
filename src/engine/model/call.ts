/** One request in flight: what stops it, and what must be released when it is over. */
import { AbortError, HeddleError } from '../../protocol/plain.js';
import type { Clock } from '../../protocol/index.js';
import type { ModelErrorData } from './api-error.js';
import type { BodyReader, FetchResponse } from './proxy.js';
import { createWatchdog } from './watchdog.js';

const MAX_ERROR_BODY = 64 * 1024;
/** After `message_stop` the end of the body is due at once; a server that holds it back loses its socket. */
const DRAIN_MS = 1_000;

export interface Call {
  /** Aborts when the request must be torn down, for whatever reason. */
  readonly signal: AbortSignal;
  /** Why we stopped it ourselves: the caller's signal, or silence. Undefined when we did not. */
  stopReason(): HeddleError | undefined;
  /** Rejects when the call is stopped, also where `pending` itself would not notice. */
  unlessStopped<T>(pending: Promise<T>): Promise<T>;
  /** As `unlessStopped`, with silence counted. */
  unlessSilent<T>(pending: Promise<T>): Promise<T>;
  readerOf(body: { getReader(): BodyReader }): BodyReader;
  /** Around every read of the body: silence is counted only while one is pending. */
  readBegins(): void;
  readEnds(): void;
  /** The beginning of a body that explains an error. */
  readText(response: FetchResponse): Promise<string>;
  /** The answer is complete: takes the end of its body in the background, so that the socket can serve the next call. */
  drain(reader: BodyReader): void;
  /** The body is used up: nothing is left to tear down. */
  close(): void;
  /** Tears down whatever is still open. */
  finish(): void;
}

export function beginCall(options: { signal: AbortSignal; clock: Clock; stallMs: number }): Call {
  const { signal, clock, stallMs } = options;
  const controller = new AbortController();
  let state: 'open' | 'draining' | 'closed' = 'open';
  let stalled = false;
  let body: BodyReader | undefined;
  let rejectStopped: (() => void) | undefined;

  const stop = (): void => {
    controller.abort();
    // A body that does not follow the signal ends its pending read this way.
    body?.cancel().catch(() => {});
    rejectStopped?.();
  };
  const watchdog = createWatchdog({
    clock,
    ms: stallMs,
    onStall: () => {
      stalled = true;
      stop();
    },
  });
  const release = (): void => {
    watchdog.stop();
    signal.removeEventListener('abort', stop);
  };
  signal.addEventListener('abort', stop, { once: true });

  const stopReason = (): HeddleError | undefined => {
    if (signal.aborted) return new AbortError();
    if (!stalled) return undefined;
    const message = `The model API was silent for ${Math.round(stallMs / 1000)} s.`;
    return new HeddleError('model_stalled', message, { retryable: true, data: { message } satisfies ModelErrorData });
  };

  const unlessStopped = <T>(pending: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      rejectStopped = () => reject(stopReason() ?? new AbortError());
      if (controller.signal.aborted) rejectStopped();
      pending.then(resolve, reject);
    });

  const unlessSilent = async <T>(pending: Promise<T>): Promise<T> => {
    watchdog.begin();
    try {
      return await unlessStopped(pending);
    } finally {
      watchdog.end();
    }
  };

  const readerOf = (source: { getReader(): BodyReader }): BodyReader => {
    body = source.getReader();
    return body;
  };

  return {
    signal: controller.signal,
    stopReason,
    unlessStopped,
    unlessSilent,
    readerOf,
    readBegins: () => watchdog.begin(),
    readEnds: () => watchdog.end(),
    async readText(response) {
      if (response.body === null) return '';
      const reader = readerOf(response.body);
      const decoder = new TextDecoder();
      let text = '';
      try {
        while (text.length < MAX_ERROR_BODY) {
          const { done, value } = await unlessSilent(reader.read());
          if (done) {
            state = 'closed';
            break;
          }
          text += decoder.decode(value, { stream: true });
        }
      } catch {
        // A broken error page still has its status: what arrived of it is enough, unless we stopped it.
        const stopped = stopReason();
        if (stopped !== undefined) throw stopped;
      }
      return text;
    },
    drain(reader) {
      state = 'draining';
      watchdog.stop();
      const cancel = clock.after(DRAIN_MS, stop);
      const over = (): void => {
        cancel();
        release();
      };
      drainBody(reader).then(over, over);
    },
    close() {
      state = 'closed';
    },
    finish() {
      if (state === 'draining') return;
      release();
      if (state === 'open') stop();
    },
  };
}

async function drainBody(reader: BodyReader): Promise<void> {
  for (;;) {
    const { done } = await reader.read();
    if (done) return;
  }
}
