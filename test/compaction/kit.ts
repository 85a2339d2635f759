import { type CompactCommandEnd, runCompactCommand } from '../../src/engine/compaction/command.js';
import type { Entry } from '../../src/engine/sessions/entry.js';
import { toChain } from '../../src/engine/sessions/chain.js';
import { startTally } from '../../src/engine/tally.js';
import type { Message, ModelRequest } from '../../src/protocol/index.js';
import type { Run } from '../engine/kit.js';

let ids = 0;
const chain = () => ({
  uuid: `u${++ids}`,
  parentUuid: null,
  sessionId: 's',
  timestamp: '',
  cwd: '/',
  version: '1',
  userType: 'external' as const,
  isSidechain: false,
});
export const said = (content: string | object[], extra: object = {}): Entry =>
  ({ ...chain(), writer: 'heddle', type: 'user', message: { role: 'user', content }, ...extra }) as Entry;
export const answered = (id: string, content: object[], extra: object = {}): Entry => {
  const usage = { input_tokens: 0, output_tokens: 0 };
  const message = { id, type: 'message', role: 'assistant', model: 'm', content, stop_reason: null, usage };
  return { ...chain(), writer: 'heddle', type: 'assistant', message, ...extra } as Entry;
};
export const foreign = (id: string, content: object[], usage: object | undefined): Entry => {
  const message = { id, type: 'message', role: 'assistant', model: 'm', content, usage };
  return { ...chain(), type: 'assistant', message } as unknown as Entry;
};
export const life = (fields: object): Entry => ({ type: 'heddle', sessionId: 's', timestamp: '', ...fields }) as Entry;
export const started = life({ kind: 'turn', state: 'started' });
export const stepped = (messageId: string, input = 0, stopReason = 'tool_use'): Entry =>
  life({ kind: 'step', messageId, stopReason, usage: { input_tokens: input, output_tokens: 0 } });
export const boundary = (): Entry => ({ ...chain(), type: 'system', subtype: 'compact_boundary' }) as Entry;
export const summed = (text: string): Entry => said([{ type: 'text', text }], { isCompactSummary: true });
export const use = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: {} });
export const result = (id: string, content: unknown = id) => ({ type: 'tool_result', tool_use_id: id, content });
export const text = (value: string) => ({ type: 'text', text: value });

/** What a session does when it is sent `/compact`. */
export const compactBy = (
  run: Run,
  instructions = '',
  signal = new AbortController().signal,
): Promise<CompactCommandEnd> =>
  runCompactCommand(run.session.scope, { instructions, signal, tally: startTally(run.session.scope) });

export const bodyOf = (request: ModelRequest | undefined): string => JSON.stringify(request?.body);
export const sentIn = (request: ModelRequest | undefined): string => JSON.stringify(request?.body.messages);
export const asksForSummary = (request: ModelRequest | undefined): boolean =>
  sentIn(request).includes('detailed summary');

export const kinds = (messages: readonly Message[]): string[] =>
  messages.map((message) => ('subtype' in message ? `${message.type}/${message.subtype}` : message.type));

export const contents = (messages: readonly Message[], subtype: string): string =>
  JSON.stringify(messages.filter((message) => 'subtype' in message && message.subtype === subtype));

export async function linesOf(run: Run): Promise<string[]> {
  return (await run.store.load(run.session.id))?.lines ?? [];
}

export const chainOf = (lines: readonly string[]): Entry[] => toChain(lines.map((line) => JSON.parse(line) as Entry));

/** Answers the hooks of a session and notes what they were told. */
export async function hookInto(
  run: Run,
  answers: Record<string, (input: Record<string, unknown>) => unknown>,
): Promise<Record<string, unknown>[]> {
  const told: Record<string, unknown>[] = [];
  await run.session.scope.hooks.attach({
    callbacks: Object.fromEntries(Object.keys(answers).map((event) => [event, [{ hookCallbackIds: [event] }]])),
    askCallback: async (id, input) => {
      told.push(input);
      return answers[id]?.(input);
    },
  });
  return told;
}

/** Whether every call has its result in the next message, and no result is without its call. */
export function pairsAreWhole(messages: ModelRequest['body']['messages']): boolean {
  let open = new Set<string>();
  for (const { role, content } of messages) {
    const blocks = typeof content === 'string' ? [] : content;
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (role === 'user' && (results.length !== open.size || results.some((id) => !open.has(id)))) return false;
    if (role === 'assistant' && open.size > 0) return false;
    open = new Set(blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
  }
  return open.size === 0;
}
