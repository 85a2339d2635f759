import type { UserMessage } from '../protocol/index.js';
import { HeddleError, systemClock } from '../protocol/plain.js';
import type { Options } from './options.js';
import { openQuery } from './query.js';
import type { Query } from './query-handle.js';

/** An engine that is up and waits for its prompt. */
export interface WarmQuery extends AsyncDisposable {
  /** Can be called once. */
  query(prompt: string | AsyncIterable<UserMessage>): Query;
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 60_000;

/** Starts an engine ahead of time, so that the first prompt does not wait for it. */
export async function startup(params: { options?: Options; initializeTimeoutMs?: number } = {}): Promise<WarmQuery> {
  const { options = {}, initializeTimeoutMs = DEFAULT_TIMEOUT_MS } = params;
  const handle = openQuery(options);
  const late = Promise.withResolvers<never>();
  const clock = options.heddle?.clock ?? systemClock;
  const cancel = clock.after(initializeTimeoutMs, () => {
    late.reject(new HeddleError('channel_closed', `The engine did not answer within ${initializeTimeoutMs} ms.`));
  });
  try {
    await Promise.race([handle.initializationResult(), late.promise]);
  } catch (thrown) {
    handle.close();
    throw thrown;
  } finally {
    cancel();
  }
  let isUsed = false;
  const close = (): void => {
    if (!isUsed) handle.close();
  };
  return {
    query(prompt) {
      if (isUsed) throw new HeddleError('invalid_config', 'This engine has its prompt already.');
      isUsed = true;
      handle.feed(prompt);
      return handle;
    },
    close,
    [Symbol.asyncDispose]: async () => close(),
  };
}
