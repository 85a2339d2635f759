/** What the model API refuses or how it fails, as HeddleErrors. Pure. */
import { type ErrorCode, HeddleError } from '../../protocol/plain.js';

/** What `data` of a `model_*` error holds, as far as it is known. */
export interface ModelErrorData extends Record<string, unknown> {
  /** The HTTP status; for an error inside a stream, the status it would have had. */
  status?: number;
  /** The API's own name of the error, or the system's code of a failed connection. */
  type?: string;
  message?: string;
  requestId?: string;
  /** How long the API asks us to wait. */
  retryAfterMs?: number;
  /** `host:port` of the API. */
  endpoint?: string;
}

interface StatusRule {
  code: ErrorCode;
  retryable: boolean;
}

const STATUS_RULES: Readonly<Record<number, StatusRule>> = {
  400: { code: 'model_bad_request', retryable: false },
  401: { code: 'model_auth', retryable: false },
  403: { code: 'model_auth', retryable: false },
  404: { code: 'model_not_found', retryable: false },
  408: { code: 'model_server', retryable: true },
  409: { code: 'model_server', retryable: true },
  413: { code: 'model_request_too_large', retryable: false },
  429: { code: 'model_rate_limited', retryable: true },
  529: { code: 'model_overloaded', retryable: true },
};

/** Errors inside a stream carry a type only. */
const TYPE_STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

const TOO_LONG = /prompt is too long|exceeds? (the )?(model'?s )?(maximum )?context (limit|length|window)/i;

function ruleOf(status: number, type: string | undefined, message: string): StatusRule {
  if (type === 'overloaded_error') return { code: 'model_overloaded', retryable: true };
  if (status === 400 && TOO_LONG.test(message)) return { code: 'model_prompt_too_long', retryable: false };
  const rule = STATUS_RULES[status];
  if (rule !== undefined) return rule;
  if (status >= 500) return { code: 'model_server', retryable: true };
  return { code: 'model_bad_request', retryable: false };
}

/** The error of an answer whose status is not 2xx. `body` is its text, already free of secrets. */
export function toStatusError(answer: {
  status: number;
  headers: { get(name: string): string | null };
  body: string;
  endpoint: string;
  now: number;
}): HeddleError {
  const { status, headers, endpoint } = answer;
  const requestId = headers.get('request-id') ?? undefined;
  if (status >= 300 && status < 400) {
    return new HeddleError('model_connection', `The model API at ${endpoint} answered with a redirect (${status}).`, {
      hint: 'Keys are not sent along redirects. Set the base URL to the final address.',
      data: { status, requestId, endpoint } satisfies ModelErrorData,
    });
  }
  const { type, message, shaped } = readErrorBody(answer.body, status);
  const rule = ruleOf(status, type, message);
  const asked = headers.get('x-should-retry');
  return new HeddleError(rule.code, `The model API answered ${status}: ${message}`, {
    retryable: asked === 'true' || (asked !== 'false' && rule.retryable),
    hint: status === 404 && !shaped ? `Nothing at ${endpoint} speaks the Messages API. Check the base URL.` : undefined,
    data: {
      status,
      type,
      message,
      requestId,
      retryAfterMs: retryAfterMs(headers, answer.now),
      endpoint,
    } satisfies ModelErrorData,
  });
}

/** The error of an `error` event in the middle of a stream. */
export function toEventError(
  event: Readonly<Record<string, unknown>>,
  facts: { requestId?: string; endpoint: string; redact: (text: string) => string },
): HeddleError {
  const error = asRecord(event['error']);
  const type = typeof error?.['type'] === 'string' ? error['type'] : 'api_error';
  const message = facts.redact(typeof error?.['message'] === 'string' ? error['message'] : 'no message');
  const status = TYPE_STATUS[type] ?? 500;
  const rule = ruleOf(status, type, message);
  return new HeddleError(rule.code, `The model API failed in the middle of an answer: ${message}`, {
    retryable: rule.retryable,
    data: {
      status,
      type,
      message,
      requestId: facts.requestId,
      endpoint: facts.endpoint,
    } satisfies ModelErrorData,
  });
}

const CONNECTION_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed before an answer came',
};

const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(VERIFY|GET_ISSUER))/;

/** The error of a request that never got an answer. */
export function toConnectionError(thrown: unknown, facts: { endpoint: string; redact: (text: string) => string }) {
  const { endpoint } = facts;
  const type = systemCode(thrown);
  const reason = facts.redact(rootMessage(thrown));
  const isCertificate = type !== undefined && CERTIFICATE.test(type);
  const words = (type === undefined ? undefined : CONNECTION_WORDS[type]) ?? reason;
  const suffix = type === undefined ? '' : ` (${type})`;
  return new HeddleError('model_connection', `The model API at ${endpoint} could not be reached: ${words}${suffix}.`, {
    retryable: !isCertificate,
    hint: isCertificate
      ? 'The certificate is not trusted. Point NODE_EXTRA_CA_CERTS at the right authority.'
      : 'Check network, proxy and base URL; a firewall may be in the way.',
    data: { type, message: reason, endpoint } satisfies ModelErrorData,
  });
}

/** The error of a stream that broke, ended early or was no stream. */
export function toStreamError(problem: string, data: ModelErrorData): HeddleError {
  return new HeddleError('model_stream', problem, { retryable: true, data: { ...data, message: problem } });
}

/** Milliseconds the API asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMs(headers: { get(name: string): string | null }, now: number): number | undefined {
  const exact = readNumber(headers.get('retry-after-ms'));
  if (exact !== undefined) return exact;
  const text = headers.get('retry-after');
  const seconds = readNumber(text);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  const date = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The system's code of a failed connection, wherever `fetch` has wrapped it. */
export function systemCode(thrown: unknown): string | undefined {
  for (
    let error = asRecord(thrown), depth = 0;
    error !== undefined && depth < 5;
    error = asRecord(error['cause']), depth++
  ) {
    if (typeof error['code'] === 'string') return error['code'];
  }
  return undefined;
}

function rootMessage(thrown: unknown): string {
  let message = 'unknown reason';
  for (
    let error = asRecord(thrown), depth = 0;
    error !== undefined && depth < 5;
    error = asRecord(error['cause']), depth++
  ) {
    if (typeof error['message'] === 'string' && error['message'] !== '') message = error['message'];
  }
  return message;
}

function readErrorBody(body: string, status: number): { type?: string; message: string; shaped: boolean } {
  const error = asRecord(asRecord(parseJson(body))?.['error']);
  if (typeof error?.['message'] === 'string') {
    const type = typeof error['type'] === 'string' ? error['type'] : undefined;
    return { type, message: error['message'], shaped: true };
  }
  const text = body.trim();
  const isPlain = text !== '' && !text.startsWith('<');
  const fallback = status === 529 ? 'Overloaded' : 'no message';
  return { message: isPlain ? text.slice(0, 300) : fallback, shaped: false };
}

function readNumber(text: string | null): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const asRecord = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
