/** Message: one unit of the stream, as the consumer sees it. */
import { z } from 'zod';
import { UserContentBlock } from './content.js';
import { type Infer, lazy } from './lazy.js';
import { ApiMessage, ModelEvent } from './model-event.js';
import { type Lazy, type MemberOf, openName, openUnion, outlineOf } from './open-union.js';
import { ResultMessage } from './result-message.js';
import { SystemMessage } from './system-message.js';

const parent = () =>
  z.string().nullable().describe('The tool call whose subagent this belongs to; null: the main agent.');

const subagent = () => ({
  agent_id: z.string().optional(),
  subagent_type: z.string().optional(),
  task_description: z.string().optional(),
});

export const UserMessage = lazy(() =>
  z
    .object({
      type: z.literal('user'),
      message: z.object({
        role: z.literal('user'),
        content: z.union([z.string(), z.array(UserContentBlock())]),
      }),
      parent_tool_use_id: parent().optional(),
      session_id: z.string().optional(),
      uuid: z.string().optional(),
      timestamp: z.string().optional(),
      tool_use_result: z.unknown().optional().describe('What the tool returned, as data; a text when it failed.'),
      tool_result_meta: z.array(z.unknown()).optional(),
      isSynthetic: z.boolean().optional().describe('Written by the engine, not by a person.'),
      isReplay: z.boolean().optional().describe('An echo of what was sent in.'),
      priority: openName('now', 'next', 'later').optional(),
      shouldQuery: z.boolean().optional(),
      client_composed: z.boolean().optional(),
      ...subagent(),
    })
    .describe('A prompt of the person, or results of tools, or text the engine put in.'),
);
export type UserMessage = Infer<typeof UserMessage>;

/** Why an answer is not one of the model's. */
export const AssistantError = lazy(() =>
  openName(
    'authentication_failed',
    'billing_error',
    'rate_limit',
    'invalid_request',
    'model_not_found',
    'server_error',
    'max_output_tokens',
    'unknown',
  ),
);
export type AssistantError = Infer<typeof AssistantError>;

export const AssistantMessage = lazy(() =>
  z
    .object({
      type: z.literal('assistant'),
      message: ApiMessage(),
      parent_tool_use_id: parent(),
      session_id: z.string(),
      uuid: z.string(),
      timestamp: z.string().optional(),
      request_id: z.string().optional().describe('Of the model API.'),
      error: AssistantError().optional(),
      is_api_error_message: z.boolean().optional(),
      api_error_status: z.number().nullable().optional(),
      api_error_type: z.string().nullable().optional(),
      api_error: z.unknown().optional(),
      aborted: z.boolean().optional().describe('The answer was cut by an interrupt.'),
      user_message_uuid: z.string().optional(),
      user_message_uuids: z.array(z.string()).optional(),
      thinking_duration_ms: z.number().optional(),
      tool_use_meta: z.unknown().optional(),
      local_command_source: z.unknown().optional(),
      ...subagent(),
    })
    .describe("A block of the model's answer; all blocks of one answer share `message.id`."),
);
export type AssistantMessage = Infer<typeof AssistantMessage>;

export const StreamEventMessage = lazy(() =>
  z
    .object({
      type: z.literal('stream_event'),
      event: outlineOf(ModelEvent),
      parent_tool_use_id: parent(),
      session_id: z.string(),
      uuid: z.string(),
      api_message_id: z.string().optional(),
      ttft_ms: z.number().optional(),
    })
    .describe('An event of the model API as it arrived. Only its outline is checked.'),
);
export type StreamEventMessage = Infer<typeof StreamEventMessage>;

export const ToolProgressMessage = lazy(() =>
  z
    .object({
      type: z.literal('tool_progress'),
      tool_use_id: z.string(),
      tool_name: z.string(),
      parent_tool_use_id: parent(),
      elapsed_time_seconds: z.number(),
      task_id: z.string().optional(),
      uuid: z.string(),
      session_id: z.string(),
    })
    .describe('A tool call is still running.'),
);
export type ToolProgressMessage = Infer<typeof ToolProgressMessage>;

export const ToolUseSummaryMessage = lazy(() =>
  z
    .object({
      type: z.literal('tool_use_summary'),
      summary: z.string(),
      preceding_tool_use_ids: z.array(z.string()).optional(),
      uuid: z.string(),
      session_id: z.string(),
    })
    .describe('Several tool calls in one sentence.'),
);
export type ToolUseSummaryMessage = Infer<typeof ToolUseSummaryMessage>;

export const AuthStatusMessage = lazy(() =>
  z
    .object({
      type: z.literal('auth_status'),
      isAuthenticating: z.boolean(),
      output: z.array(z.string()),
      error: z.string().optional(),
      uuid: z.string(),
      session_id: z.string(),
    })
    .describe('The state of the credentials.'),
);
export type AuthStatusMessage = Infer<typeof AuthStatusMessage>;

export const CommandLifecycleMessage = lazy(() =>
  z
    .object({
      type: z.literal('command_lifecycle'),
      command_uuid: z.string(),
      state: openName('queued', 'started', 'completed', 'dropped'),
      reason: z.string().optional(),
      uuid: z.string(),
      session_id: z.string(),
    })
    .describe('What became of a user message that carried a uuid.'),
);
export type CommandLifecycleMessage = Infer<typeof CommandLifecycleMessage>;

export const ConversationResetMessage = lazy(() =>
  z
    .object({
      type: z.literal('conversation_reset'),
      new_conversation_id: z.string(),
      trigger: z.unknown().optional(),
      user_message_uuid: z.string().optional(),
      timestamp: z.string().optional(),
      uuid: z.string(),
      session_id: z.string(),
    })
    .describe('The conversation starts from nothing.'),
);
export type ConversationResetMessage = Infer<typeof ConversationResetMessage>;

export const PromptSuggestionMessage = lazy(() =>
  z
    .object({ type: z.literal('prompt_suggestion'), suggestion: z.string(), uuid: z.string(), session_id: z.string() })
    .describe('A guess at what the person may ask next.'),
);
export type PromptSuggestionMessage = Infer<typeof PromptSuggestionMessage>;

export const RateLimitInfo = lazy(() =>
  z.object({
    status: openName('allowed', 'allowed_warning', 'rejected'),
    resetsAt: z.number().optional().describe('Seconds since 1970.'),
    rateLimitType: openName('five_hour', 'seven_day', 'seven_day_opus', 'seven_day_sonnet', 'overage')
      .optional()
      .describe('The window that decides.'),
    utilization: z.number().optional().describe('How much of that window is used up; 1 is all of it.'),
    overageStatus: openName('allowed', 'allowed_warning', 'rejected').optional(),
    overageResetsAt: z.number().optional(),
    overageDisabledReason: z.string().optional(),
  }),
);
export type RateLimitInfo = Infer<typeof RateLimitInfo>;

export const RateLimitMessage = lazy(() =>
  z
    .object({
      type: z.literal('rate_limit_event'),
      rate_limit_info: RateLimitInfo(),
      uuid: z.string(),
      session_id: z.string(),
    })
    .describe('What the model API says of the rate limit of the account, when it has changed.'),
);
export type RateLimitMessage = Infer<typeof RateLimitMessage>;

export const KeepAlive = lazy(() =>
  z.object({ type: z.literal('keep_alive') }).describe('Says that the sender is alive.'),
);
export type KeepAlive = Infer<typeof KeepAlive>;

export const UpdateEnvironmentVariables = lazy(() =>
  z
    .object({ type: z.literal('update_environment_variables'), variables: z.record(z.string(), z.string()) })
    .describe('Changes the environment of the session.'),
);
export type UpdateEnvironmentVariables = Infer<typeof UpdateEnvironmentVariables>;

/** Type to schema. */
export const MESSAGES = {
  system: SystemMessage,
  user: UserMessage,
  assistant: AssistantMessage,
  result: ResultMessage,
  stream_event: StreamEventMessage,
  tool_progress: ToolProgressMessage,
  tool_use_summary: ToolUseSummaryMessage,
  auth_status: AuthStatusMessage,
  command_lifecycle: CommandLifecycleMessage,
  conversation_reset: ConversationResetMessage,
  prompt_suggestion: PromptSuggestionMessage,
  rate_limit_event: RateLimitMessage,
} as const;

/** Everything a consumer may see. */
export type Message = MemberOf<typeof MESSAGES>;
export const Message: Lazy<Message> = lazy(() => openUnion('type', MESSAGES));
