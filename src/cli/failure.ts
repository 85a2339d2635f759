/** Errors as the program prints them. */
import type { ResultMessage } from '../protocol/index.js';
import { type HeddleError, toHeddleError } from '../protocol/plain.js';

/** What to tell someone who has no model yet. */
export const NO_PROVIDER_TEXT = `Heddle needs a model, and no key was found.

  export ANTHROPIC_API_KEY=...    the key of your account (or ANTHROPIC_AUTH_TOKEN)
  export ANTHROPIC_BASE_URL=...   only for another server that speaks the same API
  heddle --model embedded         try it offline: a small built-in model, nothing leaves this machine

"heddle doctor" checks the rest of the set-up.`;

/** Texts about flags are complete; of everything else the reader also learns what to do. */
export function describeFailure(thrown: unknown): string {
  const error = toHeddleError(thrown);
  if (error.code === 'no_provider') return NO_PROVIDER_TEXT;
  if (error.code === 'invalid_config' || error.code === 'session_not_found') return error.message;
  if (error.code === 'internal') return `Error: ${error.message}\n${error.stack ?? ''}\n${error.hint}`;
  return `Error: ${error.message}\n${error.hint}`;
}

/** What a reader of messages gets when a session could not be opened: a result, and nothing else. */
export function toFailedResult(error: HeddleError, ids: { uuid: string; sessionId: string }): ResultMessage {
  return {
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    duration_ms: 0,
    duration_api_ms: 0,
    num_turns: 0,
    stop_reason: null,
    session_id: ids.sessionId,
    total_cost_usd: 0,
    usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
    modelUsage: {},
    permission_denials: [],
    errors: [describeFailure(error)],
    error_code: error.code,
    uuid: ids.uuid,
  };
}
