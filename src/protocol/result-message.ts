/** The message that ends a turn. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { StopReason } from './model-event.js';
import { type Lazy, type MemberOf, openName, openUnion } from './open-union.js';
import { PermissionDenial } from './permission.js';
import { ModelUsage, ResultUsage } from './usage.js';

/** Why a turn ended, finer than the subtype. */
export const TerminalReason = lazy(() =>
  openName(
    'completed',
    'max_turns',
    'budget_exhausted',
    'structured_output_retry_exhausted',
    'aborted_streaming',
    'aborted_tools',
    'hook_stopped',
    'api_error',
    'prompt_too_long',
    'image_error',
  ),
);
export type TerminalReason = Infer<typeof TerminalReason>;

const common = () => ({
  type: z.literal('result'),
  uuid: z.string(),
  session_id: z.string(),
  is_error: z.boolean(),
  duration_ms: z.number().describe('Wall clock.'),
  duration_api_ms: z.number().describe('Spent in model calls.'),
  num_turns: z.number(),
  stop_reason: StopReason().nullable().optional(),
  total_cost_usd: z.number().describe('Since the session was opened.'),
  usage: ResultUsage(),
  modelUsage: z.record(z.string(), ModelUsage()),
  permission_denials: z.array(PermissionDenial()),
  terminal_reason: TerminalReason().optional(),
  error_code: z.string().optional().describe('The code of the HeddleError that ended the turn.'),
  api_error_status: z.number().nullable().optional(),
  api_error_type: z.string().nullable().optional(),
  api_error: z.unknown().optional(),
  ttft_ms: z.number().optional().describe('Until the first token.'),
  ttft_stream_ms: z.number().optional(),
  time_to_request_ms: z.number().optional(),
  first_content_frame_ms: z.number().optional(),
  queued_turn_count: z.number().optional().describe('Turns that follow by themselves: of messages and of ended tasks.'),
  result_index: z.number().optional(),
  model_usage_since_last_result: z.record(z.string(), ModelUsage()).optional(),
  subagent_stats: z.unknown().optional(),
  safety_stops: z.number().optional(),
  fast_mode_state: z.string().optional(),
  local_command: z.unknown().optional(),
  origin: z
    .object({ kind: openName('task-notification') })
    .optional()
    .describe('Who started this turn.'),
  user_message_uuid: z.string().optional(),
  user_message_uuids: z.array(z.string()).optional(),
  heddle_version: z.string().optional(),
});

export const ResultSuccess = lazy(() =>
  z
    .object({
      ...common(),
      subtype: z.literal('success'),
      result: z.string().describe('The text of the last answer.'),
      structured_output: z.unknown().optional(),
    })
    .describe('The turn ended with an answer.'),
);
export type ResultSuccess = Infer<typeof ResultSuccess>;

export const RESULT_ERRORS = [
  'error_during_execution',
  'error_max_turns',
  'error_max_budget_usd',
  'error_max_structured_output_retries',
] as const;

export const ResultError = lazy(() =>
  z
    .object({ ...common(), subtype: z.enum(RESULT_ERRORS), errors: z.array(z.string()) })
    .describe('The turn ended without one.'),
);
export type ResultError = Infer<typeof ResultError>;

/** Subtype to schema. */
export const RESULT_MESSAGES = {
  success: ResultSuccess,
  error_during_execution: ResultError,
  error_max_turns: ResultError,
  error_max_budget_usd: ResultError,
  error_max_structured_output_retries: ResultError,
} as const;

export type ResultMessage = MemberOf<typeof RESULT_MESSAGES>;
export const ResultMessage: Lazy<ResultMessage> = lazy(() => openUnion('subtype', RESULT_MESSAGES));
