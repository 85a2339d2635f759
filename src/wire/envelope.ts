/** Control envelopes, read by hand: their few fields must be found even when the rest of the frame is wrong. */
import type { ControlRequest, ControlResponse } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';

export type Fields = Record<string, unknown>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A request as it came: without a subtype when there is none to read, and then it can only be refused. */
export interface ReceivedRequest {
  id: string;
  subtype: string | undefined;
  params: Fields;
}

/** Throws `invalid_frame` when there is no id to answer to. */
export function readRequest(frame: Fields): ReceivedRequest {
  const id = readId(frame, 'control_request: request_id');
  if (!isObject(frame.request)) return { id, subtype: undefined, params: {} };
  const { subtype, ...params } = frame.request;
  return { id, subtype: typeof subtype === 'string' ? subtype : undefined, params };
}

/** Throws `invalid_frame` when the answer belongs to no request or says neither success nor error. */
export function readResponse(frame: Fields): ControlResponse['response'] {
  const { response } = frame;
  if (!isObject(response)) throw wrong('control_response: response', 'object');
  readId(response, 'control_response: response.request_id');
  if (response.subtype !== 'success' && response.subtype !== 'error') {
    throw wrong('control_response: response.subtype', '"success" or "error"');
  }
  if (response.subtype === 'error' && typeof response.error !== 'string') {
    throw wrong('control_response: response.error', 'string');
  }
  return response as ControlResponse['response'];
}

export const readCancelledId = (frame: Fields): string => readId(frame, 'control_cancel_request: request_id');

/** Questions that the other side still waits for, which an answer may list for a host that came back. */
export function readPending(response: ControlResponse['response']): Fields[] {
  const lists: unknown[] = [response.pending_permission_requests, response.pending_user_dialog_requests];
  return lists.flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));
}

/** The open questions among these requests, in the fields of an answer that lists them. */
export function listPending(open: ControlRequest[]): Partial<ControlResponse['response']> {
  const permissions = open.filter(({ request }) => request.subtype === 'can_use_tool');
  const dialogs = open.filter(({ request }) => request.subtype === 'request_user_dialog');
  return {
    ...(permissions.length > 0 && { pending_permission_requests: permissions }),
    ...(dialogs.length > 0 && { pending_user_dialog_requests: dialogs }),
  };
}

export const wrong = (path: string, expected: string): HeddleError =>
  new HeddleError('invalid_frame', `${path}: Invalid input: expected ${expected}`, {
    data: { path: path.slice(path.indexOf(': ') + 2) },
  });

function readId(fields: Fields, path: string): string {
  if (typeof fields.request_id === 'string') return fields.request_id;
  throw wrong(path, 'string');
}
