/** Failures as they cross a channel: a text and a code. */
import type { ControlError } from '../protocol/index.js';
import { ERROR_CODES, type ErrorCode, HeddleError } from '../protocol/plain.js';

/** What a handler threw, as an answer. `data.error_code` stands for codes of the protocol that are not ours. */
export function toControlError(requestId: string, thrown: unknown): ControlError {
  const error = thrown instanceof Error && thrown.message !== '' ? thrown.message : String(thrown);
  const answer: ControlError = { subtype: 'error', request_id: requestId, error };
  if (!(thrown instanceof HeddleError)) return answer;
  const { error_code: foreign } = thrown.data;
  return { ...answer, error_code: typeof foreign === 'string' ? foreign : thrown.code };
}

export function fromControlError(answer: ControlError): HeddleError {
  const { error, error_code: code } = answer;
  if (code === undefined) return new HeddleError('request_failed', error);
  return isErrorCode(code)
    ? new HeddleError(code, error)
    : new HeddleError('request_failed', error, { data: { error_code: code } });
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);
