/** The envelopes in which requests and answers cross a channel. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import type { RequestBody } from './requests.js';

/** Any request, its params unread: what they must be is in THE TABLE. */
const requestBody = () => z.looseObject({ subtype: z.string() }) as unknown as z.ZodType<RequestBody>;

export const ControlRequest = lazy(() =>
  z
    .object({ type: z.literal('control_request'), request_id: z.string(), request: requestBody() })
    .describe('Asks the other side; it answers with the same `request_id`.'),
);
export type ControlRequest = Infer<typeof ControlRequest>;

const pending = () => ({
  pending_permission_requests: z
    .array(ControlRequest())
    .optional()
    .describe('Questions still open, so that a host that came back can answer them.'),
  pending_user_dialog_requests: z.array(ControlRequest()).optional(),
});

export const ControlSuccess = lazy(() =>
  z
    .object({ subtype: z.literal('success'), request_id: z.string(), response: z.unknown().optional(), ...pending() })
    .describe('The answer.'),
);
export type ControlSuccess = Infer<typeof ControlSuccess>;

export const ControlError = lazy(() =>
  z
    .object({
      subtype: z.literal('error'),
      request_id: z.string(),
      error: z.string(),
      error_code: z.string().optional(),
      ...pending(),
    })
    .describe('The request failed.'),
);
export type ControlError = Infer<typeof ControlError>;

export const ControlResponse = lazy(() =>
  z
    .object({
      type: z.literal('control_response'),
      response: z.discriminatedUnion('subtype', [ControlSuccess(), ControlError()]),
    })
    .describe('Answers a request.'),
);
export type ControlResponse = Infer<typeof ControlResponse>;

export const ControlCancelRequest = lazy(() =>
  z
    .object({ type: z.literal('control_cancel_request'), request_id: z.string() })
    .describe('The sender no longer waits for the answer.'),
);
export type ControlCancelRequest = Infer<typeof ControlCancelRequest>;
