/** One step of a script: what the model says next. The scripted model and the fake API play the same steps. */
import type { ContentBlock, ModelEvent, ModelRequest, Usage } from '../../protocol/index.js';
import type { HeddleError } from '../../protocol/plain.js';
import { answerEvents, cutText } from './answer-events.js';

export interface ScriptToolUse {
  name: string;
  input: Record<string, unknown>;
  /** `toolu_1`, `toolu_2`, ... when absent. */
  id?: string;
}

export interface ScriptAnswer {
  thinking?: string;
  text?: string;
  toolUse?: ScriptToolUse | readonly ScriptToolUse[];
  /** Further blocks, as they are. */
  blocks?: readonly ContentBlock[];
  /** `tool_use` when there are calls, else `end_turn`. */
  stopReason?: string;
  usage?: Partial<Usage>;
  /** `msg_1`, `msg_2`, ... when absent. */
  id?: string;
  /** The model that says it answered; the one that was asked when absent. */
  model?: string;
  /** In place of everything above: these events, as they are. */
  events?: readonly ModelEvent[];
  /** Into how many deltas each text is cut. */
  deltas?: number;
  /** In how many batches the events come; each by itself when absent. */
  batches?: number;
  /** The stream waits for this before its first event, or where `pauseAfterDeltas` says. */
  waitFor?: Promise<unknown>;
  pauseAfterDeltas?: number;
  /** The call fails: at once, or after the last delta of what was to be said. */
  error?: HeddleError;
}

/** A plain string is an answer of that text. A function sees the request it answers. */
export type ScriptStep<S = ScriptAnswer> = string | S | ((request: ModelRequest, index: number) => StepValue<S>);
type StepValue<S> = string | S | Promise<string | S>;

export async function readStep<S>(
  step: ScriptStep<S>,
  request: ModelRequest,
  index: number,
): Promise<S | { text: string }> {
  const value = typeof step === 'function' ? await (step as StepFunction<S>)(request, index) : step;
  return typeof value === 'string' ? { text: value } : value;
}

type StepFunction<S> = (request: ModelRequest, index: number) => StepValue<S>;

export interface StepIds {
  messageId(): string;
  toolUseId(): string;
}

/** Ids that count up: the same script gives the same ids. */
export function createStepIds(): StepIds {
  let messages = 0;
  let toolUses = 0;
  return { messageId: () => `msg_${++messages}`, toolUseId: () => `toolu_${++toolUses}` };
}

const DEFAULT_USAGE: Usage = {
  input_tokens: 100,
  output_tokens: 20,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

export interface StepEventOptions {
  ids: StepIds;
  /** The model that was asked. */
  model: string;
  /** Characters per delta, where the step does not say otherwise. */
  deltaSize?: number;
}

export function stepEvents(step: ScriptAnswer, options: StepEventOptions): ModelEvent[] {
  const { ids, model, deltaSize = Number.POSITIVE_INFINITY } = options;
  if (step.events !== undefined) return [...step.events];
  const content = stepContent(step, ids);
  const hasCalls = content.some((block) => block.type === 'tool_use');
  const { deltas } = step;
  return answerEvents({
    id: step.id ?? ids.messageId(),
    model: step.model ?? model,
    content,
    stopReason: step.stopReason ?? (hasCalls ? 'tool_use' : 'end_turn'),
    usage: { ...DEFAULT_USAGE, ...step.usage },
    split: (text) => cutText(text, deltas === undefined ? deltaSize : Math.ceil(text.length / deltas)),
  });
}

function stepContent({ thinking, text, toolUse, blocks }: ScriptAnswer, ids: StepIds): ContentBlock[] {
  const content: ContentBlock[] = [];
  if (thinking !== undefined) content.push({ type: 'thinking', thinking, signature: 'c2NyaXB0' });
  if (text !== undefined) content.push({ type: 'text', text });
  for (const call of [toolUse ?? []].flat()) {
    content.push({ type: 'tool_use', id: call.id ?? ids.toolUseId(), name: call.name, input: call.input });
  }
  return [...content, ...(blocks ?? [])];
}

/** Index of the event before which a stream pauses: after so many deltas, or before everything. */
export function pauseIndex(events: readonly ModelEvent[], { waitFor, pauseAfterDeltas = 0 }: ScriptAnswer): number {
  if (waitFor === undefined) return -1;
  if (pauseAfterDeltas <= 0) return 0;
  let deltas = 0;
  const index = events.findIndex((event) => event.type === 'content_block_delta' && ++deltas === pauseAfterDeltas);
  return index < 0 ? events.length : index + 1;
}

/** The events that come before the failure of a step: none, or all up to the last delta. */
export function eventsBeforeError(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const last = events.findLastIndex((event) => event.type === 'content_block_delta');
  return events.slice(0, last + 1);
}
