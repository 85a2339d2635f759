/** Every way in which Heddle fails, with what to do about it. The list is closed: docs and tests are made from it. */
export const ERROR_CODES = {
  aborted: 'The caller aborted the run.',
  budget_exceeded: 'The budget of the query is spent. Raise it, or start a new query.',
  budget_unpriced: 'A USD budget was set for a model whose price is unknown. Add a price, or drop the budget.',
  checkpoint_not_found: 'There is no file checkpoint for this message. Rewind to a prompt of this session.',
  channel_closed: 'The other side went away before it answered.',
  frame_too_large: 'A line was longer than the cap. Raise the cap, or send less at once.',
  invalid_answer: 'An answer of the host (callback, hook, MCP) did not have the shape it must have.',
  invalid_config: 'An option or a flag has a value that cannot be used.',
  invalid_frame: 'A frame was not JSON, or did not match its schema.',
  invalid_settings:
    'A settings file cannot be read, written or used. Correct what the message names; nothing runs without it.',
  internal: 'Heddle itself is at fault. Please report it with the stack.',
  model_auth: 'The model API refused the credentials. Check the key or token and the base URL.',
  model_bad_request: 'The model API rejected the request as malformed.',
  model_connection: 'The model API could not be reached. Check network, proxy and base URL.',
  model_not_found: 'The model does not exist, or this key may not use it.',
  model_overloaded: 'The model API is overloaded. It is tried again, then the fallback model is used.',
  model_prompt_too_long: 'The conversation is longer than the context window of the model.',
  model_rate_limited: 'The rate limit of the model API is reached.',
  model_request_too_large: 'The request is larger than the model API accepts.',
  model_server: 'The model API failed on its side.',
  model_stalled: 'The model stream was silent for too long.',
  model_stream: 'The model stream was malformed or ended early.',
  no_provider: 'No model is configured. Set ANTHROPIC_API_KEY, or choose --model embedded to try Heddle offline.',
  not_supported: 'This is not supported here.',
  process_failed: 'A child process could not be started, or failed.',
  replay_miss: 'A model call does not match the cassette it is replayed from. Record again if the change is meant.',
  request_failed: 'The other side failed to do what it was asked. Its own words are in the message.',
  ripgrep_missing:
    'ripgrep was found neither in the package nor on PATH. Install it, or reinstall optional dependencies.',
  sandbox_unavailable:
    'The sandbox that was asked for cannot be had here. Install what the message names, or switch the sandbox off.',
  script_exhausted: 'The scripted model was asked for more than its script holds, or not for all of it.',
  session_exists: 'A session with this id exists already.',
  session_not_found: 'There is no session with this id or title.',
  session_locked: 'Another process is writing this session.',
  session_unreadable: 'The log of this session cannot be read.',
  store_failed: 'The store of sessions failed or did not answer in time. What was said until then is safe.',
  unsupported_request: 'The control request is not known to this side.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface HeddleErrorFacts {
  /** Whether the same thing may work if tried again. */
  retryable?: boolean;
  /** What the reader can do now; the text of the code when absent. */
  hint?: string;
  cause?: unknown;
  /** Facts of the case: status, path of a field, exit code, stderr tail. */
  data?: Record<string, unknown>;
}

export class HeddleError extends Error {
  override readonly name: string = 'HeddleError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly hint: string;
  readonly data: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, facts: HeddleErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.retryable = facts.retryable ?? false;
    this.hint = facts.hint ?? ERROR_CODES[code];
    this.data = facts.data ?? {};
  }
}

/** What an abort by the caller throws. */
export class AbortError extends HeddleError {
  override readonly name = 'AbortError';

  constructor(message = 'The run was aborted.', cause?: unknown) {
    super('aborted', message, { cause });
  }
}

/** Any thrown value as a HeddleError: ours pass, anything else is our own fault. */
export function toHeddleError(thrown: unknown): HeddleError {
  if (thrown instanceof HeddleError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new HeddleError('internal', message, { cause: thrown });
}
