/** Whoever receives a frame checks it here. What comes back is the value that went in, so unknown fields survive. */
import type { z } from 'zod';
import { ControlCancelRequest, ControlRequest, ControlResponse } from './control.js';
import { type ErrorCode, HeddleError } from './error.js';
import type { Frame } from './frame.js';
import { KeepAlive, MESSAGES, type Message, UpdateEnvironmentVariables } from './message.js';
import { firstProblem } from './problem.js';
import { type ParamsOf, REQUESTS, type RequestSubtype, type ResultOf } from './requests.js';
import { RESULT_MESSAGES } from './result-message.js';
import { SYSTEM_MESSAGES } from './system-message.js';

type Table = Readonly<Record<string, () => z.ZodType>>;

const frames: Table = {
  ...MESSAGES,
  control_request: ControlRequest,
  control_response: ControlResponse,
  control_cancel_request: ControlCancelRequest,
  keep_alive: KeepAlive,
  update_environment_variables: UpdateEnvironmentVariables,
};

const bySubtype: Readonly<Record<string, Table>> = { system: SYSTEM_MESSAGES, result: RESULT_MESSAGES };

const lookUp = <T>(table: Readonly<Record<string, T>>, key: unknown): T | undefined =>
  typeof key === 'string' && Object.hasOwn(table, key) ? table[key] : undefined;

/** Throws with the path of the first wrong field; otherwise returns the very value it was given. */
export function checkValue<T extends z.ZodType>(
  schema: T,
  value: unknown,
  where: string,
  code: ErrorCode = 'invalid_frame',
): z.infer<T> {
  const outcome = schema.safeParse(value);
  if (outcome.success) return value as z.infer<T>;
  const { path, problem } = firstProblem(outcome.error.issues);
  throw new HeddleError(code, `${where}: ${path}: ${problem}`, { data: { path } });
}

/** The schema of a frame by its type and subtype; undefined when we do not know it. */
export function schemaOf(frame: { type?: unknown; subtype?: unknown }): (() => z.ZodType) | undefined {
  const subtypes = lookUp(bySubtype, frame.type);
  return subtypes === undefined ? lookUp(frames, frame.type) : lookUp(subtypes, frame.subtype);
}

const nameOf = (frame: { type?: unknown; subtype?: unknown }): string =>
  typeof frame.subtype === 'string' ? `${String(frame.type)}/${frame.subtype}` : String(frame.type);

/** Checks a frame that came over a channel. Kinds we do not know pass. Envelopes are checked, not what is inside. */
export function checkFrame(frame: unknown): Frame {
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) {
    throw new HeddleError('invalid_frame', 'frame: (root): Invalid input: expected object', {
      data: { path: '(root)' },
    });
  }
  const known = frame as { type?: unknown; subtype?: unknown };
  if (typeof known.type !== 'string') {
    throw new HeddleError('invalid_frame', 'frame: type: Invalid input: expected string', { data: { path: 'type' } });
  }
  const schema = schemaOf(known);
  if (schema === undefined) return frame as Frame;
  return checkValue(schema(), frame, nameOf(known)) as Frame;
}

/** `checkFrame` for those who expect a Message. */
export const checkMessage = (frame: unknown): Message => checkFrame(frame) as Message;

const specOf = (subtype: string) => lookUp<(typeof REQUESTS)[RequestSubtype]>(REQUESTS, subtype);

/** Checks the params of a request; those of an unknown subtype pass. */
export function checkParams<S extends RequestSubtype>(subtype: S, params: unknown): ParamsOf<S>;
export function checkParams(subtype: string, params: unknown): unknown;
export function checkParams(subtype: string, params: unknown): unknown {
  const schema = specOf(subtype)?.params();
  return schema === undefined ? params : checkValue<z.ZodType>(schema, params, subtype);
}

/** Checks the answer to a request; that to an unknown subtype passes. */
export function checkResult<S extends RequestSubtype>(subtype: S, result: unknown): ResultOf<S>;
export function checkResult(subtype: string, result: unknown): unknown;
export function checkResult(subtype: string, result: unknown): unknown {
  const schema = specOf(subtype)?.result();
  return schema === undefined ? result : checkValue<z.ZodType>(schema, result, subtype, 'invalid_answer');
}
