import type { Clock, ModelProvider } from '../../protocol/index.js';
import { systemClock } from '../../protocol/plain.js';
import type { Env } from './credentials.js';

export interface ApiProviderOptions {
  /** Where key, token and base URL are looked up: `ANTHROPIC_API_KEY` and so on. */
  env: Env;
  /** Stronger than those of the environment. */
  apiKey?: string;
  authToken?: string;
  baseUrl?: string;
  headers?: Readonly<Record<string, string>>;
  clock?: Clock;
}

/** The model API as `query()` speaks to it by itself, for those who wrap it. */
export async function createApiProvider(options: ApiProviderOptions): Promise<ModelProvider> {
  const { createAnthropicProvider } = await import('./anthropic.js');
  return createAnthropicProvider({ ...options, clock: options.clock ?? systemClock });
}
