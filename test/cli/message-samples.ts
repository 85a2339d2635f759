/** Messages as a session sends them, with only what a test needs to say. */
import type { Message, ResultMessage } from '../../src/protocol/index.js';

const ids = { session_id: 's', uuid: 'u' };

export const delta = (text: string, parent: string | null = null): Message => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  parent_tool_use_id: parent,
  ...ids,
});

export const blockStart = (): Message => ({
  type: 'stream_event',
  event: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  parent_tool_use_id: null,
  ...ids,
});

type Block = Extract<Message, { type: 'assistant' }>['message']['content'][number];

export const assistant = (block: Block, extra: { parent?: string; error?: string } = {}): Message => ({
  type: 'assistant',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'test',
    content: [block],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 0, output_tokens: 0 },
  },
  parent_tool_use_id: extra.parent ?? null,
  ...(extra.error === undefined ? {} : { error: extra.error }),
  ...ids,
});

export const text = (words: string): Message => assistant({ type: 'text', text: words });

export const call = (name: string, input: Record<string, unknown>, id = 't1'): Message =>
  assistant({ type: 'tool_use', id, name, input });

export const toolResult = (
  content: string,
  extra: { isError?: boolean; id?: string; parent?: string } = {},
): Message => ({
  type: 'user',
  message: {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: extra.id ?? 't1',
        content,
        ...(extra.isError ? { is_error: true } : {}),
      },
    ],
  },
  parent_tool_use_id: extra.parent ?? null,
  ...ids,
});

const common = {
  type: 'result' as const,
  duration_ms: 1234,
  duration_api_ms: 1000,
  num_turns: 3,
  stop_reason: 'end_turn',
  total_cost_usd: 0.0041,
  usage: { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  modelUsage: {},
  permission_denials: [],
  ...ids,
};

export const success = (result = 'done', extra: Partial<ResultMessage> = {}): ResultMessage =>
  ({ ...common, subtype: 'success', is_error: false, result, ...extra }) as ResultMessage;

export const failure = (errors: string[], extra: Partial<ResultMessage> = {}): ResultMessage =>
  ({ ...common, subtype: 'error_during_execution', is_error: true, errors, ...extra }) as ResultMessage;

export const system = (subtype: string, fields: Record<string, unknown>): Message =>
  ({ type: 'system', subtype, ...fields, ...ids }) as unknown as Message;
