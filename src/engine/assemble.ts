import type { ApiMessage, ContentBlock, ModelEvent, Usage } from '../protocol/index.js';
import { mergeMessageDelta } from './model/usage-sum.js';

interface OpenBlock {
  block: ContentBlock;
  text: string;
  json: string;
  signature: string;
}

/** A content block that is whole. */
export interface FinishedBlock {
  block: ContentBlock;
  /** What arrived of a tool input that was not JSON. */
  invalidInput?: string;
}

/** An answer as it grows. */
export interface Answer {
  message?: ApiMessage;
  usage?: Usage;
  stopReason: string | null;
  open: Map<number, OpenBlock>;
  finished: number;
  stopped: boolean;
}

export const startAnswer = (): Answer => ({ stopReason: null, open: new Map(), finished: 0, stopped: false });

/** Takes one event into the answer; gives the block that it finished, if it did. */
export function takeEvent(answer: Answer, event: ModelEvent): FinishedBlock | undefined {
  switch (event.type) {
    case 'message_start':
      answer.message = event.message;
      answer.usage = event.message.usage;
      return undefined;
    case 'content_block_start':
      answer.open.set(event.index, { block: event.content_block, text: '', json: '', signature: '' });
      return undefined;
    case 'content_block_delta': {
      const open = answer.open.get(event.index);
      if (open === undefined) return undefined;
      const { delta } = event;
      if (delta.type === 'text_delta') open.text += delta.text;
      else if (delta.type === 'thinking_delta') open.text += delta.thinking;
      else if (delta.type === 'input_json_delta') open.json += delta.partial_json;
      else if (delta.type === 'signature_delta') open.signature += delta.signature;
      else if (delta.type === 'citations_delta') addCitation(open, delta.citation);
      return undefined;
    }
    case 'content_block_stop': {
      const open = answer.open.get(event.index);
      if (open === undefined) return undefined;
      answer.open.delete(event.index);
      answer.finished += 1;
      return finishBlock(open);
    }
    case 'message_delta':
      answer.stopReason = event.delta.stop_reason ?? answer.stopReason;
      if (answer.usage) answer.usage = mergeMessageDelta(answer.usage, event.usage);
      return undefined;
    case 'message_stop':
      answer.stopped = true;
      return undefined;
    default:
      return undefined;
  }
}

/** The text that had arrived when an answer was cut off. Thinking and tool inputs are of no use in part. */
export function partialText(answer: Answer): string {
  let text = '';
  for (const open of answer.open.values()) if (open.block.type === 'text') text += open.block.text + open.text;
  return text;
}

function finishBlock({ block, text, json, signature }: OpenBlock): FinishedBlock {
  if (block.type === 'text') return { block: { ...block, text: block.text + text } };
  if (block.type === 'thinking') {
    return { block: { ...block, thinking: block.thinking + text, signature: (block.signature ?? '') + signature } };
  }
  if (!('input' in block) || json === '') return { block };
  const input = parseObject(json);
  return input === undefined ? { block: { ...block, input: {} }, invalidInput: json } : { block: { ...block, input } };
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function addCitation(open: OpenBlock, citation: unknown): void {
  if (open.block.type === 'text')
    open.block = { ...open.block, citations: [...(open.block.citations ?? []), citation] };
}
