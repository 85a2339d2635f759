/** What happened on a stage, without what differs from run to run: ids, times, folders, ports. */
import { HeddleError } from '../../src/protocol/plain.js';
import { transcript } from '../../src/testing/index.js';
import { DEFAULT_MASKS, type Mask, maskText } from '../../src/engine/index.js';
import type { Stage } from './stage.js';

export interface Recorded {
  /** One line per message, a blank line between queries, then the notes, each behind a star. */
  outline: string;
  /** Every field of every message. */
  messages: unknown;
  /** What the model was sent. */
  requests: unknown;
}

type Recordable = Pick<Stage, 'root' | 'api' | 'runs' | 'notes'>;

export function record({ root, api, runs, notes }: Recordable): Recorded {
  const mask: Mask[] = [
    [root, '<root>'],
    [root.replace(/[^a-zA-Z0-9]/g, '-'), '<slug>'],
    [new URL(api.url).host, '<api>'],
  ];
  const texts = runs.map((messages) => (messages.length === 0 ? '(nothing)' : transcript(messages, { mask })));
  const noted = maskText(notes.map((note) => `* ${note}`).join('\n'), [...mask, ...DEFAULT_MASKS]);
  return {
    outline: [...texts, ...(noted === '' ? [] : [noted])].join('\n\n'),
    messages: withoutChance(runs, mask),
    requests: withoutChance(
      api.requests.map(({ body }) => body),
      mask,
    ),
  };
}

/** Times are hidden, whether there are any is not. */
const TIME = /(?:^|_)(?:ms|timestamp|seconds)$/;

function withoutChance(value: unknown, mask: readonly Mask[]): unknown {
  const masks = [...mask, ...DEFAULT_MASKS];
  const text = JSON.stringify(value, (key, field: unknown) => {
    if (TIME.test(key) && field !== null) return '<time>';
    return typeof field === 'string' ? maskText(field, masks) : field;
  });
  return JSON.parse(text);
}

export function describeThrown(thrown: unknown): string {
  if (thrown instanceof HeddleError) return `${thrown.code}: ${thrown.message}`;
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
}
