/** The model API: the body of a request, and the events of its streamed answer. */
import { z } from 'zod';
import { CacheControl, ContentBlock, MessageParam, TextBlock } from './content.js';
import { type Infer, lazy } from './lazy.js';
import { jsonObject, type Lazy, type MemberOf, openName, openUnion } from './open-union.js';
import { DeltaUsage, Usage } from './usage.js';

export const StopReason = lazy(() =>
  openName(
    'end_turn',
    'tool_use',
    'max_tokens',
    'stop_sequence',
    'pause_turn',
    'refusal',
    'model_context_window_exceeded',
  ),
);
export type StopReason = Infer<typeof StopReason>;

export const ApiMessage = lazy(() =>
  z.object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(ContentBlock()),
    stop_reason: StopReason().nullable(),
    stop_sequence: z.string().nullable().optional(),
    usage: Usage(),
    container: z.unknown().optional(),
    context_management: z.unknown().optional(),
  }),
);
export type ApiMessage = Infer<typeof ApiMessage>;

const deltas = {
  text_delta: lazy(() => z.object({ type: z.literal('text_delta'), text: z.string() })),
  input_json_delta: lazy(() => z.object({ type: z.literal('input_json_delta'), partial_json: z.string() })),
  thinking_delta: lazy(() => z.object({ type: z.literal('thinking_delta'), thinking: z.string() })),
  signature_delta: lazy(() => z.object({ type: z.literal('signature_delta'), signature: z.string() })),
  citations_delta: lazy(() => z.object({ type: z.literal('citations_delta'), citation: z.unknown() })),
} as const;

export type ContentDelta = MemberOf<typeof deltas>;
export const ContentDelta: Lazy<ContentDelta> = lazy(() => openUnion('type', deltas));

export const MessageStartEvent = lazy(() => z.object({ type: z.literal('message_start'), message: ApiMessage() }));
export type MessageStartEvent = Infer<typeof MessageStartEvent>;

export const ContentBlockStartEvent = lazy(() =>
  z.object({ type: z.literal('content_block_start'), index: z.number(), content_block: ContentBlock() }),
);
export type ContentBlockStartEvent = Infer<typeof ContentBlockStartEvent>;

export const ContentBlockDeltaEvent = lazy(() =>
  z.object({ type: z.literal('content_block_delta'), index: z.number(), delta: ContentDelta() }),
);
export type ContentBlockDeltaEvent = Infer<typeof ContentBlockDeltaEvent>;

export const ContentBlockStopEvent = lazy(() => z.object({ type: z.literal('content_block_stop'), index: z.number() }));
export type ContentBlockStopEvent = Infer<typeof ContentBlockStopEvent>;

export const MessageDeltaEvent = lazy(() =>
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({
      stop_reason: StopReason().nullable(),
      stop_sequence: z.string().nullable().optional(),
    }),
    usage: DeltaUsage(),
    context_management: z.unknown().optional(),
  }),
);
export type MessageDeltaEvent = Infer<typeof MessageDeltaEvent>;

export const MessageStopEvent = lazy(() => z.object({ type: z.literal('message_stop') }));
export type MessageStopEvent = Infer<typeof MessageStopEvent>;

export const PingEvent = lazy(() => z.object({ type: z.literal('ping') }));
export type PingEvent = Infer<typeof PingEvent>;

export const ErrorEvent = lazy(() =>
  z.object({ type: z.literal('error'), error: z.object({ type: z.string(), message: z.string() }) }),
);
export type ErrorEvent = Infer<typeof ErrorEvent>;

const events = {
  message_start: MessageStartEvent,
  content_block_start: ContentBlockStartEvent,
  content_block_delta: ContentBlockDeltaEvent,
  content_block_stop: ContentBlockStopEvent,
  message_delta: MessageDeltaEvent,
  message_stop: MessageStopEvent,
  ping: PingEvent,
  error: ErrorEvent,
} as const;

export type ModelEvent = MemberOf<typeof events>;
export const ModelEvent: Lazy<ModelEvent> = lazy(() => openUnion('type', events));

export const ToolParam = lazy(() =>
  z.object({
    name: z.string(),
    description: z.string().optional(),
    input_schema: jsonObject(),
    cache_control: CacheControl().nullable().optional(),
  }),
);
export type ToolParam = Infer<typeof ToolParam>;

/** A tool that the API runs itself; `type` names its kind and version. */
export const ServerToolParam = lazy(() => z.looseObject({ type: z.string(), name: z.string() }));
export type ServerToolParam = Infer<typeof ServerToolParam>;

export const ThinkingParam = lazy(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('enabled'), budget_tokens: z.number() }),
    z.object({ type: z.literal('adaptive'), display: z.string().optional() }),
    z.object({ type: z.literal('disabled') }),
  ]),
);
export type ThinkingParam = Infer<typeof ThinkingParam>;

export const ToolChoice = lazy(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.enum(['auto', 'any']), disable_parallel_tool_use: z.boolean().optional() }),
    z.object({ type: z.literal('tool'), name: z.string(), disable_parallel_tool_use: z.boolean().optional() }),
    z.object({ type: z.literal('none') }),
  ]),
);
export type ToolChoice = Infer<typeof ToolChoice>;

export const MessagesBody = lazy(() =>
  z
    .object({
      model: z.string(),
      max_tokens: z.number(),
      system: z.array(TextBlock()).optional(),
      messages: z.array(MessageParam()),
      tools: z.array(z.union([ToolParam(), ServerToolParam()])).optional(),
      tool_choice: ToolChoice().optional(),
      thinking: ThinkingParam().optional(),
      metadata: z.object({ user_id: z.string().nullable().optional() }).optional(),
      output_config: jsonObject().optional(),
      context_management: jsonObject().optional(),
      stop_sequences: z.array(z.string()).optional(),
      temperature: z.number().optional(),
      stream: z.literal(true),
    })
    .describe('The JSON body of `POST /v1/messages`.'),
);
export type MessagesBody = Infer<typeof MessagesBody>;

/** One model call: the body, and the betas that travel in a header. */
export interface ModelRequest {
  body: MessagesBody;
  betas: readonly string[];
}
