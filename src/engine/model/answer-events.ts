/** A whole answer as the events in which the API would stream it. Shared by every model that makes up its answers. */
import type { ContentBlock, ModelEvent, ToolUseBlock, Usage } from '../../protocol/index.js';

export interface Answer {
  id: string;
  model: string;
  content: readonly ContentBlock[];
  stopReason: string;
  usage: Usage;
  /** How a text is cut into deltas; one delta when absent. */
  split?: (text: string) => readonly string[];
}

export const answerEvents = (answer: Answer): ModelEvent[] => [
  startEvent(answer),
  ...answer.content.flatMap((block, index) => blockEvents(block, index, answer.split ?? ((text) => [text]))),
  {
    type: 'message_delta',
    delta: { stop_reason: answer.stopReason, stop_sequence: null },
    usage: { output_tokens: answer.usage.output_tokens },
  },
  { type: 'message_stop' },
];

function startEvent({ id, model, usage }: Answer): ModelEvent {
  return {
    type: 'message_start',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: Math.min(1, usage.output_tokens) },
    },
  };
}

function blockEvents(block: ContentBlock, index: number, split: (text: string) => readonly string[]): ModelEvent[] {
  const start = (content_block: ContentBlock): ModelEvent => ({ type: 'content_block_start', index, content_block });
  const stop: ModelEvent = { type: 'content_block_stop', index };
  if (block.type === 'text') {
    const deltas = split(block.text).map((text): ModelEvent => {
      return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
    });
    return [start({ ...block, text: '' }), ...deltas, stop];
  }
  if (block.type === 'thinking') {
    const { signature = '' } = block;
    const deltas = split(block.thinking).map((thinking): ModelEvent => {
      return { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } };
    });
    const signed: ModelEvent = { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } };
    return [start({ ...block, thinking: '', signature: '' }), ...deltas, signed, stop];
  }
  if (block.type === 'tool_use') {
    return [start({ ...block, input: {} }), ...inputDeltas(block, index, split), stop];
  }
  return [start(block), stop];
}

const inputDeltas = (block: ToolUseBlock, index: number, split: (text: string) => readonly string[]): ModelEvent[] =>
  split(JSON.stringify(block.input)).map((partial_json) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  }));

/** Cuts a text into pieces of about `size`, never inside a character. */
export function cutText(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + Math.max(1, size), text.length);
    if (isHighSurrogate(text.charCodeAt(end - 1)) && end < text.length) end += 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces.length === 0 ? [''] : pieces;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
