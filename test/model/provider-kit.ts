/** What the tests of providers share. */
import type { ModelEvent, ModelProvider, ModelRequest } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';

export const makeRequest = (text = 'Hello', betas: readonly string[] = []): ModelRequest => ({
  body: {
    model: 'claude-sonnet-4-5-20250929',
    max_tokens: 1000,
    messages: [{ role: 'user', content: text }],
    stream: true,
  },
  betas,
});

export interface Collected {
  events: ModelEvent[];
  batches: number;
  requestId?: string;
  error?: HeddleError;
}

/** Everything one call gives, its error included. */
export async function collect(
  provider: ModelProvider,
  options: { request?: ModelRequest; signal?: AbortSignal; onBatch?: (batch: readonly ModelEvent[]) => void } = {},
): Promise<Collected> {
  const collected: Collected = { events: [], batches: 0 };
  const signal = options.signal ?? new AbortController().signal;
  const onResponse = (info: { requestId?: string }): void => {
    collected.requestId = info.requestId;
  };
  try {
    for await (const batch of provider.stream(options.request ?? makeRequest(), { signal, onResponse })) {
      collected.events.push(...batch);
      collected.batches += 1;
      options.onBatch?.(batch);
    }
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    collected.error = error;
  }
  return collected;
}

export const textOf = (events: readonly ModelEvent[]): string =>
  events
    .map((event) => (event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : ''))
    .join('');
