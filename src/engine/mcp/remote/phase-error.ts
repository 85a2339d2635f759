/** Failures of servers, told so that a person knows which server, when, and why. */
import { AbortError, ERROR_CODES, type ErrorCode, HeddleError } from '../../../protocol/plain.js';
import type { Secrets } from '../secrets.js';
import { isRecord, toPlainText } from './text.js';

/** What was being done with the server. */
export type Phase = 'start' | 'initialize' | 'list' | 'call' | 'read' | 'prompt' | 'run';

/** What a carrier knows beside the failure itself. */
export interface Evidence {
  exitCode?: number | null;
  signal?: string | null;
  /** The end of what it wrote to stderr. */
  stderr?: string;
  /** The server wants to know who asks. */
  needsAuth?: boolean;
}

export interface PhaseContext {
  server: string;
  phase: Phase;
  /** The tool, resource or prompt that it was about. */
  about?: string;
  evidence: Evidence;
  /** What must not be read in any error. */
  secrets?: Secrets;
}

const REASON_CHARS = 2_048;
/** Of the tail that is kept, what stands in the message; all of it is in the data. */
const STDERR_SHOWN = 1_024;

/** The code that stands for an answer which is none, where one has to be made up. */
export const NO_ANSWER = -32_099;

/** JSON-RPC errors by what they mean. */
const RPC_MEANING: Readonly<Record<number, string>> = {
  [-32700]: 'it could not parse the message',
  [-32600]: 'it took the message for no request',
  [-32601]: 'it does not know the method',
  [-32602]: 'it refused the parameters',
  [-32603]: 'it failed inside',
};

/** Anything that was thrown while a server was used, as an error that names server and phase. */
export function toPhaseError(thrown: unknown, context: PhaseContext): HeddleError {
  if (thrown instanceof AbortError) return thrown;
  const { server, phase, about, evidence, secrets } = context;
  const { code, reason, data, retryable, hint } = explain(thrown, context);
  const hide = (text: string): string => secrets?.hide(text) ?? text;
  const stderr =
    evidence.stderr === undefined ? '' : hide(toPlainText(evidence.stderr, Number.MAX_SAFE_INTEGER)).trim();
  const shown = stderr.slice(-STDERR_SHOWN);
  const place = about === undefined ? phase : `${phase} of ${hide(toPlainText(about, 100))}`;
  // What a code says to everybody helps nobody here.
  const advice = hint === undefined || hint === ERROR_CODES[code] ? '' : ` ${hint}`;
  const words = hide(toPlainText(reason, REASON_CHARS)).replace(/\.$/, '');
  const tail = shown === '' ? '' : `\nThe end of its stderr:\n${shown}`;
  return new HeddleError(code, `MCP server ${server} failed in ${place}: ${words}.${advice}${tail}`, {
    cause: thrown,
    retryable,
    ...(hint !== undefined && { hint }),
    data: {
      server,
      phase,
      ...(evidence.exitCode !== undefined && { exitCode: evidence.exitCode }),
      ...(typeof evidence.signal === 'string' && { signal: evidence.signal }),
      ...(stderr !== '' && { stderr }),
      ...((secrets === undefined ? data : secrets.hideIn(data)) as typeof data),
    },
  });
}

interface Explained {
  code: ErrorCode;
  reason: string;
  retryable: boolean;
  hint?: string;
  data?: Record<string, unknown>;
}

function explain(thrown: unknown, { server, evidence }: PhaseContext): Explained {
  if (evidence.needsAuth === true) {
    return {
      code: 'request_failed',
      reason: 'it wants to know who asks (HTTP 401)',
      retryable: false,
      hint: `To log in: heddle mcp auth ${server}. Or give it a valid key in its headers.`,
      data: { needsAuth: true },
    };
  }
  if (thrown instanceof HeddleError) {
    const { code, message, retryable, hint, data } = thrown;
    return { code, reason: message, retryable, hint, data };
  }
  if (isNoMessage(thrown)) {
    return { code: 'invalid_answer', reason: 'its answer is no message of the protocol', retryable: false };
  }
  // Thrown where something is walked that goes too deep.
  if (thrown instanceof RangeError) {
    return { code: 'invalid_answer', reason: 'its answer is nested too deep', retryable: false };
  }
  const { code, message, data } = toFacts(thrown);
  if (code === NO_ANSWER) return { code: 'invalid_answer', reason: message, retryable: false };
  if (typeof code === 'number') {
    const meaning = RPC_MEANING[code];
    const reason = `${meaning === undefined ? 'it answered with an error' : meaning} (${code}): ${message}`;
    return { code: 'request_failed', reason, retryable: false, data: { rpcCode: code } };
  }
  if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED') {
    return { code: 'channel_closed', reason: 'the connection is closed', retryable: true };
  }
  if (code === 'INVALID_RESULT') return { code: 'invalid_answer', reason: message, retryable: false };
  const status = isRecord(data) && typeof data.status === 'number' ? data.status : undefined;
  if (status !== undefined) {
    const reason = `it answered with HTTP ${status}: ${message}`;
    return { code: 'request_failed', reason, retryable: status >= 500, data: { status } };
  }
  return { code: 'request_failed', reason: message, retryable: message.startsWith('it could not be reached') };
}

/** What the library throws when it could not read an answer: a list of everything that it is not. */
const isNoMessage = (thrown: unknown): boolean =>
  thrown instanceof Error && /^(?:\$)?Zod\w*Error$/.test(thrown.name) && 'issues' in thrown;

function toFacts(thrown: unknown): { code?: unknown; message: string; data?: unknown } {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const { code, data, cause, message } = thrown as Error & { code?: unknown; data?: unknown };
  // What `fetch` throws says nothing by itself.
  if (thrown.name === 'TypeError' && message === 'fetch failed' && cause instanceof Error) {
    const { code: system } = cause as NodeJS.ErrnoException;
    return { message: `it could not be reached: ${cause.message || system || 'the network failed'}` };
  }
  return { code, data, message };
}
