/** Deltas of one content block, which may be joined when a reader is slow. Everything else is left as it is. */

/** The field that holds the text of each kind of delta that can be joined. */
const TEXT_FIELD = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' } as const;
type DeltaKind = keyof typeof TEXT_FIELD;

export interface Delta {
  type: 'stream_event';
  session_id?: unknown;
  parent_tool_use_id?: unknown;
  event: { type: 'content_block_delta'; index: number; delta: { type: DeltaKind } & Record<string, unknown> };
}

const ENVELOPE_BYTES = 200;
const DELTA_BYTES = 280;

export function isDelta<T extends object>(frame: T): frame is T & Delta {
  const { type, event } = frame as Partial<Delta>;
  if (type !== 'stream_event' || event?.type !== 'content_block_delta') return false;
  const { delta } = event;
  return (
    typeof delta === 'object' && delta !== null && Object.hasOwn(TEXT_FIELD, delta.type) && textOf(delta) !== undefined
  );
}

/**
 * Both as a new frame under the envelope of the first, or undefined when they do not belong together. Deltas that
 * say more than their text are left alone.
 */
export function mergeDeltas<T extends Delta>(first: T, second: Delta): T | undefined {
  const [left, right] = [first.event, second.event];
  if (left.index !== right.index || left.delta.type !== right.delta.type) return undefined;
  if (first.parent_tool_use_id !== second.parent_tool_use_id || first.session_id !== second.session_id)
    return undefined;
  if (Object.keys(left.delta).length !== 2 || Object.keys(right.delta).length !== 2) return undefined;
  const text = `${textOf(left.delta)}${textOf(right.delta)}`;
  return { ...first, event: { ...left, delta: { ...left.delta, [TEXT_FIELD[left.delta.type]]: text } } };
}

/** About how many bytes a frame takes on a wire. Never serializes: deltas cost one addition. */
export function estimateSize(frame: object): number {
  // Most of what is queued in bulk is text: it is measured without asking first what else it might be.
  const text = (frame as Partial<Delta>).event?.delta?.text;
  if (typeof text === 'string') return DELTA_BYTES + text.length;
  if (isDelta(frame)) return DELTA_BYTES + (textOf(frame.event.delta)?.length ?? 0);
  return ENVELOPE_BYTES + sizeOf(frame);
}

function textOf(delta: Delta['event']['delta']): string | undefined {
  const text = delta[TEXT_FIELD[delta.type]];
  return typeof text === 'string' ? text : undefined;
}

/** More values than any frame has: what goes on longer is counted no further, so a cycle ends too. */
const MAX_VALUES = 100_000;

function sizeOf(root: object): number {
  const left: unknown[] = [root];
  let size = 0;
  for (let seen = 0; left.length > 0 && seen < MAX_VALUES; seen += 1) {
    const value = left.pop();
    if (typeof value === 'string') {
      size += value.length + 3;
    } else if (typeof value !== 'object' || value === null) {
      size += 6;
    } else {
      size += 2;
      for (const [key, item] of Object.entries(value)) {
        size += key.length + 3;
        left.push(item);
      }
    }
  }
  return size;
}
